import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../service/config.ts'
import type { Failpoints } from '../../service/kit/failpoints.ts'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { answerTo, challengeIn } from '../harness/mpp.ts'
import { openWorld as openFacilitator, usdcOf, type World as Honest } from '../facilitator/world.ts'
import { startStrangeFacilitator, type StrangeFacilitator } from '../paywall/facilitator.ts'
import { openWorld, signed, until, type Answer, type World } from '../paywall/world.ts'

const ROUTE = { path: '/secret', pricing: { model: 'per-request', amount: 0.05 } }

describe('a sale goes on by the method that it was begun with, after its process restarts with another setting', () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-begun-'))
  let honest: Honest
  let first: StrangeFacilitator
  let second: StrangeFacilitator
  let started: (() => Promise<void>)[] = []

  beforeAll(async () => {
    honest = await openFacilitator()
    first = await startStrangeFacilitator()
    second = await startStrangeFacilitator()
    first.behind = honest.service.origin
    second.behind = honest.service.origin
  })
  beforeEach(() => {
    for (const facilitator of [first, second]) Object.assign(facilitator, { mood: 'honest', settled: 0, requests: 0 })
  })
  afterEach(async () => {
    for (const stop of started.toReversed()) await stop()
    started = []
  })
  afterAll(async () => {
    await first.close()
    await second.close()
    await honest.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** This server's own sponsor, on the chain of the honest facilitator. */
  function sponsor(): Record<string, string> {
    const { chain } = honest
    return {
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[1]!.privateKey,
      GAS_BUDGET_PER_DAY: '0',
      GAS_BUDGET_PER_PAYER_DAY: '0',
    }
  }

  async function open(environment: Record<string, string>, failpoints?: Failpoints): Promise<World> {
    const world = await openWorld({ environment, works: false, ...(failpoints === undefined ? {} : { failpoints }) })
    started.push(() => world.close())
    return world
  }

  /** Another process on the same database. */
  async function restart({ service }: World, environment: Record<string, string>): Promise<Service> {
    const { url } = service.testDatabase
    const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: url, PORT: '0', LOG_LEVEL: 'silent', ...environment })
    const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
    const restarted = await compose(config, { url, log, clock: service.clock, strict: true })
    started.push(() => restarted.stop())
    await restarted.start()
    return restarted
  }

  /** Until the sale is paid. */
  async function sweep({ service: { clock } }: World, restarted: Service, id: string): Promise<void> {
    await until(async () => {
      clock.forward(6_000)
      await restarted.sales.sales(clock.now())
      return (await restarted.paywalls.payment(id)).state === 'paid'
    })
  }

  test.each([
    ['this server’s own', () => ({ ...sponsor() })],
    ['a third one', () => ({ ...sponsor(), GATE_FACILITATOR_URL: second.url })],
  ])('another facilitator settles what it verified, though gates are settled by %s now', async (_, environment) => {
    const world = await open({ GATE_FACILITATOR_URL: first.url, GATE_FACILITATOR_TIMEOUT_MS: '1000' })
    const { gate } = await world.sell([ROUTE])
    // The facilitator verifies the payment, and goes away before it is asked to settle.
    world.upstream.on('/secret', (_request, response) => {
      first.mood = 'hangs'
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"worth it"}')
    })
    const payer = await honest.chain.payer(1_000_000n)
    const header = await signed(payer, honest.chain, await world.request(`${gate}/secret`))
    const pending = await world.request(`${gate}/secret`, { headers: header })
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })

    first.mood = 'honest'
    const restarted = await restart(world, environment())
    await sweep(world, restarted, String(pending.body.paymentId))
    expect([first.settled, second.requests]).toEqual([1, 0])
    expect(await usdcOf(honest.chain, payer.address)).toBe(950_000n)
  })

  it('this server settles what it verified itself, and asks no other facilitator', async () => {
    let crashes = true
    const world = await open(sponsor(), {
      reach: (name) => (crashes && name === 'sale settling' ? Promise.reject(new Error('gone')) : Promise.resolve()),
    })
    const { gate } = await world.sell([ROUTE])
    world.upstream.on('/secret', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"worth it"}')
    })
    const payer = await honest.chain.payer(1_000_000n)
    const header = await signed(payer, honest.chain, await world.request(`${gate}/secret`))
    const lost: Answer = await world.request(`${gate}/secret`, { headers: header })
    expect(lost.status).toBe(500)
    crashes = false
    const [sale] = await world.service.database.statements.run<{ id: string; state: string }>(
      'SELECT id, state::text FROM sale',
      [],
    )
    expect(sale).toMatchObject({ state: 'settling' })

    const restarted = await restart(world, { ...sponsor(), GATE_FACILITATOR_URL: second.url })
    await sweep(world, restarted, sale!.id)
    expect(second.requests).toBe(0)
    expect(await usdcOf(honest.chain, payer.address)).toBe(950_000n)
  })

  it('stores by which method it was begun', async () => {
    const own = await open(sponsor())
    const remote = await open({ ...sponsor(), GATE_FACILITATOR_URL: first.url })
    const methods = async ({ service: { database } }: World): Promise<unknown> =>
      await database.statements.run('SELECT method::text, facilitator FROM sale ORDER BY created_at, id', [])
    const payer = await honest.chain.payer(1_000_000n)
    for (const world of [own, remote]) {
      await world.service.start()
      const { gate } = await world.sell([ROUTE])
      const test = await world.sell([ROUTE], { testMode: true })
      world.upstream.on('/secret', (_request, response) => response.writeHead(200).end('worth it'))
      const url = `${gate}/secret`
      const expectServed = async (headers: Record<string, string>): Promise<void> => {
        world.service.clock.forward(1)
        expect(await world.request(url, { headers })).toMatchObject({ status: 200 })
      }
      await expectServed(await signed(payer, honest.chain, await world.request(url)))
      const { headers } = await world.request(url, { headers: { 'accept-payment': 'evm/charge' } })
      const answer = await answerTo(payer, honest.chain.network, challengeIn(headers))
      await expectServed({ [answer.header]: answer.value })
      world.service.clock.forward(1)
      const token = String(test.paywall.testToken)
      await world.request(`${test.gate}/secret`, { headers: { 'x-payment-token': token } })
    }
    const simulated = { method: 'simulated', facilitator: null }
    expect(await methods(own)).toEqual([
      { method: 'exact', facilitator: null },
      { method: 'mpp-charge', facilitator: null },
      simulated,
    ])
    const elsewhere = { method: 'remote', facilitator: first.url }
    expect(await methods(remote)).toEqual([elsewhere, elsewhere, simulated])
  })
})
