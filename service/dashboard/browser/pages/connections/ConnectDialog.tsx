import { useEffect, useState } from 'react'
import { useForm, type UseFormReturn } from 'react-hook-form'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { Choice, Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { toast } from '../../shell/toast.ts'
import { CodePanel, type ShownCode } from './CodePanel.tsx'

export type Connection = Output<'connections.list'>['connections'][number]

type Options = Output<'connections.options'>
type Way = 'person' | 'code' | 'key' | 'client'

interface Draft {
  provider: string
  way: Way | ''
  name: string
  secrets: Record<string, string>
  clientId: string
  clientSecret: string
}

/** By signing in at the provider, where that is set up; otherwise, or too, with a key or an OAuth client. */
export function ConnectDialog({
  provider,
  again,
  scopes,
  close,
}: {
  provider: string
  again: string | null
  /** What the tool needs that the person came from. */
  scopes: readonly string[]
  close: () => void
}) {
  const form = useForm<Draft>({
    defaultValues: { provider, way: '', name: '', secrets: {}, clientId: '', clientSecret: '' },
  })
  const [code, setCode] = useState<ShownCode | null>(null)
  const chosen = form.watch('provider')
  const providers = useRead('tools.providers', undefined)
  const { data: options, error } = useRead('connections.options', { provider: chosen }, { enabled: chosen !== '' })
  const start = useAction('connections.start', { once: true, quiet: true, changes: ['connections.'] })
  const create = useAction('connections.create', { changes: ['connections.'], quiet: true, once: true })
  const known = (providers.data ?? []).filter(({ kind }) => kind !== 'rda')
  const named = options?.name ?? 'a provider'
  const ways = options === undefined ? [] : waysOf(options)
  const wanted = form.watch('way')
  const way = ways.find(([one]) => one === wanted)?.[0] ?? ways[0]?.[0] ?? null
  // The select shows the first way, once the ways are known.
  useEffect(() => {
    if (way !== null) form.setValue('way', way)
  }, [form, way])

  async function begin(byCode: boolean, id = again): Promise<void> {
    const more = id === null ? {} : { connectionId: id }
    const begun = await start.mutateAsync({ provider: chosen, scopes: [...scopes], byCode, ...more })
    if (begun.userCode === null) window.location.assign(begun.authorizationUrl)
    else setCode({ ...begun, userCode: begun.userCode })
  }

  async function submit({ name, secrets, clientId, clientSecret }: Draft): Promise<void> {
    if (way === 'person' || way === 'code') {
      await begin(way === 'code')
      return
    }
    const filled = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== ''))
    const secret =
      way === 'client' ? { client: { id: clientId, secret: clientSecret, scopes: [...scopes] } } : { secrets: filled }
    const more = again === null ? (name === '' ? {} : { name }) : { connectionId: again }
    await create.mutateAsync({ provider: chosen, ...secret, ...more })
    toast({ tone: 'good', text: `${named} is connected.` })
    close()
  }

  if (code !== null) {
    return (
      <Modal title={`Connect ${named}`} open close={close}>
        <CodePanel
          code={code}
          name={named}
          anew={() => {
            setCode(null)
            void begin(true, code.id).catch(() => undefined)
          }}
          done={() => {
            toast({ tone: 'good', text: `${named} is connected.` })
            close()
          }}
        />
      </Modal>
    )
  }
  return (
    <Modal title={`Connect ${named}`} open close={close}>
      <Form form={form} act={way === null ? 'Connect' : ACTS[way](named)} cancel={close} submit={submit}>
        {(provider === '' || error !== null) && (
          <Choice
            form={form}
            name="provider"
            label="Provider"
            options={[['', 'Choose a provider'], ...known.map(({ slug, name }) => [slug, name] as const)]}
          />
        )}
        {error !== null && <p className="text-quiet">{error.message}</p>}
        {ways.length > 1 && <Choice form={form} name="way" label="How" options={ways} />}
        {options !== undefined && way !== null && (
          <WayFields form={form} way={way} options={options} scopes={scopes} isNew={again === null} />
        )}
      </Form>
    </Modal>
  )
}

function WayFields({
  form,
  way,
  options,
  scopes,
  isNew,
}: {
  form: UseFormReturn<Draft>
  way: Way
  options: Options
  scopes: readonly string[]
  /** Otherwise it has a name. */
  isNew: boolean
}) {
  const access = scopes.length > 0 && (
    <p className="text-quiet">
      Asks for: <span className="break-words">{scopes.join(', ')}</span>
    </p>
  )
  if (way === 'person') {
    return (
      <>
        <p className="text-quiet">You sign in at {options.name}, allow the access there, and come back here.</p>
        {access}
      </>
    )
  }
  if (way === 'code') {
    return (
      <>
        <p className="text-quiet">You get a code here, and enter it at {options.name}: on this device or another.</p>
        {access}
      </>
    )
  }
  return (
    <>
      {way === 'client' && (
        <>
          <TextField form={form} name="clientId" label="Client ID" autoComplete="off" />
          <TextField form={form} name="clientSecret" label="Client secret" type="password" autoComplete="off" />
          {access}
        </>
      )}
      {way === 'key' &&
        options.schemes.map((scheme) => (
          <TextField
            key={scheme.name}
            form={form}
            name={`secrets.${scheme.name}`}
            {...labelOf(scheme)}
            type="password"
            autoComplete="off"
            optional={options.schemes.length > 1}
          />
        ))}
      {isNew && <TextField form={form} name="name" label="Name" optional hint="To tell several connections apart." />}
      <p className="text-quiet">
        {way === 'client'
          ? 'The secret is stored encrypted and sent only to the'
          : 'Stored encrypted, and sent only to'}{' '}
        {way === 'client' ? `authorization server of ${options.name}.` : `${options.hosts.join(', ')}.`}
      </p>
    </>
  )
}

function waysOf({ name, signsIn, byCode, takesClient, schemes }: Options): [Way, string][] {
  const ways: [Way, string][] = []
  if (signsIn) ways.push(['person', `Sign in at ${name}`])
  if (byCode) ways.push(['code', 'Sign in with a code, on any device'])
  if (schemes.length > 0) ways.push(['key', 'Enter a key or token'])
  if (takesClient) ways.push(['client', 'Enter an OAuth client of your own'])
  return ways
}

const ACTS: Record<Way, (name: string) => string> = {
  person: (name) => `Sign in at ${name}`,
  code: () => 'Get a code',
  key: () => 'Connect',
  client: () => 'Connect',
}

/** A document's own names of schemes say little to a person. */
function labelOf({ name, place }: Options['schemes'][number]): { label: string; hint?: string } {
  if (place.kind === 'bearer') return { label: `Access token (${name})` }
  if (place.kind === 'basic') return { label: `User and password (${name})`, hint: 'In one line: user:password' }
  return { label: `Key (${place.name})` }
}
