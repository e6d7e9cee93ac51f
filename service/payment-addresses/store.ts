import type { Choice } from '../checkouts/model.ts'
import { fromDecimal, toDecimal, usdc } from '../kit/money.ts'
import { fromRow, inTurns, toBytes, toHex, withOwner, type RowOf } from '../kit/rows.ts'
import type { Owner } from '../kit/owner.ts'
import { ageOf, BOOKS, DAY_MS, type Tables } from '../kit/tables.ts'
import type { StatementPool } from '../kit/transaction.ts'
import { addressMissing, tooManyAddresses } from './errors.ts'
import type { AddressReturn, Bought, PaymentAddress } from './model.ts'
import type { PaymentAddressStore } from './ports.ts'
import { OPEN_MAX, REQUESTED_LOOK_MS, ROOM_AFTER_MS } from './rules.ts'

export function createPaymentAddressStore(statements: StatementPool): PaymentAddressStore {
  return {
    async add({ id, owner: { userId, environment }, account, derive, ...wanted }) {
      return await statements.together(async (inside) => {
        await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 11))', [`${userId} ${environment}`])
        const known = one(await inside.run<Row>(FIND, [id], 'payment_address_find'))
        if (known !== null) return known
        const { createdAt: now, expiresAt, checkoutId, network, amount, bought } = wanted
        const [counted] = await inside.run<{ open: bigint }>(OPEN, [userId, environment], 'payment_address_count')
        if (Number(counted?.open ?? 0n) >= OPEN_MAX) {
          const before = new Date(now.getTime() - ROOM_AFTER_MS)
          const room = await inside.run<{ id: string }>(MAKE_ROOM, [userId, environment, before, now])
          if (room.length === 0) throw tooManyAddresses()
        }
        const [next] = await inside.run<{ index: bigint }>(
          `SELECT nextval('payment_address_index_seq') AS index`,
          [],
          'payment_address_index',
        )
        const index = Number(next?.index)
        const address = toBytes(derive(index))
        const about = [id, userId, environment, checkoutId, network, account, index, address, amount]
        const added = one(
          await inside.run<Row>(
            ADD,
            [...about, JSON.stringify(toStored(bought)), expiresAt, now],
            'payment_address_add',
          ),
        )
        if (added === null) throw new Error('a new payment address was not stored')
        return added
      })
    },

    async idsOf(addresses) {
      if (addresses.length === 0) return new Map()
      const text = 'SELECT * FROM payment_address WHERE address = ANY ($1)'
      const rows = await statements.run<Row>(text, [addresses.map(toBytes)], 'payment_address_ids')
      return new Map(rows.map(toAddress).map(({ address, id }) => [address, id]))
    },
    find: async (id) => one(await statements.run<Row>(FIND, [id], 'payment_address_find')),
    due: async (network, now, limit) =>
      (await statements.run<Row>(DUE, [network, now, limit], 'payment_address_due')).map(toAddress),

    async lookSoon(id, now) {
      const before = new Date(now.getTime() - REQUESTED_LOOK_MS)
      await statements.run(LOOK_SOON, [id, now, before], 'payment_address_look_soon')
    },

    async looked({ id, state, attempt }, { balance, lookAt, now, fromBlock, searchTo }) {
      const values = [id, balance, lookAt, now, state, attempt, fromBlock, searchTo]
      await statements.run(LOOKED, values, 'payment_address_looked')
    },

    async unsearched(network, since, limit) {
      const rows = await statements.run<Row>(UNSEARCHED, [network, since, limit], 'payment_address_unsearched')
      return rows.map((row) => ({ ...toAddress(row), searchTo: BigInt(row.search_to ?? 0) }))
    },
    async sentBy({ id, fromBlock: before }, { senders, upTo }) {
      await statements.run(SENT_BY, [id, before, senders.map(toBytes), upTo], 'payment_address_sent_by')
    },

    async begin({ id, attempt }, validBefore) {
      // The lock decides between the order's payment and a return of the same moment.
      return await statements.together(async (inside) => {
        await inside.run<Row>(LOCK, [id], 'payment_address_lock')
        return one(await inside.run<Row>(BEGIN, [id, attempt, validBefore], 'payment_address_begin'))
      })
    },

    async end({ id, state: from, attempt }, { state, reason, balance, now }) {
      const values = [id, from, state, reason, now, balance, attempt]
      return one(await statements.run<Row>(END, values, 'payment_address_end'))
    },

    async reopen({ id, attempt }, reason) {
      await statements.run(REOPEN, [id, attempt, reason], 'payment_address_reopen')
    },

    async note({ id, state }, reason) {
      await statements.run(NOTE, [id, state, reason], 'payment_address_note')
    },

    ...returns(statements),
  }
}

