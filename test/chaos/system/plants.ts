import type { StatementPool, Statements } from '../../../service/kit/transaction.ts'
import { check } from './checker.ts'
import type { Evidence } from './evidence.ts'
import type { Act } from './journal.ts'

/** A fault that the checker has to find: in the ledger, or in the evidence. */
export interface Plant {
  name: string
  /** Several statements; each has to change something. */
  sql?: readonly string[]
  evidence?: (evidence: Evidence) => Evidence
}

/** Returns the checker's findings. It happens in a transaction that never commits, so nothing is left. */
export async function plant(
  { sql = [], evidence = (collected) => collected }: Plant,
  statements: StatementPool,
  collected: Evidence,
): Promise<string[]> {
  let problems: string[] = []
  const undo = new Error('undone')
  await statements
    .together(async (inside) => {
      await inside.run(DISARM, [])
      for (const text of sql) await changes(inside, text)
      problems = await check(inside, evidence(collected))
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return problems
}

async function changes(inside: Statements, text: string): Promise<void> {
  const rows = await inside.run(`${text} RETURNING 1`, [])
  if (rows.length === 0) throw new Error(`nothing was planted by: ${text}`)
}

/** The tables defend themselves against what is done to them here: by triggers, by checks and by what is granted. */
const DISARM = `
DO $$
DECLARE each record;
BEGIN
  FOR each IN SELECT conname, conrelid::regclass AS name FROM pg_constraint
    WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conparentid = 0
  LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', each.name, each.conname); END LOOP;
  FOR each IN SELECT oid::regclass AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
  LOOP
    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', each.name);
    EXECUTE format('GRANT ALL ON %s TO CURRENT_USER', each.name);
  END LOOP;
END $$`

const one = (table: string, where: string, id = 'id'): string =>
  `${id} = (SELECT ${id} FROM ${table} WHERE ${where} LIMIT 1)`

export const PLANTS: readonly Plant[] = [
  {
    name: 'a posting is gone',
    sql: [`DELETE FROM ledger_posting WHERE sequence = (SELECT max(sequence) FROM ledger_posting)`],
  },
  {
    name: 'a posting is larger',
    sql: [
      `UPDATE ledger_posting SET available = available + 1 WHERE sequence = (SELECT max(sequence) FROM ledger_posting)`,
    ],
  },
  {
    name: 'a balance is larger',
    sql: [`UPDATE ledger_account SET available = available + 1 WHERE ${one('ledger_account', `kind = 'wallet'`)}`],
  },
  {
    name: 'a lock is open again',
    sql: [`UPDATE ledger_hold SET state = 'open', captured = 0 WHERE ${one('ledger_hold', `state = 'captured'`)}`],
  },
  { name: 'a run is gone whose price was taken', sql: [`DELETE FROM run WHERE ${one('run', `status = 'succeeded'`)}`] },
  {
    name: 'a run costs more than was taken',
    sql: [`UPDATE run SET cost = cost + 1 WHERE ${one('run', `status = 'succeeded'`)}`],
  },
  {
    name: 'a failed run has its price taken',
    sql: [`UPDATE run SET status = 'failed', output = NULL WHERE ${one('run', `status = 'succeeded'`)}`],
  },
  {
    name: 'a paid checkout has no delivery',
    sql: [`DELETE FROM delivery WHERE ${one('delivery', `subject LIKE 'pay_%'`)}`],
  },
  {
    name: 'a paid checkout has two deliveries',
    sql: [
      `INSERT INTO delivery SELECT (jsonb_populate_record(d, jsonb_build_object('id', d.id || 'x'))).* FROM delivery d WHERE d.subject LIKE 'pay_%' LIMIT 1`,
    ],
  },
  {
    name: 'a delivery waits',
    sql: [
      `UPDATE delivery SET state = 'pending', delivered_at = NULL, due_at = now() WHERE ${one('delivery', `state = 'delivered'`)}`,
    ],
  },
  {
    name: 'a payment is paid for nothing',
    sql: [
      `UPDATE facilitator_settlement SET nonce = sha256(nonce) WHERE ${one('sale JOIN facilitator_settlement USING (digest)', `sale.state = 'paid'`, 'digest')}`,
    ],
  },
  {
    name: 'a paid one failed',
    sql: [
      `UPDATE sale SET state = 'failed', reason = 'planted', tx_hash = NULL WHERE ${one('sale', `product = 'checkout' AND state = 'paid'`)}`,
    ],
  },
  {
    name: 'a settlement is forgotten',
    sql: [
      `UPDATE facilitator_settlement SET state = 'failed', tx_hash = NULL WHERE ${one('facilitator_settlement', `state = 'settled'`, 'digest')}`,
    ],
  },
  {
    name: 'a deposit is forgotten',
    sql: [`DELETE FROM wallet_deposit WHERE ${one('wallet_deposit', 'true', 'transaction_hash')}`],
  },
  {
    name: 'a deposit is there twice',
    sql: [
      `INSERT INTO wallet_deposit SELECT (jsonb_populate_record(d, jsonb_build_object('place', d.place + 1000))).* FROM wallet_deposit d LIMIT 1`,
    ],
  },
  {
    name: 'a withdrawal failed that was paid out',
    sql: [`UPDATE wallet_withdrawal SET state = 'failed' WHERE ${one('wallet_withdrawal', `state = 'confirmed'`)}`],
  },
  {
    name: 'a paid call came back that was settled',
    sql: [`UPDATE spending_payment SET state = 'returned' WHERE ${one('spending_payment', `state = 'settled'`)}`],
  },
  {
    name: 'a prepaid balance is larger',
    sql: [`UPDATE paywall_balance SET available = available + 1 WHERE ${one('paywall_balance', 'true', 'payer')}`],
  },
  { name: 'a draw is gone', sql: [`DELETE FROM paywall_draw WHERE ${one('paywall_draw', 'true', 'call')}`] },
  {
    name: 'a call of a tool is gone',
    sql: [`DELETE FROM tool_call WHERE ${one('tool_call', 'user_id IS NOT NULL AND error_code IS NULL')}`],
  },
  {
    name: 'an announcement waits',
    sql: [`UPDATE outbox SET done_at = NULL WHERE ${one('outbox', 'done_at IS NOT NULL')}`],
  },
  {
    name: 'the chain lost a payment',
    evidence: (collected) => ({ ...collected, used: new Map([...collected.used].slice(1)) }),
  },
  { name: 'a payer is poorer', evidence: (collected) => ({ ...collected, usdc: less(collected.usdc) }) },
  { name: 'the workflow never heard', evidence: (collected) => ({ ...collected, accepted: new Map() }) },
  {
    name: 'a client was told another run',
    evidence: withReply('run', (body) => ({ ...body, runId: `${String(body['runId'])}0` })),
  },
  {
    name: 'a client got another answer',
    evidence: withReply('tool', (body) => ({ ...body, output: { echo: 'another' } })),
  },
  {
    name: 'a client was told of a payment that failed',
    evidence: withReply('checkout', (body) => ({
      ...body,
      payment: { ...(body['payment'] as object), status: 'failed' },
    })),
  },
  {
    name: 'a withdrawal that nobody knows',
    evidence: withReply('withdraw', () => ({ withdrawal: { id: 'wdr_none' } })),
  },
]

function less(all: ReadonlyMap<string, bigint>): Map<string, bigint> {
  return new Map([...all].map(([address, amount], place) => [address, place === 0 ? amount - 1n : amount]))
}

/** Changes the first success of this kind. */
function withReply(
  kind: Act['kind'],
  change: (body: Record<string, unknown>) => unknown,
): NonNullable<Plant['evidence']> {
  return (collected) => {
    const victim = collected.acts.find((act) => act.kind === kind && act.final?.status === 200)
    if (victim === undefined) throw new Error(`no ${kind} succeeded`)
    const { final } = victim
    const lie = final === null ? null : { ...final, body: change(final.body as Record<string, unknown>) }
    const acts = collected.acts.map((act) =>
      act === victim && lie !== null ? { ...act, replies: [...act.replies, lie] } : act,
    )
    return { ...collected, acts }
  }
}
