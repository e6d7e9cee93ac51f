import { useFieldArray, type FieldValues, type UseFormReturn } from 'react-hook-form'
import { NEW_FIELD, type FieldDraft } from './fields.ts'
import { Check, Choice, TextArea, TextField } from './form.tsx'
import { Rows } from './Rows.tsx'

const TYPES: readonly (readonly [FieldDraft['type'], string])[] = [
  ['text', 'Text'],
  ['textarea', 'Long text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
  ['select', 'Choice'],
  ['url', 'URL'],
  ['email', 'E-mail'],
  ['json', 'JSON'],
  ['file', 'File URL'],
]

/** The fields that a buyer fills in, in the order of their form. `list`: where the form has them. */
export function FieldRows<V extends FieldValues>({
  form: whole,
  list,
  name,
}: {
  form: UseFormReturn<V>
  list: string
  /** What one of them is called. */
  name: string
}) {
  // Only this list is used here, wherever the form has it.
  const form = whole as unknown as UseFormReturn<Record<string, FieldDraft[]>>
  const { fields, append, remove, swap } = useFieldArray({ control: form.control, name: list })
  const types = form.watch(list)?.map(({ type }) => type) ?? []
  return (
    <Rows
      name={name}
      ids={fields.map(({ id }) => id)}
      columns="sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_9rem_auto]"
      first={(at) => (
        <>
          <TextField form={form} name={`${list}.${at}.label`} label="Label" placeholder="Your website" />
          <TextField form={form} name={`${list}.${at}.name`} label="Name" mono placeholder="site" />
          <Choice form={form} name={`${list}.${at}.type`} label="Type" options={TYPES} />
        </>
      )}
      rest={(at) => (
        <>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <TextField form={form} name={`${list}.${at}.placeholder`} label="Placeholder" optional />
            <TextField form={form} name={`${list}.${at}.description`} label="Hint" optional />
          </div>
          {types[at] === 'select' && (
            <div className="mt-3">
              <TextArea form={form} name={`${list}.${at}.options`} label="Choices" rows={3} hint="One per line." />
            </div>
          )}
          <div className="mt-3">
            <Check form={form} name={`${list}.${at}.required`} label="Required" />
          </div>
        </>
      )}
      moveUp={(at) => swap(at, at - 1)}
      remove={remove}
      add={() => append(NEW_FIELD)}
    />
  )
}