/** What goes back to buyers. */
function returns(
  statements: StatementPool,
): Pick<PaymentAddressStore, 'returnsOf' | 'openReturns' | 'addReturn' | 'endReturn'> {
  return {
    async returnsOf(id) {
      return (await statements.run<ReturnRow>(RETURNS, [id], 'payment_address_returns')).map(toReturn)
    },

    async openReturns(network, account, limit) {
      const rows = await statements.run<ReturnRow>(
        OPEN_RETURNS,
        [network, account, limit],
        'payment_address_open_returns',
      )
      const places = await statements.run<Row>(
        'SELECT * FROM payment_address WHERE id = ANY ($1)',
        [rows.map((row) => row.address_id)],
        'payment_address_of_returns',
      )
      const byId = new Map(places.map((row) => [row.id, toAddress(row)]))
      return rows.flatMap((row) => {
        const place = byId.get(row.address_id as PaymentAddress['id'])
        return place === undefined ? [] : [{ place, sent: toReturn(row) }]
      })
    },

    async addReturn({ id, since }, check) {
      return await statements.together(async (inside) => {
        const of = one(await inside.run<Row>(LOCK, [id], 'payment_address_lock'))
        if (of === null) throw addressMissing()
        const before = (await inside.run<ReturnRow>(RETURNS, [id], 'payment_address_returns')).map(toReturn)
        const values = [of.owner.userId, of.owner.environment, since]
        const [recent] = await inside.run<{ returns: bigint }>(RECENT, values)
        const made = check(of, before, Number(recent?.returns ?? 0n))
        const { recipient, amount, nonce, validBefore, createdAt: now, closes } = made
        const end = [id, 'open', 'closed', closes, now, null, of.attempt]
        if (of.state === 'open') await inside.run(END, end, 'payment_address_end')
        const terms = [id, toBytes(recipient), amount, toBytes(nonce), validBefore, now]
        const [row] = await inside.run<ReturnRow>(ADD_RETURN, terms, 'payment_address_add_return')
        if (row === undefined) throw new Error('a return was not stored')
        return toReturn(row)
      })
    },

    async endReturn({ id }, { state, hash, now }) {
      await statements.run(
        END_RETURN,
        [id, state, hash === null ? null : toBytes(hash), now],
        'payment_address_end_return',
      )
    },
  }
}

function one(rows: readonly Row[]): PaymentAddress | null {
  return rows[0] === undefined ? null : toAddress(rows[0])
}

interface StoredBought extends Omit<Bought, 'choice'> {
  choice: Choice<string>
}

function toStored({ choice: { amount, ...choice }, ...bought }: Bought): StoredBought {
  return { ...bought, choice: amount === undefined ? choice : { ...choice, amount: toDecimal(amount) } }
}

function fromStored({ choice: { amount, ...choice }, ...bought }: StoredBought): Bought {
  return { ...bought, choice: amount === undefined ? choice : { ...choice, amount: fromDecimal(amount) } }
}

type Row = RowOf<Omit<PaymentAddress, 'owner' | 'address' | 'bought' | 'amount' | 'balance' | 'senders'>> &
  RowOf<Owner> & { address: Buffer; bought: StoredBought; amount: bigint; balance: bigint; senders: Buffer[] }
type ReturnRow = RowOf<Omit<AddressReturn, 'recipient' | 'nonce' | 'transactionHash' | 'amount'>> & {
  recipient: Buffer
  nonce: Buffer
  transaction_hash: Buffer | null
  amount: bigint
}

