import { useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useSearchParams } from 'wouter'
import { Fault, inPlace, missing, toFault } from '../api/fault.ts'
import { call } from '../api/session.ts'
import { LinkButton, TextLink } from '../parts/Button.tsx'
import { Form, TextField, NewPassword } from '../parts/form.tsx'
import { Notice } from '../parts/states.tsx'
import { settings } from '../settings.ts'
import { Frame } from './SignIn.tsx'

/** Requests the mail, and also is the page of the mail's link, where the person sets a new password. */
export function ResetPassword() {
  const [params] = useSearchParams()
  const token = params.get('token')
  useEffect(() => {
    document.title = 'New password · Coinslot'
  }, [])
  return (
    <Frame
      title={token === null ? 'Forgot your password?' : 'Choose a new password'}
      note={token === null ? 'We send you a link that is valid for one hour.' : 'Other sessions are signed out.'}
    >
      {token === null ? <RequestLink /> : <Choose token={token} />}
      <p className="mt-5 text-center">
        <TextLink to="/sign-in">Back to sign-in</TextLink>
      </p>
    </Frame>
  )
}

function RequestLink() {
  const [params] = useSearchParams()
  const form = useForm({ defaultValues: { email: params.get('email') ?? '' } })
  const [sent, setSent] = useState(false)
  if (sent) {
    return (
      <Notice tone="good">
        If there is an account with this address, we sent it an e-mail.
        {settings.inboxUrl !== null && (
          <>
            {' '}
            Read it in this sandbox’s{' '}
            <a href={settings.inboxUrl} className="link">
              inbox
            </a>
            .
          </>
        )}
      </Notice>
    )
  }
  return (
    <Form
      form={form}
      act="Send link"
      full
      submit={async ({ email }) => {
        if (email.trim() === '') throw missing('email')
        await call('POST', '/auth/request-password-reset', { email: email.trim() })
        setSent(true)
      }}
    >
      <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
    </Form>
  )
}

function Choose({ token }: { token: string }) {
  const form = useForm({ defaultValues: { newPassword: '' } })
  const [done, setDone] = useState(false)
  if (done) {
    return (
      <div className="space-y-4">
        <Notice tone="good">Your new password is set.</Notice>
        <LinkButton to="/sign-in" variant="main">
          Sign in
        </LinkButton>
      </div>
    )
  }
  return (
    <Form
      form={form}
      act="Set password"
      full
      submit={async ({ newPassword }) => {
        if (newPassword === '') throw missing('newPassword')
        try {
          await call('POST', '/auth/reset-password', { token, newPassword })
        } catch (error) {
          const fault = toFault(error)
          if (fault.code === 'invalid_token') {
            throw new Fault('This link has expired or was already used. Request a new one.', {
              status: 400,
            })
          }
          throw inPlace(fault, { password_too_short: 'newPassword', password_too_long: 'newPassword' })
        }
        setDone(true)
      }}
    >
      <NewPassword form={form} autoFocus />
    </Form>
  )
}
