import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { toFault } from '../../api/fault.ts'
import { call } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Notice } from '../../parts/states.tsx'
import { at, missing } from './missing.ts'

/** Asks for the mail to another address; nothing changes before its link was followed. */
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
  const form = useForm({ defaultValues: { email: '', password: '' } })
  const leave = (): void => {
    close()
    form.reset()
    setSent(null)
  }
  return (
    <Modal
      title={title}
      note={sent === null ? 'We send a link to it. It is yours here once you have followed that link.' : undefined}
      open={open}
      close={leave}
    >
      {sent === null ? (
        <Form
          form={form}
          act="Send the link"
          cancel={leave}
          submit={async ({ email, password }) => {
            const to = email.trim()
            if (to === '') throw missing('email')
            if (hasPassword && password === '') throw missing('password')
            await call('POST', '/auth/email/change', { email: to, ...(hasPassword ? { password } : {}) }).catch(
              (error: unknown) => {
                const fault = toFault(error)
                const field = FIELD_OF[fault.code]
                throw field === undefined ? fault : at(field, SENTENCE_OF[fault.code] ?? fault.message)
              },
            )
            setSent(to)
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
            A mail is on its way to {sent}. Follow its link within a day, in a browser where you are signed in. Until
            then nothing changes.
          </Notice>
          <div className="flex justify-end">
            <Button look="main" onClick={leave}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Modal>
  )
}

const FIELD_OF: Readonly<Record<string, 'email' | 'password'>> = {
  invalid_email: 'email',
  email_same: 'email',
  validation_error: 'email',
  invalid_password: 'password',
}

/** Where the library's own sentence names its schema. */
const SENTENCE_OF: Readonly<Record<string, string>> = { validation_error: 'This is not an e-mail address.' }
