import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { listen } from '../../service/api/server.ts'
import type { Caller } from '../../service/kit/caller.ts'
import { newId } from '../../service/kit/ids.ts'
import type { Environment } from '../../service/kit/owner.ts'
import { withoutTools } from './live.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { TestClock } from './clock.ts'

export interface TestService extends Service {
  clock: TestClock
  testDatabase: TestDatabase
  origin: string
  /** A person of their own, signed up, with a key. */
  person(options?: { environment?: Environment }): Promise<TestPerson>
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  close(): Promise<void>
}

export interface TestPerson {
  caller: Caller & { user: NonNullable<Caller['user']> }
  key: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

export type Hooks = Partial<Pick<Parameters<typeof compose>[1], 'failpoints' | 'log' | 'pace'>>

export interface CallOptions {
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string | Uint8Array
  headers?: Record<string, string>
  key?: string
}

export interface Answer {
  status: number
  headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers field by field
  body: any
  text: string
}

/** The whole service in this process, on a free port and a database of its own, which it drops at its end. */
export async function testService(
  environment: Record<string, string> = {},
  hooks: Hooks = {},
  given?: TestDatabase,
): Promise<TestService> {
  const database = given ?? (await testDatabase())
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-service-'))
  const clock = new TestClock()
  const config = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    PORT: '0',
    LOG_LEVEL: 'silent',
    // All people of a test have the same e-mail domain.
    SIGNUP_GRANTS_PER_DOMAIN_DAY: '1000000',
    ...withoutTools(environment),
    ...environment,
  })
  const service = await compose(config, {
    url: database.url,
    log: pino({ level: process.env['TEST_LOG'] ?? 'silent' }),
    clock,
    strict: true,
    // Most waits of a test are for a sweeper's next turn.
    pace: { sweepFactor: 0.2 },
    ...hooks,
  })
  const server = await listen(service.app, config.PORT, '127.0.0.1')
  const origin = `http://127.0.0.1:${String(server.port)}`
  let people = 0

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const headers = new Headers(options.headers)
    if (options.key !== undefined) headers.set('authorization', `Bearer ${options.key}`)
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
    return await answerOf(await fetch(origin + path, { method, headers, body: body ?? null }))
  }

  let closing: Promise<void> | null = null
  return {
    ...service,
    clock,
    testDatabase: database,
    origin,
    call,
    async person({ environment = 'sandbox' } = {}) {
      const count = String(++people)
      const { user } = await service.identity.signUp({
        issuer: 'coinslot',
        subject: `person-${count}`,
        name: `Person ${count}`,
        email: `person${count}@example.com`,
        emailConfirmed: true,
      })
      const caller = {
        user,
        subject: user.subject,
        issuer: user.issuer,
        environment,
        via: 'session' as const,
        keyId: null,
        agentId: null,
      }
      const operation = newId('op', clock.now())
      const created = await service.identity.keys.create(
        caller,
        { name: 'test', agentId: null, expiresAt: null },
        operation,
      )
      return {
        caller,
        key: created.secret,
        call: (method, path, options) => call(method, path, { key: created.secret, ...options }),
      }
    },
    close: () => (closing ??= close()),
  }

  async function close(): Promise<void> {
    await server.drain(1000)
    await service.stop()
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type')?.includes('json') === true && text !== ''
  return { status, headers, body: isJson ? JSON.parse(text) : undefined, text }
}
