import { useForm } from 'react-hook-form'
import { useState } from 'react'
import { useAsk } from '../api/ask.ts'
import { call, isFromProvider, isWallet, loadSession, useSession, type SignedIn } from '../api/session.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { Id, When } from '../parts/figures.tsx'
import { Form, TextField } from '../parts/form.tsx'
import { Card, Facts, PageHead } from '../parts/layout.tsx'
import { Fault, toFault } from '../api/fault.ts'
import { settings } from '../settings.ts'
import { chooseTheme, useTheme, type Theme } from '../shell/theme.ts'
import { say } from '../shell/toasts.ts'
import { PayoutAddress } from './settings/PayoutAddress.tsx'
import { Sessions } from './settings/Sessions.tsx'
import { Wallets } from './settings/Wallets.tsx'

export default function Settings() {
  const session = useSession()
  if (session.state !== 'in' && session.state !== 'ended') return null
  const { user } = session
  return (
    <div className="max-w-3xl">
      <PageHead title="Settings" />
      <div className="space-y-6">
        <Profile user={user} />
        {!isWallet(user) && !isFromProvider(user) && <Password />}
        <PayoutAddress />
        <Wallets />
        <Sessions />
        <Appearance />
        <Addresses />
      </div>
    </div>
  )
}

function Profile({ user }: { user: SignedIn }) {
  const me = useAsk('identity.me', undefined)
  const form = useForm({ defaultValues: { name: user.name } })
  const [asked, setAsked] = useState(false)
  const confirm = async (): Promise<void> => {
    try {
      await call('POST', '/auth/send-verification-email', { email: user.email })
      setAsked(true)
    } catch (error) {
      say({ tone: 'bad', text: toFault(error).message })
    }
  }
  return (
    <Card title="Profile">
      <div className="space-y-5">
        <Facts
          facts={[
            isWallet(user)
              ? ['Wallet', <Id key="wallet" value={user.name} whole />]
              : [
                  'E-mail',
                  <span key="email" className="flex flex-wrap items-center gap-2">
                    {user.email}
                    {user.emailVerified ? (
                      <Badge tone="good">confirmed</Badge>
                    ) : (
                      <Badge tone="warn">not confirmed</Badge>
                    )}
                    {!user.emailVerified &&
                      (asked ? (
                        <span className="text-quiet">The mail is on its way.</span>
                      ) : (
                        <Button small onClick={() => void confirm()}>
                          Send the mail again
                        </Button>
                      ))}
                  </span>,
                ],
            ['User id', me.data === undefined ? '…' : <Id key="id" value={me.data.userId} whole />],
          ]}
        />
        {!isWallet(user) && (
          <Form
            form={form}
            act="Save"
            look="plain"
            submit={async ({ name }) => {
              if (name.trim() === '') throw missing('name')
              await call('POST', '/auth/update-user', { name: name.trim() })
              await loadSession()
              say({ tone: 'good', text: 'Saved.' })
            }}
          >
            <TextField form={form} name="name" label="Name" hint="Shown beside what you publish." autoComplete="name" />
          </Form>
        )}
      </div>
    </Card>
  )
}

function Password() {
  const form = useForm({ defaultValues: { currentPassword: '', newPassword: '' } })
  return (
    <Card title="Password">
      <Form
        form={form}
        act="Change password"
        look="plain"
        submit={async (values) => {
          if (values.currentPassword === '') throw missing('currentPassword')
          if (values.newPassword === '') throw missing('newPassword')
          await call('POST', '/auth/change-password', { ...values, revokeOtherSessions: true }).catch(
            (error: unknown) => {
              const fault = toFault(error)
              const field =
                fault.code === 'invalid_password'
                  ? 'currentPassword'
                  : fault.code.startsWith('password_')
                    ? 'newPassword'
                    : null
              throw field === null
                ? fault
                : new Fault(fault.message, { status: 400, fields: { details: { [field]: fault.message } } })
            },
          )
          form.reset()
          say({ tone: 'good', text: 'Changed. You are signed out everywhere else.' })
        }}
      >
        <TextField
          form={form}
          name="currentPassword"
          label="Present password"
          type="password"
          autoComplete="current-password"
        />
        <TextField
          form={form}
          name="newPassword"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters."
        />
      </Form>
    </Card>
  )
}

function missing(field: string): Fault {
  return new Fault('Something is missing.', { status: 400, fields: { details: { [field]: 'is required' } } })
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function Appearance() {
  const theme = useTheme()
  return (
    <Card title="Appearance">
      <fieldset className="flex flex-wrap gap-x-6 gap-y-2">
        <legend className="sr-only">Theme</legend>
        {THEMES.map(([value, name]) => (
          <label key={value} className="flex items-center gap-2">
            <input
              type="radio"
              name="theme"
              className="size-4 accent-accent"
              checked={theme === value}
              onChange={() => {
                chooseTheme(value)
              }}
            />
            {name}
          </label>
        ))}
      </fieldset>
    </Card>
  )
}

function Addresses() {
  return (
    <Card title="This server">
      <Facts
        facts={[
          ['API', <Id key="api" value={settings.apiUrl} whole />],
          ['Tools', <Id key="tools" value={settings.toolsUrl} whole />],
          [
            'Reference',
            <a key="docs" href="/docs" className="link">
              Every endpoint, to try out
            </a>,
          ],
          ['Its clock', <When key="now" at={settings.now} />],
        ]}
      />
    </Card>
  )
}
