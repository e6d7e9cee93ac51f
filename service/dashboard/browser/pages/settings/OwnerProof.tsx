import { useForm } from 'react-hook-form'
import { inPlace, missing } from '../../api/fault.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { proveWallet, type OwnerProof as Proof } from '../../sign-in/ethereum.ts'
import { WalletChoice } from '../../sign-in/WalletChoice.tsx'
import { useEmail } from './email-now.ts'

/**
 * Shows that the account is the person's: by its password, by a signature of a connected wallet, or by a new sign-in with the
 * identity provider.
 */
export function OwnerProof({
  act,
  variant = 'main',
  hasWallet,
  cancel,
  give,
}: {
  act: string
  variant?: 'main' | 'danger'
  hasWallet: boolean
  cancel?: () => void
  give: (proof: Proof) => Promise<void>
}) {
  const form = useForm({ defaultValues: { password: '' } })
  const { data } = useEmail()
  const hasPassword = data?.hasPassword === true
  if (!hasPassword && hasWallet) {
    return (
      <div className="space-y-4">
        <WalletChoice
          act="Sign with"
          none="This change needs a signature of a connected wallet. Open this page in the browser that has it."
          sign={async (provider) => give({ wallet: await proveWallet(provider) })}
        />
        {data?.byProvider === true ? (
          <Form form={form} act="Continue without the wallet" variant="plain" submit={() => give({})}>
            <p className="text-quiet">
              Without the wallet: sign out, sign in with your identity provider, and continue here within 15 minutes.
            </p>
          </Form>
        ) : (
          data?.confirmed === true && (
            <p className="text-quiet">
              Without the wallet: sign out, and set a password by “Forgot your password?” on the sign-in page.
            </p>
          )
        )}
      </div>
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
