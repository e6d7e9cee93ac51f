import { createIdentity, type Identity, type IdentityDeps } from '../../service/identity/service/identity.ts'
import { createIdentityStore } from '../../service/identity/store.ts'
import { createEmailStore } from '../../service/identity/signin/store.ts'
import { createSignIn, type SignInOptions } from '../../service/identity/signin/signin.ts'
import { createWalletStore } from '../../service/identity/signin/store.ts'
import { identityTopics } from '../../service/identity/jobs.ts'
import { walletSignatures } from '../../service/chain/signin.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { createOutbox } from '../../service/queue/outbox.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { Secret } from '../../service/vault/secret.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import { usdc } from '../../service/kit/money.ts'
import type { Caller, Person } from '../../service/kit/caller.ts'
import type { Mail } from '../../service/identity/ports.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

export const DASHBOARD = 'http://localhost:4020'

/** Identity with the service's own wiring; only mails go into a list. */
export interface World {
  database: TestDatabase
  identity: Identity
  ledger: Ledger
  clock: { now(): Date; forward(ms: number): void }
  mails: Mail[]
  logged: { fields: Record<string, unknown>; text: string }[]
  /** Handles the outbox's messages, as a worker would. */
  deliver(): Promise<void>
  close(): Promise<void>
}

export async function openWorld(
  options: Partial<Pick<IdentityDeps, 'live' | 'credits' | 'issuer' | 'agentExists' | 'mailer'>> &
    Partial<Pick<SignInOptions, 'canMail' | 'confirmsFirst' | 'dashboard' | 'mayMail' | 'prisma' | 'provider'>> & {
      notMailed?: IdentityDeps['notMailed']
      mayMailOwner?: IdentityDeps['mayMailOwner']
      poolMax?: number
    } = {},
): Promise<World> {
  const database = await testDatabase({ poolMax: options.poolMax ?? 10 })
  const clock = movableClock()
  const mails: Mail[] = []
  const logged: World['logged'] = []
  const append = (fields: Record<string, unknown>, text: string) => void logged.push({ fields, text })
  const log = { info: append, warn: append, error: append }
  const ledger = createLedger(createLedgerStore(database.statements, clock), clock)
  const vault = vaultOf(parseKeyring(`test:${Buffer.from('an even better key for the tests').toString('base64')}`))
  const outbox = createOutbox(clock)
  const mayMail = options.mayMail ?? (() => Promise.resolve(true))
  const identity = createIdentity({
    mayMail,
    mayMailOwner: options.mayMailOwner ?? (() => Promise.resolve(true)),
    notMailed: options.notMailed ?? (() => Promise.resolve()),
    store: createIdentityStore(database),
    ledger,
    clock,
    log,
    sealing: {
      seal: (secret, context) => vault.seal(new Secret(secret), context),
      open: (sealed, context) => vault.open(sealed, context).reveal(),
    },
    mailer: options.mailer ?? { send: async (mail) => void mails.push(mail) },
    agentExists: options.agentExists ?? (async () => false),
    signIn: (welcome) =>
      createSignIn(
        {
          prisma: options.prisma ?? database.prisma,
          clock,
          log,
          secret: 'the secret of the tests, 32 characters and more',
          dashboard: options.dashboard ?? DASHBOARD,
          trustedOrigins: [],
          canMail: options.canMail ?? true,
          confirmsFirst: options.confirmsFirst ?? false,
          mayMail,
          mayTryPassword: () => Promise.resolve(true),
          provider: options.provider ?? null,
          signatures: walletSignatures,
          wallets: createWalletStore(database.statements, options.provider?.issuer ?? null, welcome.tell),
          emails: createEmailStore(database.statements, welcome.tell),
          chainIds: [1, 8453, 84532],
        },
        welcome,
      ),
    issuer: options.issuer ?? null,
    announce: (inside, announcement) => outbox.add(inside, [announcement]),
    live: options.live ?? false,
    credits: options.credits ?? usdc(5_000_000n),
    grantBounds: { perDomain: 1_000_000, perAddress: 1_000_000 },
    dashboard: options.dashboard ?? DASHBOARD,
  })
  return {
    database,
    identity,
    ledger,
    clock,
    mails,
    logged,
    deliver: () => deliver(database, identity),
    close: async () => {
      await identity.settled()
      await database.close()
    },
  }
}

async function deliver(database: TestDatabase, identity: Identity): Promise<void> {
  const rows = await database.prisma.outbox.findMany({ where: { doneAt: null }, orderBy: { id: 'asc' } })
  const topics = new Map(identityTopics(identity).map((topic) => [topic.topic, topic]))
  for (const row of rows) {
    const topic = topics.get(row.topic)!
    const context = { id: String(row.id), attempt: 0, announcedAt: row.createdAt, signal: new AbortController().signal }
    await topic.handle(topic.decode.parse(row.payload), context)
    await database.prisma.outbox.update({ where: { id: row.id }, data: { doneAt: new Date() } })
  }
}

function movableClock() {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    forward: (ms: number) => {
      ahead += ms
    },
  }
}

export function newPerson(subject: string, more: Partial<Person> = {}): Person {
  return { issuer: 'https://issuer.example', subject, name: null, email: null, emailConfirmed: false, ...more }
}

/** Sends a request to the sign-in, as a program does. */
export async function post(
  { identity }: World,
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const request = new Request(`${DASHBOARD}/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return await answered(await identity.answerSignIn(request))
}

export async function get({ identity }: World, path: string, headers: Record<string, string> = {}) {
  return await answered(await identity.answerSignIn(new Request(new URL(path, `${DASHBOARD}/auth/`), { headers })))
}

/** Confirms an address by the mail's link, as its page does. */
export async function confirmBy(
  world: World,
  { text }: { text: string },
  password?: string,
  headers: Record<string, string> = {},
) {
  const token = new URL(/http\S+/.exec(text)![0]).searchParams.get('token')
  return await post(world, '/verify-email', { token, ...(password === undefined ? {} : { password }) }, headers)
}

async function answered(response: Response) {
  const text = await response.text()
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  return { status: response.status, body, headers: response.headers }
}

export async function callerOf(world: World, authorization: string, environmentHeader?: string): Promise<Caller> {
  return await world.identity.identify({
    authorization: `Bearer ${authorization}`,
    environmentHeader,
    now: world.clock.now(),
  })
}

/** The credits that a user has received, in whole dollars: [sandbox, production]. */
export async function grantsOf(world: World, userId: string): Promise<(number | null)[]> {
  const environments = ['sandbox', 'production'] as const
  return await Promise.all(
    environments.map(async (environment) => {
      const funds = await world.ledger.credits({ userId, environment })
      return funds === null ? null : Number(funds.deposited) / 1e6
    }),
  )
}
