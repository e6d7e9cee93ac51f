import { randomBytes } from 'node:crypto'
import type { Clock } from '../../service/kit/clock.ts'
import { newId } from '../../service/kit/ids.ts'
import type { Environment } from '../../service/kit/owner.ts'
import type { Escrow } from '../../service/sales/model.ts'
import type { TestPerson, TestService } from '../harness/service.ts'

interface SaleRow {
  product: 'checkout' | 'gate' | 'asset' | 'tool'
  subject: string
  state: 'claimed' | 'released' | 'settling' | 'paid' | 'failed'
  /** In micro-dollars. */
  amount: number
  network: 'base' | 'base-sepolia'
  recipient: string
  payer: string
  simulated: boolean
  /** Null: one of the platform's own tools. */
  userId: string | null
  environment: Environment
  details: Readonly<Record<string, unknown>>
  escrow: Escrow | null
}

const ENDED = new Set(['paid', 'failed'])

/** A sale as it is in the database once it has come that far. Answers its id. */
export async function addSale(
  service: Pick<TestService, 'database'> & { clock: Clock },
  { caller }: Pick<TestPerson, 'caller'>,
  over: Partial<SaleRow> = {},
): Promise<string> {
  const now = service.clock.now()
  const id = newId(over.product === 'tool' ? 'call' : 'pay', now)
  const network = caller.environment === 'production' ? 'base' : 'base-sepolia'
  const sale: SaleRow = {
    ...{ product: 'checkout', subject: 'chk_none', state: 'paid', amount: 1_000_000, simulated: false },
    ...{ network, userId: caller.user.id, environment: caller.environment, details: {}, escrow: null },
    ...{ recipient: `0x${'a1'.repeat(20)}`, payer: `0x${randomBytes(20).toString('hex')}`, ...over },
  }
  await service.database.statements.run(
    `INSERT INTO sale (id, product, subject, user_id, environment, state, amount, network, recipient, payer, simulated,
       digest, request, input_hash, details, tx_hash, reason, created_at, ended_at, escrow)
     VALUES ($1, $2::sale_product, $3, $4, $5::environment, $6::sale_state, $7, $8, $9, $10, $11, $12, $13::json, $14, $15::json, $16, $17, $18, $19, $20::json)`,
    [
      ...[id, sale.product, sale.subject, sale.userId, sale.environment, sale.state, sale.amount, sale.network],
      ...[sale.recipient, sale.payer, sale.simulated],
      ...(sale.simulated ? [null, null] : [randomBytes(32), '{}']),
      ...[randomBytes(32), JSON.stringify(sale.details)],
      sale.state !== 'paid' ? null : sale.simulated ? `simulated:${id}` : `0x${randomBytes(32).toString('hex')}`,
      sale.state === 'failed' ? 'invalid_exact_evm_insufficient_balance' : null,
      ...[now, ENDED.has(sale.state) ? now : null, sale.escrow === null ? null : JSON.stringify(sale.escrow)],
    ],
  )
  return id
}

/** A person with so many play dollars. */
export async function rich(service: TestService, amount: number): Promise<TestPerson> {
  const person = await service.person()
  await person.call('POST', '/v1/wallet/deposit', { body: { amount } })
  return person
}

export function refund(person: Pick<TestPerson, 'call'>, sale: string, body: object, headers = {}) {
  return person.call('POST', `/v1/payments/${sale}/refund`, { body: { reason: 'Not as described', ...body }, headers })
}

/** Does what a worker does with refunds: takes up those that wait, and pays those that are funded. */
export async function work({ refunds, wallets, clock }: TestService): Promise<void> {
  const { signal } = new AbortController()
  await refunds.retryDue(clock.now(), signal)
  await wallets.payouts.stepAll(signal)
}
