import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useRead } from '../../api/procedures.ts'
import { missing, toFault } from '../../api/fault.ts'
import { call, hasEmail, isWallet, loadSession, type SignedIn } from '../../api/session.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Id } from '../../parts/values.tsx'
import { Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Card, Facts } from '../../parts/layout.tsx'
import { toast } from '../../shell/toast.ts'
import { useEmail } from './email-now.ts'
import { EmailForm } from './EmailForm.tsx'

export function Profile({ user }: { user: SignedIn }) {
  const me = useRead('identity.me', undefined)
  const form = useForm({ defaultValues: { name: user.name } })
  return (
    <Card title="Profile">
      <div className="space-y-5">
        <Facts
          facts={[
            isWallet(user) ? ['Wallet', <Id key="wallet" value={user.name} whole />] : null,
            ['E-mail', <Email key="email" user={user} />],
            ['User ID', me.data === undefined ? '…' : <Id key="id" value={me.data.userId} whole />],
          ]}
        />
        {!isWallet(user) && (
          <Form
            form={form}
            act="Save name"
            variant="plain"
            submit={async (values) => {
              if (values.name.trim() === '') throw missing('name')
              await saveEdited(form, values, {
                toBody: ({ name }) => ({ name: name.trim() }),
                save: async (body) => {
                  await call('POST', '/auth/update-user', body)
                  await loadSession()
                  toast({ tone: 'good', text: 'Name saved.' })
                },
              })
            }}
          >
            <TextField form={form} name="name" label="Name" hint="Shown beside what you publish." autoComplete="name" />
          </Form>
        )}
      </div>
    </Card>
  )
}

function Email({ user }: { user: SignedIn }) {
  const { data } = useEmail()
  const [asked, setAsked] = useState(false)
  const [changing, setChanging] = useState(false)
  const has = hasEmail(user)
  const confirm = async (): Promise<void> => {
    try {
      await call('POST', '/auth/send-verification-email', { email: user.email })
      setAsked(true)
    } catch (error) {
      toast({ tone: 'bad', text: toFault(error).message })
    }
  }
  return (
    <span className="flex flex-wrap items-center gap-2">
      {has ? <span className="min-w-0 break-all">{user.email}</span> : <span className="text-quiet">none</span>}
      {has && (user.emailVerified ? <Badge tone="good">confirmed</Badge> : <Badge tone="warn">not confirmed</Badge>)}
      {has &&
        !user.emailVerified &&
        (asked ? (
          <span className="text-quiet">E-mail sent.</span>
        ) : (
          <Button small onClick={() => void confirm()}>
            Resend e-mail
          </Button>
        ))}
      {data?.changeable === true && (
        <Button small onClick={() => setChanging(true)}>
          {has ? 'Change e-mail' : 'Add e-mail address'}
        </Button>
      )}
      {data !== undefined && (
        <EmailForm
          hasPassword={data.hasPassword}
          title={has ? 'Change your e-mail address' : 'Add an e-mail address'}
          open={changing}
          close={() => setChanging(false)}
        />
      )}
    </span>
  )
}