function toAddress(row: Row): PaymentAddress {
  const { address, bought, amount, balance, senders, ...rest } = withOwner(fromRow(row))
  const money = { amount: usdc(amount), balance: usdc(balance) }
  return { ...rest, ...money, address: toHex(address), senders: senders.map(toHex), bought: fromStored(bought) }
}

function toReturn(row: ReturnRow): AddressReturn {
  const { recipient, nonce, transactionHash, amount, ...rest } = fromRow(row)
  const hash = transactionHash === null ? null : toHex(transactionHash)
  return { ...rest, amount: usdc(amount), recipient: toHex(recipient), nonce: toHex(nonce), transactionHash: hash }
}

const FIND = 'SELECT * FROM payment_address WHERE id = $1'
const LOCK = 'SELECT * FROM payment_address WHERE id = $1 FOR UPDATE'

const OPEN = `
SELECT count(*) AS open FROM payment_address WHERE user_id = $1 AND environment = $2::environment AND state IN ('open', 'paying')`

// Those that never had money, the oldest first. They stay watched, as every closed one. Money may have come to one that nobody
// has looked at for a while.
const MAKE_ROOM = `
UPDATE payment_address SET state = 'closed', reason = 'expired', ended_at = $4
WHERE id IN (
  SELECT id FROM payment_address
  WHERE user_id = $1 AND environment = $2::environment AND state = 'open' AND balance = 0 AND attempt = 0 AND created_at < $3
    AND looked_at > $4::timestamptz - interval '2 minutes'
  ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)
RETURNING id`

const ADD = `
INSERT INTO payment_address
  (id, user_id, environment, checkout_id, network, account, index, address, amount, bought, expires_at, created_at, looked_at, look_at)
VALUES ($1, $2, $3::environment, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $12, $12) RETURNING *`

const DUE = `
SELECT * FROM payment_address
WHERE id IN (${inTurns('payment_address', { where: 'network = $1 AND look_at <= $2', by: 'look_at' })} LIMIT $3)`

const LOOK_SOON = `
UPDATE payment_address SET look_at = $2 WHERE id = $1 AND looked_at < $3 AND (look_at IS NULL OR look_at > $2)`

// A balance from a block before the last return still counts what has gone back, and a node may be some blocks late: it is
// read again. So is one that was read before another process began or ended the payment, or just after it was paid.
const LOOKED = `
WITH seen AS (
  SELECT (p.state, p.attempt) IS DISTINCT FROM ($5::payment_address_state, $6::int) AS has_changed,
    (p.state = 'paid' AND p.ended_at > $4::timestamptz - interval '15 seconds' AND $2 > p.balance)
      OR EXISTS (SELECT FROM payment_address_return r WHERE r.address_id = $1 AND r.ended_at > $4::timestamptz - interval '15 seconds') AS is_old
  FROM payment_address p WHERE p.id = $1 FOR UPDATE)
UPDATE payment_address a
SET balance = CASE WHEN seen.is_old OR seen.has_changed THEN a.balance ELSE $2 END,
  look_at = CASE WHEN seen.is_old THEN $4 + interval '15 seconds' WHEN seen.has_changed THEN $4 ELSE $3::timestamptz END,
  from_block = CASE WHEN seen.is_old OR seen.has_changed OR a.search_to IS NOT NULL THEN a.from_block ELSE coalesce($7::bigint, a.from_block) END,
  search_to = CASE WHEN NOT seen.has_changed THEN coalesce($8::bigint, a.search_to)
    WHEN a.from_block > $8 THEN a.search_to ELSE greatest($8, a.search_to) END,
  looked_at = $4
FROM seen WHERE a.id = $1`

const UNSEARCHED = `
SELECT * FROM payment_address WHERE id IN (${inTurns('payment_address', {
  where: 'network = $1 AND search_to IS NOT NULL AND (ended_at IS NULL OR ended_at >= $2)',
  by: '-search_to',
})} LIMIT $3)`

const SENT_BY = `
UPDATE payment_address SET senders = $3::bytea[], from_block = $4::bigint + 1, search_to = nullif(search_to, $4)
WHERE id = $1 AND from_block IS NOT DISTINCT FROM $2::bigint`

