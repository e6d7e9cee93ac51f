import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Hex } from '../../service/chain/model.ts'
import { migrate } from '../../service/database/migrate.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { findTransfers } from '../../service/transfers/store.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { emptyDatabase, openTestDatabase } from '../harness/database.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { openShop, PRODUCTS, type Shop } from '../harness/shop.ts'
import { startRelay, type Relay } from '../chain/relay.ts'
import { Seller } from '../outgoing-payments/seller.ts'
import { startUpstream, type Upstream } from '../paywall/upstream.ts'
import { requestOwn, signOwn } from '../refunds/own.ts'
import { addSale } from '../refunds/sales.ts'
import { signFor } from '../harness/wallet.ts'
import { importRequest } from '../tools/calls/world.ts'
import { liveSettings, send } from '../wallet/world.ts'
import { Places } from './before/places.ts'
import { copyRows } from './before/rows.ts'

/** The last migration of the version before sales named their method. */
const BEFORE = '20261127200000_refund_window_promised'
const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')
const MILLION = 1_000_000n

/**
 * A service stands still in every state that a sale and a transfer can have. Its rows, as the version before had them, are the
 * database that this version starts on.
 */
describe('a database of the version before, with sales and transfers in every state', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-before-'))
  const places = new Places()
  let chain: TestChain
  let relay: Relay
  let upstream: Upstream
  let settings: Record<string, string>
  let before: TestService
  let seller: Seller

  beforeAll(async () => {
    ;[chain, upstream] = await Promise.all([startChain({ chainId: 8453 }), startUpstream()])
    await chain.mine(10)
    relay = await startRelay(chain.url)
    settings = {
      ...(await liveSettings(chain)),
      ...{ ALLOW_HOSTS: '127.0.0.1', PAYER_SEED: randomBytes(32).toString('hex'), SETTLE_CONFIRMATIONS: '1' },
      ...{ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0', WITHDRAWALS_PER_DAY: '0' },
      ...{ WITHDRAWAL_MINIMUM: '0.1', GAS_BUDGET_PER_DAY: '0', GAS_BUDGET_PER_PAYER_DAY: '0' },
      ...{ GAS_BUDGET_PER_RECIPIENT_DAY: '0', RATE_PAY_PER_MINUTE: '0', RATE_GATE_PER_MINUTE: '0' },
      ...{ RATE_TOOLS_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0' },
    }
    before = await testService({ ...settings, BASE_RPC_URLS: relay.url }, { failpoints: places.failpoints })
    before.facilitator.start()
    seller = await new Seller(chain.network, chain.accounts[3]!.address, () => `${before.origin}/facilitator`).listen()
  })
  afterAll(async () => {
    await seller.close()
    await upstream.close()
    await chain.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('starts here, and every one ends as it should', async () => {
    const sales = await standStill()
    expect(statesOf(await openOf(before))).toEqual(TRANSFERS)
    const url = await asTheVersionHadIt()
    places.end()
    await before.close()
    await migrate(url)
    const after = await testService({ ...settings, BASE_RPC_URLS: chain.url }, {}, openTestDatabase(url))
    const { statements } = after.database
    const pass = async (ms: number) => {
      after.clock.forward(ms)
      await chain.call('evm_setNextBlockTimestamp', Math.floor(after.clock.now().getTime() / 1_000))
      await chain.mine(3)
    }
    await after.start()
    await until(async () => {
      // A settlement takes real time: no authorization may end by this clock meanwhile.
      if ((await statements.run(SETTLING, [])).length === 0) await pass(20_000)
      return (await statements.run(UNDER_WAY, [])).length === 0
    })
    await until(async () => {
      await pass(600_000)
      return (await openOf(after)).length === 0
    })

    const rows = await statements.run<SaleRow>(BOUGHT, [sales.map(({ id }) => id)])
    expect(sales.map(({ at, id }) => [at, rows.find((row) => row.id === id)])).toMatchObject(
      // What delivers before it is paid has delivered nothing, so nothing is charged.
      sales.map(({ at }) => [
        at,
        { state: /^claimed: (gate|tool|asset)/.test(at) ? 'released' : 'paid', method: 'exact' },
      ]),
    )
    for (const { payer, amount, state } of rows) {
      expect(await usdcOf(chain, payer)).toBe(state === 'paid' ? MILLION - amount : MILLION)
    }
    const ends = await Promise.all(
      Object.keys(ENDS).map(async (table) => {
        const states = await statements.run<{ state: string; count: number }>(
          `SELECT state::text, count(*)::int FROM ${table} GROUP BY 1`,
          [],
        )
        return [table, Object.fromEntries(states.map(({ state, count }) => [state, count]))]
      }),
    )
    expect(Object.fromEntries(ends)).toEqual(ENDS)
    await pass(60_000)
    expect(await after.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(statements)).toEqual([])
    expect(await after.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
    await after.close()
  }, 180_000)

  /** Answers the sales, each with the place at which its product stands still. */
  async function standStill(): Promise<{ at: string; id: string }[]> {
    await send(chain, [{ to: before.wallets.treasury()!, value: 1_000n * MILLION }])
    const person = await depositor(before, chain)
    const shop = await openShop({
      origin: before.origin,
      network: 'base',
      upstream,
      async post(at, body) {
        const { status, body: answer, text } = await person.call('POST', at, { body })
        if (status >= 300) throw new Error(`${at}: ${text}`)
        return answer as Record<string, unknown>
      },
      importTool: async (document, server) => {
        const request = importRequest(server, { environment: 'production', pricing: { otherwise: usdc(20_000n) } })
        await before.catalogue.importDocument(request, JSON.stringify(document))
      },
    })
    const sales: { at: string; id: string }[] = []
    const sell = async (at: string, work: () => Promise<unknown>) => {
      await work()
      const [newest] = await before.database.statements.run<{ id: string }>(NEWEST, [])
      sales.push({ at, id: newest!.id })
    }
    for (const product of PRODUCTS) await sell('paid', () => buy(chain, shop[product]))
    await withdrawals(before, person, places)
    await refunds(before, person, chain, places)
    await paidCalls(before, person, seller, places)
    await orders(before, person, chain, places)
    for (const product of PRODUCTS) {
      for (const place of ['sale claimed', 'sale settling', 'sale settled', 'sale paid', 'settlement claimed']) {
        const at = place === 'sale claimed' ? `claimed: ${product}` : `${product}: ${place}`
        await sell(at, () => places.stop(place, () => buy(chain, shop[product])))
      }
    }
    // The one who sends transactions: nothing is settled any more.
    await sell('signed', () => places.stop('transaction signed', () => buy(chain, shop.gate)))
    for (const { run } of before.wallets.collecting) void run(new AbortController().signal)
    await until(async () =>
      (await openOf(before)).some(({ kind, settlement }) => kind === 'sweep' && settlement !== null),
    )
    await relay.stop()
    return sales
  }

  /** Answers the address of a database of that version with all that the service has stored. */
  async function asTheVersionHadIt(): Promise<string> {
    const database = await emptyDatabase()
    for (const name of readdirSync(MIGRATIONS).filter((each) => each <= BEFORE)) {
      cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true })
    }
    await migrate(database.url, folder)
    await copyRows(before.testDatabase.url, database.adminUrl)
    return database.url
  }
})

async function depositor(service: TestService, chain: TestChain): Promise<TestPerson> {
  const person = await service.person({ environment: 'production' })
  const owner = { userId: person.caller.user.id, environment: 'production' } as const
  await send(chain, [{ to: (await service.wallets.depositAddress(owner))!, value: 100n * MILLION }])
  await chain.mine(3)
  service.clock.forward(1_000)
  for (const { turn } of service.wallets.monitors) await turn(service.clock.now(), new AbortController().signal)
  return person
}

async function buy(chain: TestChain, { url, requestOf }: Shop[keyof Shop]): Promise<unknown> {
  const request = requestOf('bought')
  const unpaid = await fetch(url, request)
  const text = await unpaid.text()
  const required = { status: unpaid.status, headers: unpaid.headers, text, body: JSON.parse(text) as unknown }
  const { header, value } = await signFor(chain, await chain.payer(MILLION), required)
  const headers = { ...(request.headers as Record<string, string>), [header]: value }
  const answer = await fetch(url, { ...request, headers })
  return [answer.status, await answer.text()]
}

const address = (): Hex => `0x${randomBytes(20).toString('hex')}`

async function withdrawals(service: TestService, { caller }: TestPerson, places: Places): Promise<void> {
  const { withdrawals: made, payouts } = service.wallets
  const withdraw = () =>
    made.withdraw(caller, { to: address(), amount: usdc(MILLION) }, newId('op', service.clock.now()))
  await payouts.step((await withdraw()).id)
  for (const place of ['withdrawal submitted', 'withdrawal settled']) {
    const { id } = await withdraw()
    await places.stop(place, () => payouts.step(id))
  }
  await places.stop('withdrawal locked', withdraw)
}

async function refunds(service: TestService, person: TestPerson, chain: TestChain, places: Places): Promise<void> {
  const { caller } = person
  const operation = () => newId('op', service.clock.now())
  const by = { amount: null, reason: null, by: 'seller', owner: null } as const
  const wallet = await chain.payer(100n * MILLION)
  const sold = () => addSale(service, person, { amount: 4_000_000, recipient: wallet.address })
  const saleId = await sold()
  await places.stop('refund requested', () => service.refunds.request({ ...by, saleId }, operation()))
  const own = async () => await requestOwn(service, caller, await sold(), operation())
  await own()
  for (const place of ['refund signed', 'refund settled']) {
    const { id } = await own()
    await places.stop(place, () => signOwn(service, caller, id, wallet.privateKey))
  }
}

async function paidCalls(service: TestService, { caller }: TestPerson, seller: Seller, places: Places): Promise<void> {
  // Those of one moment are funded together: the last one stands still there.
  for (const place of ['reserved', 'transferred', 'signed', 'sent', 'answered', 'settled', 'funding']) {
    const request = {
      url: seller.url(`/v2/${place}`),
      method: 'GET',
      headers: {},
      body: null,
      maxAmount: usdc(MILLION),
    }
    const operation = newId('op', service.clock.now())
    const options = { keyed: true, background: false }
    await places.stop(`outgoing payment ${place}`, () =>
      service.outgoingPayments.pay(caller, request, operation, options),
    )
  }
}

async function orders(service: TestService, person: TestPerson, chain: TestChain, places: Places): Promise<void> {
  const terms = { product: { name: 'A report' }, price: 1, network: 'base', recipient: chain.accounts[3]!.address }
  const body = { ...terms, callbackUrl: 'http://127.0.0.1/hook' }
  const { checkout } = (await person.call('POST', '/v1/checkouts', { body })).body as { checkout: { id: string } }
  const order = async (amount: bigint) => {
    const made = await service.call('POST', `/p/${checkout.id}/addresses`, { body: {} })
    const { address: of, token } = made.body as { address: { id: string; address: Hex }; token: string }
    await send(chain, [{ to: of.address, value: amount }])
    await chain.mine(3)
    return { path: `/p/${checkout.id}/addresses/${of.id}`, token }
  }
  const turn = async () => {
    service.clock.forward(3_000)
    for (const { run } of service.paymentAddresses.sweepers) await run(new AbortController().signal)
  }
  await order(400_000n)
  const less = await order(300_000n)
  await turn()
  await order(MILLION)
  await places.stop('payment address bought', turn)
  await order(MILLION)
  await places.stop('payment address begun', turn)
  const headers = { 'X-Payment-Token': less.token }
  const back = await service.call('POST', `${less.path}/return`, { body: { to: address() }, headers })
  if (back.status !== 200) throw new Error(back.text)
  await places.stop('payment address return signed', turn)
}

const openOf = (service: TestService) => findTransfers(service.database.statements, { limit: 1_000 })

function statesOf(transfers: Awaited<ReturnType<typeof openOf>>): Record<string, string[]> {
  const states: Record<string, string[]> = {}
  for (const { kind, state, settlement } of transfers) {
    ;(states[kind] ??= []).push(settlement === null ? state : `${state}, ${settlement}`)
  }
  return states
}

/** What has not ended when the version before stands still. */
const TRANSFERS = {
  withdrawal: ['sent, settled', 'sent', 'sent, settled', 'waiting'],
  refund: ['waiting'],
  refund_own: ['waiting', 'sent', 'sent, settled'],
  payment: ['waiting', 'waiting', 'signed', 'sent', 'sent, settled', 'waiting'],
  funding: ['sent, settled', 'sent'],
  return: ['sent'],
  sweep: ['sent, claimed'],
}

/** In which states all have ended. */
const ENDS = {
  // With the payout of the refund.
  wallet_withdrawal: { confirmed: 5 },
  // Nobody signed one of them.
  refund: { confirmed: 3, failed: 1 },
  // The seller has settled two. The others it never saw.
  spending_payment: { returned: 5, settled: 2 },
  // Of one only a part has arrived.
  payment_address: { closed: 1, open: 1, paid: 2 },
  payment_address_return: { settled: 1 },
  wallet_sweep: { settled: 1 },
}

interface SaleRow {
  id: string
  state: string
  method: string
  payer: Hex
  amount: bigint
}

const BOUGHT = 'SELECT id, state::text, method::text, payer, amount FROM sale WHERE id = ANY ($1)'
const NEWEST = 'SELECT id FROM sale ORDER BY created_at DESC LIMIT 1'
const SETTLING = `SELECT FROM facilitator_settlement WHERE state NOT IN ('settled', 'failed') LIMIT 1`
const UNDER_WAY = `SELECT FROM sale WHERE state IN ('claimed', 'held', 'settling') LIMIT 1`
