import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { inPlace, missing, toFault } from '../../api/fault.ts'
import { call } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Notice } from '../../parts/states.tsx'
import type { OwnerProof as Proof } from '../../sign-in/ethereum.ts'
import { OwnerProof } from './OwnerProof.tsx'

/** Sends a link to a new address; nothing changes before the link is opened. */
export function EmailForm({
  title,
  hasPassword,
  open,
  close,
}: {
  title: string
  hasPassword: boolean
  open: boolean
  close: () => void
}) {
  const [sent, setSent] = useState<string | null>(null)
  // The new address of an account without a password, while a wallet signs.
  const [wanted, setWanted] = useState<string | null>(null)
  const form = useForm({ defaultValues: { email: '', password: '' } })
  const leave = (): void => {
    close()
    form.reset()
    setSent(null)
    setWanted(null)
  }
  const request = async (email: string, proof: Proof): Promise<void> => {
    await call('POST', '/auth/email/change', { email, ...proof })
    setSent(email)
  }
  return (
    <Modal
      title={title}
      note={sent === null ? 'We send a link to the new address. It takes effect when you open that link.' : undefined}
      open={open}
      close={leave}
    >
      {sent === null && wanted !== null ? (
        <OwnerProof act="Send link" hasWallet give={(proof) => request(wanted, proof)} />
      ) : sent === null ? (
        <Form
          form={form}
          act="Send link"
          cancel={leave}
          submit={async ({ email, password }) => {
            const to = email.trim()
            if (to === '') throw missing('email')
            if (hasPassword && password === '') throw missing('password')
            await request(to, hasPassword ? { password } : {}).catch((error: unknown) => {
              if (toFault(error).code !== 'wallet_proof_required') throw inPlace(error, FIELD_OF)
              setWanted(to)
            })
          }}
        >
          <TextField form={form} name="email" label="New e-mail address" type="email" autoComplete="email" />
          {hasPassword && (
            <TextField
              form={form}
              name="password"
              label="Your password"
              type="password"
              autoComplete="current-password"
            />
          )}
        </Form>
      ) : (
        <div className="space-y-4">
          <Notice tone="good">
            We sent an e-mail to {sent}. Open its link within a day, in a browser where you are signed in. Until then
            nothing changes.
          </Notice>
          <div className="flex justify-end">
            <Button variant="main" onClick={leave}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Modal>
  )
}

const FIELD_OF = { invalid_email: 'email', email_same: 'email', invalid_password: 'password' }
