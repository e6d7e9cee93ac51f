import { AsyncResource } from 'node:async_hooks'
import { pino } from 'pino'
import { createRpc } from '../../service/chain/rpc.ts'
import { smtpMailer } from '../../service/mail/mailer.ts'
import type { CompletionRequest } from '../../service/marketplace/ports/run.ts'
import { createVendor } from '../../service/models/vendor.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import { relayClient } from '../../service/outbound/relay.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { testService } from '../harness/service.ts'

describe('transactions of two databases', () => {
  let databases: TestDatabase[]

  beforeAll(async () => {
    databases = await Promise.all([testDatabase(), testDatabase()])
  })
  afterAll(() => Promise.all(databases.map((database) => database.close())))

  const nameIn = async ({ run }: Pick<TestDatabase['statements'], 'run'>): Promise<string> => {
    const [row] = await run<{ name: string }>('select current_database() as name', [])
    return row!.name
  }
  const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1)

  it('each run on a connection of their own database, one inside the other', async () => {
    const [outer, inner] = databases as [TestDatabase, TestDatabase]
    const names = await outer.transaction(async (one) => {
      const within = await inner.transaction(async (other) => [await nameIn(one), await nameIn(other)])
      return [...within, await nameIn(one), await nameIn(inner.statements)]
    })
    expect(names).toEqual([nameOf(outer), nameOf(inner), nameOf(outer), nameOf(inner)])
  })

  it('take no second connection, which a full pool could never give', async () => {
    const [database] = databases as [TestDatabase]
    const refusal = 'Inside a transaction, pass on its statements'
    const { statements, prisma } = database
    await expect(statements.together(() => nameIn(statements))).rejects.toThrow(refusal)
    await expect(statements.together(() => statements.together(nameIn))).rejects.toThrow(refusal)
    await expect(statements.together(() => prisma.$queryRawUnsafe('select 1'))).rejects.toThrow(refusal)
    await expect(database.transaction(() => nameIn(statements))).rejects.toThrow(refusal)
    expect(await statements.together(nameIn)).toBe(nameOf(database))
    // What a transaction starts and does not wait for may take a connection once it is over.
    let later = Promise.resolve('')
    let end = (): void => undefined
    const isOver = new Promise<void>((resolve) => (end = resolve))
    await statements.together(() => {
      later = isOver.then(() => nameIn(statements))
      return Promise.resolve()
    })
    end()
    expect(await later).toBe(nameOf(database))
  })

  it('wait for no chain, mail, model or other server, which would hold their locks', async () => {
    const [database] = databases as [TestDatabase]
    const log = pino({ level: 'silent' })
    const rpc = createRpc({ urls: ['http://127.0.0.1:9'], clock: { now: () => new Date() }, log, timeoutMs: 1_000 })
    const policy = { allowPrivate: false, allowHosts: ['127.0.0.1'] }
    const outbound = outboundClient({ policy })
    const relay = relayClient({ policy, headersMs: 1_000, idleMs: 1_000 })
    const mailer = smtpMailer({ url: 'smtp://127.0.0.1:9', from: 'pay@example.com' })
    const complete = createVendor({ baseUrl: 'http://127.0.0.1:9', apiKey: undefined })
    const { signal } = new AbortController()
    const passed = { origin: 'http://127.0.0.1:9', path: '/', method: 'GET', headers: [], signal }
    const model = { id: 'any' } as CompletionRequest['model']
    const asks = [
      () => rpc.call('eth_chainId'),
      () => rpc.read('eth_chainId'),
      () => rpc.together([{ method: 'eth_chainId', params: [] }], () => null),
      () => outbound.send({ url: 'http://127.0.0.1:9/', method: 'GET' }),
      () => relay.pass({ ...passed, body: null }),
      () => relay.upgrade({ ...passed, protocol: 'websocket' }),
      () => mailer.send({ id: 'one', to: 'a@example.com', subject: 'One', text: 'One' }),
      () => complete({ model, system: null, prompt: 'One', signal }),
    ]
    for (const ask of asks) {
      await expect(database.statements.together(ask)).rejects.toThrow(/^Inside a transaction .* is not asked/)
      await expect(database.transaction(ask)).rejects.toThrow(/^Inside a transaction .* is not asked/)
      await expect(ask()).rejects.not.toThrow('Inside a transaction')
    }
    mailer.close()
    await Promise.all([rpc.close(), outbound.close(), relay.close()])
  })

  it('add nothing that later promises of the process would carry', async () => {
    const carried = () => Object.getOwnPropertySymbols(new AsyncResource('later')).length
    const serve = async (): Promise<number> => {
      const service = await testService()
      await service.person()
      await service.close()
      return carried()
    }
    const once = await serve()
    expect(once).toBeGreaterThan(0)
    expect(await serve()).toBe(once)
  })
})
