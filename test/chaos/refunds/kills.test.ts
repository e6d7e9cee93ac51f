import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import type { Hex } from '../../../service/chain/model.ts'
import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { REFUND_STATES, type RefundState } from '../../../service/refunds/model.ts'
import { findRefundDifferences } from '../../../service/refunds/store.ts'
import { until, usdcOf } from '../../facilitator/world.ts'
import { addSale } from '../../refunds/sales.ts'
import { startWorker } from '../../wallet/processes.ts'
import { liveSettings, openWorld, send, type Depositor, type World } from '../../wallet/world.ts'
import { chanceOf } from '../system/chance.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 40)
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000))
/** Each kill waits until a refund is in the next of these states. */
const STATES = ['requested', 'funded', 'sent', 'confirmed'] as const satisfies readonly RefundState[]
const PRICE = 1_000_000

interface SaleToRefund {
  sale: string
  payer: Hex
  /** Of the refunds that were asked for, all together. */
  due: bigint
}

test(
  `${String(KILLS)} kills of the worker in every state of a refund, with seed ${String(SEED)}: each is paid once`,
  async () => {
    const world = await openWorld({
      ...{ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0', WITHDRAWALS_PER_DAY: '0' },
      REFUNDS_PER_DAY: '0',
    })
    const chance = chanceOf(SEED)
    const { chain, service } = world
    const { statements } = service.database
    const { url } = service.testDatabase
    const environment = {
      ...(await liveSettings(chain)),
      ...{ LOG_LEVEL: 'silent', DATABASE_URL: url, DATABASE_POOL: '10', DATA_DIR: '/tmp', PORT: '0' },
      ROLES: 'worker,facilitator',
    }
    const [rich, poor] = [await world.person(), await world.person()]
    await send(chain, [
      { to: service.wallets.treasury()!, value: 1_000_000_000n },
      { to: rich.address, value: 500_000_000n },
    ])
    await chain.mine(3)
    await world.watch()
    let over = false
    const mining = (async () => {
      while (!over) {
        await chain.mine(1)
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
    })()
    const sales: SaleToRefund[] = []
    const killed: Partial<Record<RefundState, number>> = {}
    const missed: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const state = STATES[kill % STATES.length]!
      const worker = startWorker({ work: 'everything', environment, url })
      await worker.ready
      const ids = [await requestRefund(rich, BigInt(chance.whole(100_000, PRICE))), await requestRefund(rich, null)]
      // Without a balance it waits; the balance comes after the kill.
      ids.push(await requestRefund(poor, null))
      await hurry()
      const deadline = Date.now() + 30_000
      while (!(await statesOf(ids)).includes(state) && Date.now() < deadline) await pause(5)
      await pause(chance.whole(0, 50))
      const found = await statesOf(ids)
      worker.child.kill('SIGKILL')
      await worker.dead
      for (const one of found) killed[one] = (killed[one] ?? 0) + 1
      if (Date.now() >= deadline) missed.push(`kill ${String(kill)}: no refund became ${state}: ${found.join()}`)
      await send(chain, [{ to: poor.address, value: BigInt(PRICE) }])
    }
    const last = startWorker({ work: 'everything', environment, url })
    await until(async () => {
      await hurry()
      const open = await statements.run(`SELECT 1 FROM refund WHERE ended_at IS NULL`, [])
      return open.length === 0
    })
    over = true
    await mining
    last.child.kill('SIGKILL')
    await last.dead
    process.stdout.write(`  ${JSON.stringify({ seed: SEED, kills: KILLS, refunds: sales.length, inStates: killed })}\n`)
    expect(missed).toEqual([])
    await audit(world, sales)
    await world.close()

    /** A sale of this seller, and a refund of it: asked for again under the same name, and never beyond the price. */
    async function requestRefund(seller: Depositor, amount: bigint | null): Promise<string> {
      const payer = toHex(randomBytes(20))
      const sale = await addSale(service, seller, { payer, amount: PRICE, recipient: seller.address })
      sales.push({ sale, payer, due: amount ?? BigInt(PRICE) })
      const operation = newId('op', service.clock.now())
      const refund = { saleId: sale, reason: null, by: 'seller', owner: null } as const
      const sum = amount === null ? null : usdc(amount)
      const { id } = await service.refunds.request({ ...refund, amount: sum }, operation)
      expect((await service.refunds.request({ ...refund, amount: sum }, operation)).id).toBe(id)
      const more = usdc(BigInt(PRICE) - (amount ?? BigInt(PRICE)) + 1n)
      const beyond = service.refunds.request({ ...refund, amount: more }, newId('op', service.clock.now()))
      await expect(beyond).rejects.toThrow()
      return id
    }

    /** Of these, and of those of earlier rounds that have not ended: a balance may reach a younger refund first. */
    async function statesOf(ids: readonly string[]): Promise<RefundState[]> {
      const rows = await statements.run<{ state: RefundState }>(
        'SELECT state::text AS state FROM refund WHERE id = ANY($1) OR ended_at IS NULL',
        [ids],
      )
      return rows
        .map(({ state }) => state)
        .sort((one, other) => REFUND_STATES.indexOf(one) - REFUND_STATES.indexOf(other))
    }

    /** Refunds that wait for a balance are tried again at once. */
    async function hurry(): Promise<void> {
      await statements.run(`UPDATE refund SET try_at = now() WHERE state = 'requested' AND try_at > now()`, [])
    }
  },
  300_000 + KILLS * 40_000,
)

/** Every payer has exactly what was refunded, and the books agree with the chain. */
async function audit({ service, chain, mine, watch }: World, sales: readonly SaleToRefund[]): Promise<void> {
  const { statements } = service.database
  for (const { sale, payer, due } of sales) {
    const [row] = await statements.run<{ refunded: bigint; confirmed: bigint; count: bigint }>(
      `SELECT s.refunded, sum(r.amount)::bigint AS confirmed, count(*) AS count
       FROM sale s JOIN refund r ON r.sale_id = s.id AND r.state = 'confirmed' WHERE s.id = $1 GROUP BY s.id`,
      [sale],
    )
    expect([sale, row?.refunded, row?.confirmed, row?.count]).toEqual([sale, due, due, 1n])
    expect([sale, await usdcOf(chain, payer)]).toEqual([sale, due])
  }
  await mine(3)
  await watch()
  expect(await service.ledger.differences()).toEqual([])
  expect(await findRefundDifferences(statements)).toEqual([])
  expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
