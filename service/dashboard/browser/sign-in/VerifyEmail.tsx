import { useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useSearchParams } from 'wouter'
import { Fault, inPlace, missing, toFault } from '../api/fault.ts'
import { call, loadSession } from '../api/session.ts'
import { LinkButton, TextLink } from '../parts/Button.tsx'
import { Form, TextField } from '../parts/form.tsx'
import { Notice } from '../parts/states.tsx'
import { Frame } from './SignIn.tsx'

/** The page of the confirmation mail's link. It changes nothing before its button is pressed: mail scanners open links too. */
export function VerifyEmail() {
  const [params] = useSearchParams()
  const token = params.get('token') ?? ''
  const form = useForm({ defaultValues: { password: '' } })
  const [step, setStep] = useState<'button' | 'password' | 'done'>('button')
  useEffect(() => {
    document.title = 'Confirm your e-mail address · Coinslot'
  }, [])
  const confirm = async ({ password }: { password: string }): Promise<void> => {
    if (step === 'password' && password === '') throw missing('password')
    try {
      await call('POST', '/auth/verify-email', step === 'button' ? { token } : { token, password })
    } catch (error) {
      const fault = toFault(error)
      if (fault.code === 'password_required') {
        setStep('password')
        return
      }
      if (fault.code === 'invalid_token') throw new Fault(STALE, { status: 400 })
      throw inPlace(fault, { password_too_short: 'password', password_too_long: 'password' })
    }
    await loadSession()
    setStep('done')
  }
  return (
    <Frame title="Confirm your e-mail address" note="Then you can sign in to Coinslot with it.">
      {step === 'done' ? (
        <div className="space-y-4">
          <Notice tone="good">Your e-mail address is confirmed.</Notice>
          <LinkButton to="/" variant="main">
            Go to overview
          </LinkButton>
        </div>
      ) : (
        <>
          <Form form={form} act="Confirm address" full submit={confirm}>
            {step === 'password' && (
              <TextField
                form={form}
                name="password"
                label="Password"
                type="password"
                autoComplete="new-password"
                hint="You did not sign up in this browser. Enter the password that you chose at sign-up, or choose a new one, which replaces it. At least 10 characters."
                autoFocus
              />
            )}
          </Form>
          <p className="mt-5 text-center">
            <TextLink to="/sign-in">Back to sign-in</TextLink>
          </p>
        </>
      )}
    </Frame>
  )
}

const STALE =
  'This link has expired or was already used. Sign in: if your address is not confirmed yet, that sends a new link, or the settings do.'
