import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { guestHooks } from '../../../service/marketplace/service/guests.ts'
import { createRunStore } from '../../../service/marketplace/store/runs/runs.ts'
import { findRefundDifferences } from '../../../service/refunds/store.ts'
import type { Sale } from '../../../service/sales/model.ts'
import type { TestAccount } from '../../harness/chain.ts'
import { submit } from '../../harness/wallet.ts'
import { until, usdcOf } from '../../facilitator/world.ts'
import { guestWorld, type GuestWorld } from './guest-world.ts'

describe('runs of assets that guests buy', () => {
  let world: GuestWorld
  let well: boolean
  let slug: string
  beforeAll(async () => {
    // The refunds of all guests leave one wallet, so what may leave an account does not bind them.
    const limits = { WITHDRAWAL_LIMIT_PER_DAY: '0.3', REFUNDS_PER_DAY: '20' }
    world = await guestWorld({ PLATFORM_FEE_BPS: '1000', DEPOSIT_CONFIRMATIONS: '1', ...limits })
    slug = await world.agent({}, { slug: 'guests-agent', inputSchema: INPUTS })
  })
  beforeEach(() => {
    well = false
    world.server.on('/agent', () => ({ body: well ? DONE : { status: 'failed', error: 'no' } }))
  })
  afterAll(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
    await world.close()
  })

  /** A payment whose run failed, so that nothing was charged; a stranger then submits its authorization. */
  async function submitted(payer: TestAccount): Promise<Proof> {
    const payment = await world.payFor(slug, payer)
    const failed = await world.runAsGuest(slug, undefined, payment)
    expect(failed.status).toBe(500)
    await submit(world.chain, Object.values(payment)[0]!)
    return { 'X-Payment-ID': String(failed.body.paymentId), 'X-Payment-Token': String(failed.body.paymentToken) }
  }

  /** What went back of the payment, once it is on the chain. */
  async function returned(payer: TestAccount): Promise<bigint> {
    return await until(async () => {
      await world.chain.mine(3)
      await world.service.wallets.payouts.stepAll(new AbortController().signal)
      const balance = await usdcOf(world.chain, payer.address)
      // Nor does it change the books of the next test.
      const open = "SELECT id FROM wallet_withdrawal WHERE state IN ('pending', 'submitted')"
      const isOver = (await world.service.database.statements.run(open, [])).length === 0
      return balance === 1_000_000n && isOver && balance
    })
  }

  const refundsOf = async ({ 'X-Payment-ID': id }: Proof) =>
    await world.service.database.statements.run<{ state: string; amount: bigint }>(
      'SELECT state, amount FROM refund WHERE sale_id = $1',
      [id],
    )

  test('are refunded from the platform when they were paid first and failed', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const proof = await submitted(payer)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    const before = await world.wallet(world.creator)
    const failed = await world.runAsGuest(slug, undefined, proof)
    expect([failed.status, failed.body]).toEqual([
      500,
      expect.objectContaining({ code: 'agent_failed', paid: true, refunded: true, paymentId: proof['X-Payment-ID'] }),
    ])
    expect(failed.body.error).toMatch(/The payment goes back to its payer\.$/)
    well = true
    const late = await world.runAsGuest(slug, undefined, proof)
    expect([late.status, late.body.code, late.body.output]).toEqual([409, 'payment_refunded', undefined])
    expect(await returned(payer)).toBe(1_000_000n)
    await world.service.ledger.sweep()
    expect(await world.wallet(world.creator)).toMatchObject({
      balance: before.balance,
      totalLocked: before.totalLocked,
    })
    await until(async () => (await refundsOf(proof))[0]?.state === 'confirmed')
    expect(await refundsOf(proof)).toEqual([{ state: 'confirmed', amount: 250_000n }])
  })

  test('pay their creator where the money came first and the run succeeded', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const proof = await submitted(payer)
    const before = await world.wallet(world.creator)
    well = true
    const done = await world.runAsGuest(slug, undefined, proof)
    expect([done.status, done.body.output]).toEqual([200, 'done'])
    expect((await world.wallet(world.creator)).balance).toBeCloseTo(before.balance + 0.225, 6)
    expect(await refundsOf(proof)).toEqual([])
  })

  test('do not pay a second time for a run that was charged out of a hold of its own', async () => {
    const { ledger, database } = world.service
    const proof = await submitted(await world.chain.payer(1_000_000n))
    well = true
    expect((await world.runAsGuest(slug, undefined, proof)).status).toBe(200)
    const [run] = await database.statements.run<{ id: string }>(
      "SELECT id FROM run WHERE status = 'succeeded' AND cost = 250000 LIMIT 1",
      [],
    )
    const before = (await world.wallet(world.creator)).balance
    // A sale of the version before, which held and charged the run's money by itself.
    const sale = {
      id: 'pay_before',
      environment: 'sandbox',
      amount: usdc(250_000n),
      userId: world.creator.caller.user.id,
      details: { runId: run!.id, share: '225000' },
    } as unknown as Sale
    const hooks = guestHooks({ ledger, runs: createRunStore(database.statements) })
    await database.statements.together((inside) => hooks.paid!(inside, sale, null))
    expect((await world.wallet(world.creator)).balance).toBe(before)
  })

  test('are not sold for what they cost before their failure, and are once they cost that again', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.payFor(slug, payer)
    expect((await world.runAsGuest(slug, undefined, payment)).status).toBe(500)
    const reprice = async (amount: number) => {
      const pricing = { model: 'per-run', amount }
      const changed = await world.creator.call('PATCH', `/v1/rda/${slug}`, { body: { pricing } })
      expect(changed.status).toBe(200)
    }
    well = true
    await reprice(0.5)
    const refused = await world.runAsGuest(slug, undefined, payment)
    expect([refused.status, refused.body.amount]).toEqual([402, '0.5'])
    expect(refused.body.reason).toMatch(/value_mismatch$/)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    await reprice(0.25)
    expect((await world.runAsGuest(slug, undefined, payment)).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
  })

  test('promise a balance once: two that begin at once are not both worked for', async () => {
    const payer = await world.chain.payer(250_000n)
    let requests = 0
    let release: (() => void) | undefined
    const both = new Promise<void>((resolve) => (release = resolve))
    world.server.on('/slow', async () => {
      requests++
      await both
      return { body: DONE }
    })
    const slow = await world.agent(
      { webhookUrl: world.server.url('/slow') },
      { slug: 'guests-slow', inputSchema: INPUTS },
    )
    const payments = [await world.payFor(slow, payer), await world.payFor(slow, payer)] as const
    const first = world.runAsGuest(slow, undefined, payments[0])
    await until(() => Promise.resolve(requests === 1))
    const second = await world.runAsGuest(slow, undefined, payments[1])
    expect([second.status, second.body.reason]).toEqual([402, 'invalid_exact_evm_insufficient_balance'])
    release?.()
    expect((await first).status).toBe(200)
    expect(requests).toBe(1)
  })

  test('promise a balance once also when payments are sent again whose runs have failed', async () => {
    const payer = await world.chain.payer(300_000n)
    const [one, two] = [await world.payFor(slug, payer), await world.payFor(slug, payer)]
    for (const payment of [one, two]) expect((await world.runAsGuest(slug, undefined, payment)).status).toBe(500)
    let requests = 0
    let open: (() => void) | undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    world.server.on('/agent', async () => {
      requests++
      await opened
      return { body: DONE }
    })
    const first = world.runAsGuest(slug, undefined, one)
    await until(() => Promise.resolve(requests === 1))
    const second = await world.runAsGuest(slug, undefined, two)
    expect([second.status, second.body.reason]).toEqual([402, 'invalid_exact_evm_insufficient_balance'])
    expect(requests).toBe(1)
    open?.()
    expect((await first).status).toBe(200)
    // Refused, it stays what it was: with enough money it runs.
    await world.chain.fund(payer.address, 250_000n)
    expect((await world.runAsGuest(slug, undefined, two)).status).toBe(200)
    expect([requests, await usdcOf(world.chain, payer.address)]).toEqual([2, 0n])
  })

  test('are not begun again for a wallet that has left another run unpaid meanwhile', async () => {
    const payer = await world.chain.payer(1_000_000n)
    let requests = 0
    world.server.on('/agent', () => ({ body: requests++ === 0 ? { status: 'failed', error: 'no' } : DONE }))
    const released = await world.payFor(slug, payer)
    expect((await world.runAsGuest(slug, undefined, released)).status).toBe(500)
    world.server.on('/left', async () => {
      await world.chain.fund(payer.address, 0n)
      return { body: DONE }
    })
    const agent = { webhookUrl: world.server.url('/left') }
    const left = await world.agent(agent, { slug: 'guests-left', inputSchema: INPUTS })
    expect((await world.runAsGuest(left, undefined, await world.payFor(left, payer))).status).toBe(402)
    await world.chain.fund(payer.address, 1_000_000n)
    const barred = await world.runAsGuest(slug, undefined, released)
    expect([barred.status, barred.body.code]).toEqual([403, 'payer_defaulted'])
    expect([requests, await usdcOf(world.chain, payer.address)]).toEqual([1, 1_000_000n])
  })

  test('come first for a wallet with code too: its failed run costs nothing', async () => {
    const owner = await world.chain.payer(0n)
    const address = await world.chain.wallet('owned', { owner: owner.address, usdc: 1_000_000n })
    const payment = await world.payFor(slug, owner, { terms: { from: address } })
    const failed = await world.runAsGuest(slug, undefined, payment)
    expect([failed.status, failed.body.code]).toEqual([500, 'agent_failed'])
    expect(await usdcOf(world.chain, address)).toBe(1_000_000n)
    well = true
    const done = await world.runAsGuest(slug, undefined, payment)
    expect([done.status, done.body.output]).toEqual([200, 'done'])
    expect(await usdcOf(world.chain, address)).toBe(750_000n)
  })

  /** Paid, its money with the guests, and its process gone before its run, as the version before left it. */
  async function unfetched(payer: TestAccount): Promise<Proof> {
    const proof = await submitted(payer)
    const [sale] = await world.service.database.statements.run<{ amount: bigint }>(
      "UPDATE sale SET state = 'paid', tx_hash = $2, ended_at = $3 WHERE id = $1 RETURNING amount",
      [proof['X-Payment-ID'], `0x${'ab'.repeat(32)}`, world.service.clock.now()],
    )
    const owner = { userId: 'usr_guests', environment: 'sandbox' } as const
    const id = `sale.${proof['X-Payment-ID']}`
    await world.service.ledger.credit({
      id,
      kind: 'deposit',
      owner,
      amount: sale!.amount as never,
      reference: id,
      act: id,
    })
    expect(await refundsOf(proof)).toEqual([])
    return proof
  }

  test('are refunded by the sweeper when a paid run is never fetched', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const proof = await unfetched(payer)
    world.service.clock.forward(11 * 60_000)
    expect(await returned(payer)).toBe(1_000_000n)
    expect(await refundsOf(proof)).toHaveLength(1)
    well = true
    const late = await world.runAsGuest(slug, undefined, proof)
    expect([late.status, late.body.code]).toEqual([409, 'payment_refunded'])
  })

  test('are refunded by no request before the run has ended, so nothing is taken from its creator', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const { 'X-Payment-ID': id } = await unfetched(payer)
    const books = async () => {
      const seen = ['usr_guests', world.creator.caller.user.id].map((userId) =>
        world.service.ledger.wallet({ userId, environment: 'sandbox' }),
      )
      return (await Promise.all(seen)).map((wallet) => wallet?.funds)
    }
    const before = await books()
    const refused = await world.creator.call('POST', `/v1/payments/${id}/refund`, { body: { reason: 'Sorry' } })
    expect(refused).toMatchObject({ status: 409, body: { code: 'run_under_way' } })
    expect(await books()).toEqual(before)
    world.service.clock.forward(11 * 60_000)
    expect(await returned(payer)).toBe(1_000_000n)
  })

  test('are refunded by the sweeper, however many refunds of earlier ones have failed or are refused', async () => {
    const { database, clock } = world.service
    const payer = await world.chain.payer(1_000_000n)
    const { 'X-Payment-ID': id } = await unfetched(payer)
    const earlier = Array.from({ length: 120 }, () => newId('pay', clock.now()))
    const copied = `INSERT INTO sale SELECT (jsonb_populate_record(s, to_jsonb(s) || jsonb_build_object(
      'id', c.id, 'digest', sha256(c.id::bytea), 'network', CASE WHEN c.place > 60 THEN 'base' ELSE s.network END,
      'result', '{"status":"failed"}'::json, 'ended_at', s.ended_at - interval '1 hour'))).*
      FROM sale s, unnest($2::text[]) WITH ORDINALITY AS c(id, place) WHERE s.id = $1`
    await database.statements.run(copied, [id, earlier])
    const failed = `INSERT INTO refund (id, sale_id, user_id, environment, amount, reason, requested_by, way, state, created_at)
      SELECT replace(id, 'pay_', 'rfd_'), id, user_id, environment, amount, '', 'rule', 'wallet', 'requested', $2
      FROM sale WHERE id = ANY ($1) AND network <> 'base'`
    await database.statements.run(failed, [earlier, clock.now()])
    const end = `UPDATE refund SET state = 'failed', failure = 'treasury_short', ended_at = $2 WHERE sale_id = ANY ($1)`
    await database.statements.run(end, [earlier, clock.now()])
    clock.forward(11 * 60_000)
    expect(await returned(payer)).toBe(1_000_000n)
  })

  test('are refunded in the number of their creator’s refunds of a day, and after it on the next', async () => {
    const { database, clock } = world.service
    const now = clock.now()
    // As many as are left of the day.
    await database.statements.run(
      `INSERT INTO outflow (id, environment, user_id, kind, recipient, amount, at)
       SELECT 'rfd_day_' || n, 'sandbox', $1, 'refund', decode(repeat('11', 20), 'hex'), 0, $2 FROM generate_series(1, 20) n`,
      [world.creator.caller.user.id, now],
    )
    const payer = await world.chain.payer(1_000_000n)
    const proof = await submitted(payer)
    expect((await world.runAsGuest(slug, undefined, proof)).status).toBe(500)
    const waits = () =>
      database.statements.run('SELECT state, waits_for FROM refund WHERE sale_id = $1', [proof['X-Payment-ID']])
    expect(await waits()).toEqual([{ state: 'requested', waits_for: 'quota_exceeded' }])
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    clock.forward(24 * 3_600_000 + 60_000)
    await world.service.refunds.retryDue(clock.now(), new AbortController().signal)
    expect(await returned(payer)).toBe(1_000_000n)
  })
})

type Proof = { 'X-Payment-ID': string; 'X-Payment-Token': string }

const DONE = { status: 'completed', output: 'done' }
const INPUTS = [{ name: 'say', label: 'Say', type: 'text', required: true }]
