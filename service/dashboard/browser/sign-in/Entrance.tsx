import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { TextLink } from '../parts/Button.tsx'
import { inPlace, missing } from '../api/fault.ts'
import { loadSession, signIn, signUp } from '../api/session.ts'
import { settings } from '../settings.ts'
import { Form, TextField } from '../parts/form.tsx'
import { Notice } from '../parts/states.tsx'
import { Provider } from './Provider.tsx'
import { Wallets } from './WalletChoice.tsx'

/** The ways to sign in: a password, the operator's provider, or a wallet's signature. */
export function Entrance({
  email = '',
  next,
  entered,
}: {
  email?: string
  /** The page to open afterwards; absent when the requested page is behind this dialog. */
  next?: string
  entered?: (id: string) => void
}) {
  const [mailed, setMailed] = useState<string | null>(null)
  const [isNew, setNew] = useState(false)
  const form = useForm({ defaultValues: { name: '', email: email.endsWith('.invalid') ? '' : email, password: '' } })
  const enter = async (): Promise<void> => {
    const id = await loadSession()
    if (id !== null) entered?.(id)
  }
  if (mailed !== null) {
    return (
      <div className="space-y-4">
        <Notice tone="good">
          We sent an e-mail to {mailed}. Open its link to sign in. If you already have an account, the e-mail says so.
        </Notice>
        <p className="text-center">
          <button
            type="button"
            className="link"
            onClick={() => {
              setMailed(null)
              setNew(false)
            }}
          >
            Back to sign-in
          </button>
        </p>
      </div>
    )
  }
  return (
    <div className="space-y-5">
      <Form
        form={form}
        act={isNew ? 'Create account' : 'Sign in'}
        full
        submit={async (values) => {
          const empty = emptyOf(values, isNew)
          if (empty.length > 0) throw missing(...empty)
          const isIn = await (isNew ? signUp(values) : signIn(values).then(() => true)).catch((error: unknown) => {
            throw inPlace(error, FIELD_OF)
          })
          if (isIn) await enter()
          else setMailed(values.email.trim())
        }}
      >
        {isNew && <TextField form={form} name="name" label="Name" autoComplete="name" />}
        <TextField
          form={form}
          name="email"
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus={email === ''}
        />
        <TextField
          form={form}
          name="password"
          label="Password"
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          hint={isNew ? 'At least 10 characters.' : undefined}
        />
      </Form>
      {!isNew && (
        <p className="-mt-2 text-center">
          <TextLink to="/reset-password">Forgot your password?</TextLink>
        </p>
      )}
      <p className="text-center text-quiet">
        {isNew ? 'Already have an account?' : 'New here?'}{' '}
        <button
          type="button"
          className="link font-medium"
          onClick={() => {
            setNew(!isNew)
            form.clearErrors()
          }}
        >
          {isNew ? 'Sign in' : 'Create an account'}
        </button>
      </p>
      <div className="flex items-center gap-3 text-xs text-quiet">
        <span className="h-px flex-1 bg-line" /> or <span className="h-px flex-1 bg-line" />
      </div>
      {settings.provider !== null && <Provider name={settings.provider} next={next} entered={enter} />}
      <Wallets entered={enter} />
    </div>
  )
}

function emptyOf({ name, email, password }: Values, isNew: boolean): (keyof Values)[] {
  const asked = { ...(isNew ? { name: name.trim() } : {}), email: email.trim(), password }
  return (Object.keys(asked) as (keyof typeof asked)[]).filter((each) => asked[each] === '')
}

interface Values {
  name: string
  email: string
  password: string
}

const FIELD_OF: Readonly<Record<string, keyof Values>> = {
  invalid_email: 'email',
  user_already_exists: 'email',
  user_already_exists_use_another_email: 'email',
  password_too_short: 'password',
  password_too_long: 'password',
  invalid_name: 'name',
}
