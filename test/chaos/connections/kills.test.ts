import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../../service/config.ts'
import { newId } from '../../../service/kit/ids.ts'
import { compose, type Service } from '../../../service/wiring/compose.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { bundled } from '../../harness/process.ts'
import { until } from '../../harness/until.ts'
import { importRequest } from '../../tools/calls/world.ts'
import { Mortal, type Answer } from '../checkouts/mortal.ts'
import { CLIENT, DOCUMENT, type ProviderJournal, type ProviderSetting } from './model.ts'
import { allow } from './person.ts'

/**
 * Where the process dies, and what its account finds afterwards: the connection works, or it says that the person has to
 * connect again, or it was to be removed and is.
 */
const PLACES = [
  { way: 'return', step: 'connection requested', after: 'works' },
  { way: 'return', step: 'connection returned', after: 'again' },
  { way: 'return', step: 'connection redeemed', after: 'again' },
  { way: 'return', step: 'connection stored', after: 'works' },
  { way: 'code', step: 'connection requested', after: 'works' },
  { way: 'code', step: 'connection polling', after: 'works' },
  { way: 'code', step: 'connection polled', after: 'again' },
  { way: 'code', step: 'connection stored', after: 'works' },
  { way: 'client', step: 'connection issued', after: 'works' },
  { way: 'renewal', step: 'connection refreshing', after: 'works' },
  { way: 'renewal', step: 'connection refreshed', after: 'again' },
  { way: 'renewal', step: 'connection renewed', after: 'works' },
  { way: 'removal', step: 'connection revoking', after: 'removed' },
  { way: 'removal', step: 'connection revoked', after: 'removed' },
] as const
type Place = (typeof PLACES)[number]

const KILLS = Number(process.env['CHAOS_KILLS'] ?? PLACES.length)
/** A lease of a connection is over by then, and so is everything that the dead process held. */
const PASSED_MS = 61_000
const AT_ONCE = 8

interface Account {
  name: string
  key: string
}

/** What is connected in one round, under a name of its own here and at the provider. */
interface Wanted {
  account: Account
  name: string
  /** Of its OAuth client where it needs no person. */
  secret: string
}