const BEGIN = `
UPDATE payment_address SET state = 'paying', attempt = attempt + 1, valid_before = $3
WHERE id = $1 AND state = 'open' AND attempt = $2
  AND NOT EXISTS (SELECT FROM payment_address_return r WHERE r.address_id = $1 AND r.state = 'open')
RETURNING *`

const END = `
UPDATE payment_address SET state = $3::payment_address_state, reason = $4, ended_at = $5, balance = coalesce($6, balance)
WHERE id = $1 AND state = $2::payment_address_state AND attempt = $7 RETURNING *`

const REOPEN = `UPDATE payment_address SET state = 'open', reason = $3 WHERE id = $1 AND state = 'paying' AND attempt = $2`

const NOTE = `
UPDATE payment_address SET reason = $3
WHERE id = $1 AND state = $2::payment_address_state AND reason IS DISTINCT FROM $3`

const RETURNS = 'SELECT * FROM payment_address_return WHERE address_id = $1 ORDER BY id'

// Without those that failed: where USDC refuses the recipient, a stranger can have any number of them for nothing.
const RECENT = `
SELECT count(*) AS returns FROM payment_address_return r JOIN payment_address a ON a.id = r.address_id
WHERE r.created_at > $3 AND r.state <> 'failed' AND a.user_id = $1 AND a.environment = $2::environment`

const OPEN_RETURNS = `
SELECT r.* FROM (
  SELECT o.id, row_number() OVER (PARTITION BY a.user_id, a.environment ORDER BY o.id) AS turn
  FROM payment_address_return o JOIN payment_address a ON a.id = o.address_id
  WHERE o.state = 'open' AND a.network = $1 AND a.account = $2
) t JOIN payment_address_return r ON r.id = t.id ORDER BY t.turn, r.id LIMIT $3`

const ADD_RETURN = `
INSERT INTO payment_address_return (address_id, recipient, amount, nonce, valid_before, created_at)
VALUES ($1, $2, $3, $4, $5, $6) RETURNING *`

// What has gone back is not at the address any more, until it is read again.
const END_RETURN = `
WITH ended AS (
  UPDATE payment_address_return SET state = $2::address_return_state, transaction_hash = $3, ended_at = $4
  WHERE id = $1 AND state = 'open' RETURNING address_id, amount, state)
UPDATE payment_address a
SET look_at = $4, balance = CASE WHEN ended.state = 'settled' THEN greatest(0, a.balance - ended.amount) ELSE a.balance END
FROM ended WHERE a.id = ended.address_id`

export const paymentAddressTables: Tables = {
  retention: () => ({
    payment_address: {
      keptMs: 90 * DAY_MS,
      age: 'ended_at',
      key: [
        ['ended_at', 'timestamptz'],
        ['id', 'text'],
      ],
      among: `state = 'closed'`,
      unless:
        "t.balance > 0 OR t.attempt > 0 OR t.looked_at < t.ended_at + interval '90 days' OR EXISTS (SELECT FROM payment_address_return r WHERE r.address_id = t.id)",
      says: 'Addresses at which no money arrived. The others stay, with what was paid and returned.',
    },
    payment_address_return: { kept: BOOKS },
  }),
  metrics: [
    {
      declared: [
        {
          name: 'coinslot_payment_addresses_open',
          help: 'Orders that wait for a transfer or are paid from one',
          labels: ['state'],
        },
        {
          name: 'coinslot_payment_address_overdue_seconds',
          help: 'How long an authorization of such an order is over without an end; investigate beyond 600',
          labels: [],
        },
        { name: 'coinslot_payment_address_returns_open', help: 'Returns to buyers that are not on chain', labels: [] },
      ],
      sql: `SELECT 'coinslot_payment_addresses_open', state::text, NULL, count(*)::float8
  FROM payment_address WHERE state IN ('open', 'paying') GROUP BY state
UNION ALL SELECT 'coinslot_payment_address_overdue_seconds', NULL, NULL, coalesce(${ageOf('to_timestamp(min(valid_before))')}, 0)
  FROM payment_address WHERE state = 'paying'
UNION ALL SELECT 'coinslot_payment_address_returns_open', NULL, NULL, count(*)::float8
  FROM payment_address_return WHERE state = 'open'`,
    },
  ],
}
