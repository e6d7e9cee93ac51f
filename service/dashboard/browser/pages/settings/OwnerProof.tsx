import { useForm } from 'react-hook-form'
import { inPlace, missing } from '../../api/fault.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { proveWallet, type OwnerProof as Proof } from '../../sign-in/ethereum.ts'
import { WalletChoice } from '../../sign-in/WalletChoice.tsx'

/** Shows that the account is the person's: by its password, or by a signature of a connected wallet. */
export function OwnerProof({
  act,
  variant = 'main',
  hasPassword,
  hasWallet,
  cancel,
  give,
}: {
  act: string
  variant?: 'main' | 'danger'
  hasPassword: boolean
  hasWallet: boolean
  cancel?: () => void
  give: (proof: Proof) => Promise<void>
}) {
  const form = useForm({ defaultValues: { password: '' } })
  if (!hasPassword && hasWallet) {
    return (
      <WalletChoice
        act="Sign with"
        none="This change needs a signature of a connected wallet. Open this page in the browser that has it."
        sign={async (provider) => give({ wallet: await proveWallet(provider) })}
      />
    )
  }
  return (
    <Form
      form={form}
      act={act}
      variant={variant}
      {...(cancel === undefined ? {} : { cancel })}
      submit={async ({ password }) => {
        if (hasPassword && password === '') throw missing('password')
        await give(hasPassword ? { password } : {}).catch((error: unknown) => {
          throw inPlace(error, { invalid_password: 'password' })
        })
      }}
    >
      {hasPassword && (
        <TextField form={form} name="password" label="Your password" type="password" autoComplete="current-password" />
      )}
    </Form>
  )
}