/** Two accounts connect to a company in the same process, which is killed at each step; the company goes on. */
describe('the service is killed at every step of a connection', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))
  const bots = Object.fromEntries(
    Array.from({ length: KILLS }, (_, round) => [`bot-${String(round)}`, `secret-of-bot-${String(round)}`]),
  )
  let database: TestDatabase
  let control: Service
  let mortal: Mortal
  let company: Company
  let accounts: [Account, Account]

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 2 })
    company = await startCompany({ redirectUri: REDIRECT, bots })
    const settings = {
      ...{ DATA_DIR: folder, DATABASE_URL: database.url, DATABASE_POOL: '8', PORT: '0', LOG_LEVEL: 'silent' },
      ...{ DEMO_API_KEY: `csk_test_${'d'.repeat(43)}`, RATE_API_PER_MINUTE: '0', RATE_TOOLS_PER_MINUTE: '0' },
      ...{ ALLOW_HOSTS: '127.0.0.1', TOOLS_SHIPPED: 'false', DEMO_PORT: '0', PUBLIC_DASHBOARD_URL: DASHBOARD },
      ...{ VAULT_KEY: `test:${randomBytes(32).toString('base64')}`, AUTH_SECRET: randomBytes(32).toString('hex') },
    }
    const config = readConfig({ ...settings, ROLES: 'api', DATABASE_POOL: '2' })
    control = await compose(config, { url: database.url, log: pino({ level: 'silent' }) })
    await register(control, company.origin)
    accounts = [await signUp(control, 'ada'), await signUp(control, 'ben')]
    mortal = new Mortal(bundled(path.join(import.meta.dirname, '../checkouts/driver.ts')), settings)
  })
  afterAll(async () => {
    mortal.close()
    company.end()
    await control.stop()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    `${String(KILLS)} times: it works or is connected again, no account has another's token, a renewal happens once`,
    async () => {
      await mortal.live(null)
      for (const account of accounts) await connect({ account, name: homeOf(account), secret: '' })
      mortal.kill()
      await mortal.died()
      for (let round = 0; round < KILLS; round++) {
        const place = PLACES[round % PLACES.length]!
        const [dying, calm] = (round + Math.floor(round / PLACES.length)) % 2 === 0 ? accounts : accounts.toReversed()
        const name = place.way === 'client' ? `bot-${String(round)}` : `${dying!.name}.${String(round)}`
        const wanted: Wanted = { account: dying!, name, secret: bots[name] ?? '' }
        const isBefore = place.way === 'renewal' || place.way === 'removal'
        await mortal.live({ step: place.step, pass: 1 }, PASSED_MS)
        const id = isBefore ? await connect(wanted) : null
        await Promise.all([interrupted(place, wanted, id), call(calm!, homeOf(calm!))])
        await mortal.diedWithin(120_000)
        await mortal.live(null, PASSED_MS)
        await recovers(place, wanted)
        for (const account of accounts) await works(account, homeOf(account))
        mortal.kill()
        await mortal.died()
      }
      const { calls, revocations } = await company.journal()
      const foreign = calls.filter(({ caller, who }) => who !== null && ownerOf(who) !== caller)
      expect([foreign, mortal.late]).toEqual([[], 0])
      expect(await control.ledger.differences()).toEqual([])
      process.stdout.write(`${JSON.stringify({ kills: KILLS, calls: calls.length, revocations })}\n`)
    },
    300_000 + KILLS * 30_000,
  )

  /** Until the process dies, as far as the way leads. */
  async function interrupted({ way }: Place, wanted: Wanted, id: string | null): Promise<void> {
    if (way === 'renewal') {
      await end(id!)
      await Promise.all(Array.from({ length: AT_ONCE }, () => call(wanted.account, wanted.name)))
    } else if (way === 'removal') await mortal.call('DELETE', `/v1/connections/${id!}`, undefined, wanted.account.key)
    else if (way === 'client') await byClient(wanted)
    else {
      const begun = await begin(wanted, way)
      if (begun?.status !== 201) return
      const query = await allow(String(begun.body.authorizationUrl), wanted.name, REDIRECT)
      if (query !== null) await finish(wanted.account, query)
    }
  }

  /** In the next process. What was begun is begun once more under the same key, as a client does that got no answer. */
  async function recovers({ way, step, after }: Place, wanted: Wanted): Promise<void> {
    const { account, name } = wanted
    if (after === 'removed') {
      await until(async () => (await secretsOf(name)).length === 0)
      expect(await holds(name)).toBe(0)
      expect((await call(account, name))?.body.code).toBe('connection_required')
      return
    }
    if (step === 'connection requested') await connect(wanted, way)
    if (way === 'client') expect((await byClient(wanted))?.status).toBe(201)
    if (after === 'again') {
      const refused = await until(async () => {
        const answer = await call(account, name)
        return answer?.status === 409 ? answer : null
      })
      expect(refused.body).toMatchObject({ code: 'connection_required', provider: 'notes' })
      const again = await connectionOf(name)
      expect(again).toMatchObject({ state: way === 'renewal' ? 'expired' : 'pending' })
      await connect(wanted, way, again!.id)
    }
    if (way === 'code') await until(async () => (await connectionOf(name))?.state === 'active')
    await works(account, name)
    const all = await database.statements.run('SELECT 1 FROM connection WHERE name = $1', [name])
    expect(all).toHaveLength(1)
    if (way !== 'renewal') return
    const { grants } = await company.journal()
    const renewals = grants.filter(({ who, grant }) => who === name && grant === 'refresh_token')
    // The company replaced the token for a process that is dead: the next one is refused, and asks no more.
    expect(renewals.map(({ succeeded }) => succeeded)).toEqual(after === 'again' ? [true, false] : [true])
  }

  /** Connects by a person, to the end. */
  async function connect(wanted: Wanted, way: Place['way'] = 'return', again: string | null = null): Promise<string> {
    const begun = await begin(wanted, way, again)
    if (begun?.status !== 201) throw new Error(`not begun: ${JSON.stringify(begun)}`)
    const { connection, authorizationUrl } = begun.body
    const query = await allow(String(authorizationUrl), wanted.name, REDIRECT)
    if (query !== null) expect(await finish(wanted.account, query)).toMatchObject({ status: 200 })
    await until(async () => (await connectionOf(wanted.name))?.state === 'active')
    return connection.id as string
  }

  function begin({ account, name }: Wanted, way: Place['way'], again: string | null = null): Promise<Answer | null> {
    const body = again === null ? { name } : { connectionId: again }
    const wanted = { provider: 'notes', byCode: way === 'code', ...body }
    const key = `${name}-${again ?? 'first'}`
    return mortal.call('POST', '/v1/connections/authorize', wanted, account.key, { 'idempotency-key': key })
  }

  const finish = ({ key }: Account, query: string) => mortal.call('POST', '/trpc/connections.finish', { query }, key)

  function byClient({ account, name, secret }: Wanted): Promise<Answer | null> {
    const body = { provider: 'notes', name, client: { id: name, secret } }
    return mortal.call('POST', '/v1/connections', body, account.key, { 'idempotency-key': name })
  }

  /** Null when the connection broke. */
  function call({ name: caller, key }: Account, connection: string): Promise<Answer | null> {
    return mortal.call('POST', '/tools/notes-write', { caller }, key, { 'x-connection': connection })
  }

  async function works(account: Account, name: string): Promise<void> {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => call(account, name)))
    expect(answers.map((answer) => answer?.body.output as unknown)).toEqual(Array(AT_ONCE).fill({ who: name }))
  }

  async function connectionOf(name: string): Promise<{ id: string; state: string } | undefined> {
    const text = 'SELECT id, state FROM connection WHERE name = $1'
    return (await database.statements.run<{ id: string; state: string }>(text, [name]))[0]
  }

  const secretsOf = (name: string) =>
    database.statements.run('SELECT 1 FROM connection WHERE name = $1 AND secret IS NOT NULL', [name])

  /** The token ends now, as if its time had passed. */
  async function end(id: string): Promise<void> {
    const text = 'UPDATE connection SET expires_at = created_at, due_at = created_at WHERE id = $1'
    await database.statements.run(text, [id])
  }

  async function holds(who: string): Promise<number> {
    return (await company.journal()).alive.filter((one) => one === who).length
  }

  function ownerOf(who: string): string {
    const round = /^bot-(\d+)$/.exec(who)?.[1]
    if (round === undefined) return who.split('.')[0] ?? ''
    const turn = Number(round) + Math.floor(Number(round) / PLACES.length)
    return accounts[turn % 2]!.name
  }
})

