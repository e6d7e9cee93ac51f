import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { inPlace, missing, toFault } from '../../api/fault.ts'
import { call, type SignedIn } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField, NewPassword } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { toast } from '../../shell/toast.ts'
import { useEmail } from './email-now.ts'

export function Password({ user }: { user: SignedIn }) {
  const { data } = useEmail()
  return <Card title="Password">{data?.hasPassword === false ? <First email={user.email} /> : <Another />}</Card>
}

/** For an account that was created with a wallet: it sets its first password by e-mail. */
function First({ email }: { email: string }) {
  const [asked, setAsked] = useState(false)
  const ask = async (): Promise<void> => {
    try {
      await call('POST', '/auth/request-password-reset', { email })
      setAsked(true)
    } catch (error) {
      toast({ tone: 'bad', text: toFault(error).message })
    }
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="text-quiet">You have no password: your wallet signs you in.</p>
      {asked ? <p>We sent an e-mail to {email}.</p> : <Button onClick={() => void ask()}>Send password link</Button>}
    </div>
  )
}

function Another() {
  const form = useForm({ defaultValues: { currentPassword: '', newPassword: '' } })
  return (
    <Form
      form={form}
      act="Change password"
      variant="plain"
      submit={async (values) => {
        if (values.currentPassword === '') throw missing('currentPassword')
        if (values.newPassword === '') throw missing('newPassword')
        await call('POST', '/auth/change-password', { ...values, revokeOtherSessions: true }).catch(
          (error: unknown) => {
            throw inPlace(error, FIELD_OF)
          },
        )
        form.reset()
        toast({ tone: 'good', text: 'Password changed. Other sessions are signed out.' })
      }}
    >
      <TextField
        form={form}
        name="currentPassword"
        label="Current password"
        type="password"
        autoComplete="current-password"
      />
      <NewPassword form={form} />
    </Form>
  )
}

const FIELD_OF = {
  invalid_password: 'currentPassword',
  password_too_short: 'newPassword',
  password_too_long: 'newPassword',
}
