import { createPayerBooks } from '../../service/outgoing-payments/store/payer-books.ts'
import { hiding, honest, lagging, startRelay, type Relay } from '../chain/relay.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { TestChain } from '../harness/chain.ts'
import { TestClock } from '../harness/clock.ts'
import { until } from '../harness/until.ts'
import type { TestPerson, TestService } from '../harness/service.ts'
import type { Wallet } from '../marketplace/runs/world.ts'
import type { Seller } from './seller.ts'
import { openPaidCalls, type PaidCalls } from './world.ts'

describe('a paid call, while nodes lag behind', () => {
  let world: PaidCalls
  let chain: TestChain
  let relay: Relay
  let second: Relay
  let service: TestService
  let seller: Seller
  let person: TestPerson

  beforeAll(async () => {
    world = await openPaidCalls(async ({ url }) => {
      relay = await startRelay(url)
      second = await startRelay(url)
      return { BASE_SEPOLIA_RPC_URLS: `${relay.url},${second.url}` }
    })
    ;({ chain, service, seller } = world)
    person = await world.person()
  })
  afterAll(async () => {
    await world.close()
    await relay.stop()
    await second.stop()
  })
  afterEach(() => {
    relay.behave(honest)
    second.behave(honest)
  })

  const wallet = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet as Wallet
  const payment = async (id: string) =>
    (await person.call('GET', `/v1/pay/${id}`)).body.payment as Record<string, unknown>
  /** A seller that fails, and has the signature. */
  const pay = async (path: string) => {
    const { body } = await person.call('POST', '/v1/pay', { body: { url: seller.url(path), maxAmount: 1 } })
    expect(body.payment.status).toBe('pending')
    return body.payment as { id: string; payer: `0x${string}` }
  }
  const newest = async () => BigInt((await chain.call('eth_blockNumber')) as string)

  test('keeps the hold of a seller who was paid', async () => {
    const { id } = await pay('/v2/500')
    await seller.settle('/v2/500')
    const before = await wallet()
    relay.behave(lagging((await newest()) - 1n, ['eth_getBlockByNumber']))
    await world.expire(450)
    expect(await payment(id)).toMatchObject({ status: 'pending' })
    expect(await wallet()).toEqual(before)
    relay.behave(honest)
    await world.expire(10)
    expect(await payment(id)).toMatchObject({ status: 'settled' })
    expect((await wallet()).totalSpent).toBeCloseTo(before.totalSpent + 0.25, 6)
    expect(await service.ledger.differences()).toEqual([])
  })

  test('counts leftover money as spare once the nodes agree that it arrived', async () => {
    const before = await newest()
    const { id, payer } = await pay('/v1/500')
    relay.behave(lagging(before, ['eth_getBlockByNumber']))
    await world.expire(450)
    expect(await payment(id)).toMatchObject({ status: 'pending' })
    relay.behave(honest)
    await world.expire(10)
    expect(await payment(id)).toMatchObject({ status: 'returned', reason: 'expired' })
    const spare = await service.database.statements.run('SELECT spare FROM spending_payer WHERE address = $1', [payer])
    expect(spare).toEqual([{ spare: await usdcOf(chain, payer) }])
  })

  test('keeps the hold of a payment whose funding a node hides', async () => {
    const other = await world.person()
    const of = async (id: string) => (await other.call('GET', `/v1/pay/${id}`)).body.payment as Record<string, unknown>
    relay.behave(hiding(await newest()))
    const answer = other.call('POST', '/v1/pay', { body: { url: seller.url('/v2/500'), maxAmount: 1 } })
    const { id, payer } = await until(async () => {
      const [begun] = (await other.call('GET', '/v1/pay')).body.payments as { id: string; payer: `0x${string}` }[]
      return begun !== undefined && (await usdcOf(chain, begun.payer)) === 250_000n && begun
    })
    await world.expire(4_000)
    expect(await of(id)).toMatchObject({ status: 'pending' })
    relay.behave(honest)
    await world.expire(10)
    await world.expire(4_000)
    const returned = await of(id)
    expect(returned).toMatchObject({ status: 'returned' })
    const spare = await service.database.statements.run('SELECT spare FROM spending_payer WHERE address = $1', [payer])
    expect([returned['reason'], spare]).toEqual(['not_signed', [{ spare: 250_000n }]])
    expect((await answer).status).toBeGreaterThanOrEqual(400)
    expect(await service.ledger.differences()).toEqual([])
  })

  test('finds a payment that was made although two nodes hid it, and counts it as a loss of the operator', async () => {
    const before = await newest()
    const { id, payer } = await pay('/mpp/500')
    await seller.settle('/mpp/500')
    for (const node of [relay, second]) node.behave(hiding(before))
    await world.expire(450)
    expect(await payment(id)).toMatchObject({ status: 'returned', reason: 'expired' })
    for (const node of [relay, second]) node.behave(honest)
    await world.expire(3_600)
    const [row] = await service.database.statements.run(
      'SELECT lost_block, tx_hash FROM spending_payment WHERE id = $1',
      [id],
    )
    expect(row).toEqual({ lost_block: expect.any(BigInt), tx_hash: (await payment(id))['txHash'] })
    const spare = await service.database.statements.run('SELECT spare FROM spending_payer WHERE address = $1', [payer])
    expect(spare).toEqual([{ spare: await usdcOf(chain, payer) }])
    const payers = createPayerBooks(service.database.statements)
    const lost = async (block: bigint) =>
      await service.database.statements.together(async (inside) => {
        return (await payers.books('base-sepolia', block, inside)).lost
      })
    expect(await lost(await newest())).toBe(250_000n)
    expect(await lost(before)).toBe(0n)
    expect((await service.call('GET', '/metrics')).text).toContain('event="outgoing_payment_lost"} 1')
    await world.expire(3_600)
    expect(await lost(await newest())).toBe(250_000n)
  })

  test('is looked at once in a turn, however long that takes, so that those that were given back have theirs', async () => {
    const { clock, database } = service
    const { id } = await pay('/v2/500')
    const copies = `INSERT INTO spending_payment SELECT (jsonb_populate_record(p, to_jsonb(p) || jsonb_build_object(
      'id', p.id || n, 'nonce', '0x' || encode(sha256((p.nonce || n)::bytea), 'hex'), 'look_at', $2::timestamptz) ||
      CASE n WHEN 1 THEN '{"state": "returned", "reason": "expired"}' ELSE '{}' END::jsonb ||
      jsonb_build_object('ended_at', CASE n WHEN 1 THEN $2::timestamptz END))).*
      FROM spending_payment p, generate_series(1, 300) n WHERE id = $1`
    const began = clock.now()
    await database.statements.run(copies, [id, began])
    // So that the first ones are due again before the last ones have been looked at.
    clock.now = () => {
      clock.forward(100)
      return TestClock.prototype.now.call(clock)
    }
    await service.outgoingPayments.reconcile()
    Reflect.deleteProperty(clock, 'now')
    const unseen = 'SELECT id FROM spending_payment WHERE starts_with(id, $1) AND look_at <= $2'
    expect(await database.statements.run(unseen, [id, began])).toEqual([])
    await database.statements.run('DELETE FROM spending_payment WHERE starts_with(id, $1) AND id <> $1', [id])
  })
})
