import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { TextField } from './form.tsx'

/** Wherever somebody chooses one. */
export function NewPassword<V extends FieldValues & { newPassword: string }>({
  form,
  autoFocus = false,
}: {
  form: UseFormReturn<V>
  autoFocus?: boolean
}) {
  return (
    <TextField
      form={form}
      name={'newPassword' as Path<V>}
      label="New password"
      type="password"
      autoComplete="new-password"
      hint="At least 10 characters."
      autoFocus={autoFocus}
    />
  )
}