/** A connection that is there all the time. */
function homeOf({ name }: Account): string {
  return `${name}.home`
}

const DASHBOARD = 'http://127.0.0.1:9'
const REDIRECT = `${DASHBOARD}/connections/callback`

interface Company {
  origin: string
  journal(): Promise<ProviderJournal>
  end(): void
}

async function startCompany(setting: ProviderSetting): Promise<Company> {
  const program = path.join(import.meta.dirname, 'provider.ts')
  const loader = ['--import', './service/launch/typescript.mjs']
  const child = spawn(process.execPath, [...loader, program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(setting))
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = `http://127.0.0.1:${line}`
    return {
      origin,
      journal: async () => (await (await fetch(`${origin}/journal`)).json()) as ProviderJournal,
      end: () => void (child satisfies ChildProcess).kill('SIGKILL'),
    }
  }
  throw new Error('the provider did not start')
}

/** Its tools, and the client with which accounts connect to it. */
async function register({ catalogue }: Service, origin: string): Promise<void> {
  await catalogue.importDocument(importRequest(origin, { slug: 'notes', name: 'Notes' }), JSON.stringify(DOCUMENT))
  const client = {
    ...{ clientId: CLIENT.id, issuer: origin, authorizationUrl: null, tokenUrl: null, revocationUrl: null },
    ...{ authentication: 'basic' as const, grant: 'authorization_code' as const, scopes: ['notes'] },
  }
  await catalogue.setOAuth({ environment: 'sandbox', ownerId: null, provider: 'notes' }, client, CLIENT.secret)
}

async function signUp({ identity }: Service, name: string): Promise<Account> {
  const person = { name, email: `${name}@example.com`, emailConfirmed: true }
  const { user } = await identity.signUp({ issuer: 'coinslot', subject: name, ...person })
  const { subject, issuer } = user
  const via = { via: 'session', keyId: null, agentId: null } as const
  const caller = { user, subject, issuer, environment: 'sandbox', ...via } as const
  const wanted = { name: 'key', agentId: null, expiresAt: null }
  return { name, key: (await identity.keys.create(caller, wanted, newId('op', new Date()))).secret }
}
