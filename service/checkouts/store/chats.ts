import type { StatementPool } from '../../kit/transaction.ts'
import type { ChatStore } from '../stores.ts'
import { HISTORY_TURNS, turnFrom, TURNS_OF_ACCOUNT, type TurnRow } from '../rules/chat.ts'

/** The turns of chats. */
export function chats(statements: StatementPool): ChatStore {
  return {
    async addTurn(inside, { saleId, passId, owner: { userId, environment }, now }) {
      await inside.run(ADD, [saleId, passId, userId, environment, now], 'chat_turn_add')
    },

    async turnLoad(inside, { saleId, passId, owner: { userId, environment } }, { working, recent }) {
      const values = [saleId, passId, working, recent, userId, environment]
      const [row] = await inside.run<LoadRow>(LOAD, values, 'chat_turn_load')
      if (row === undefined) throw new Error('a chat has no load')
      return { isWorking: row.working, ofPass: Number(row.ofPass), ofAccount: Number(row.ofAccount) }
    },

    async turnOf(inside, saleId) {
      const [row] = await inside.run<{ passId: string; number: number }>(TURN, [saleId], 'chat_turn_of')
      return row ?? null
    },

    async turnsOf(inside, passId, before) {
      const on: Pick<StatementPool, 'run'> = inside ?? statements
      return (await on.run<TurnRow>(TURNS, [passId, before], 'chat_turns')).map(turnFrom)
    },
  }
}

interface LoadRow {
  working: boolean
  ofPass: bigint
  ofAccount: bigint
}

// The pass is locked by its run or its purchase, so no other transaction adds a turn of it.
const ADD = `
INSERT INTO chat_turn (sale_id, pass_id, number, user_id, environment, created_at)
SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4::environment, $5 FROM chat_turn WHERE pass_id = $2
ON CONFLICT (sale_id) DO NOTHING`

// Until it is answered: its sale has begun, and its delivery may still come, or come again.
const LOAD = `
SELECT
  EXISTS (
    SELECT 1 FROM chat_turn t JOIN sale s ON s.id = t.sale_id
    WHERE t.pass_id = $2 AND t.sale_id <> $1 AND t.created_at > $3 AND (
      s.state IN ('claimed', 'settling') OR (s.state = 'paid' AND s.result IS NULL AND EXISTS (
        SELECT 1 FROM delivery d WHERE d.subject = s.id AND d.state IN ('pending', 'claimed'))))
  ) AS working,
  (SELECT count(*) FROM chat_turn WHERE pass_id = $2 AND created_at > $4) AS "ofPass",
  (SELECT count(*) FROM (
    SELECT 1 FROM chat_turn WHERE user_id = $5 AND environment = $6::environment AND created_at > $4
    LIMIT ${TURNS_OF_ACCOUNT}
  ) AS turns) AS "ofAccount"`

const TURN = `SELECT pass_id AS "passId", number FROM chat_turn WHERE sale_id = $1`

const TURNS = `
SELECT t.number, t.sale_id AS "saleId", t.created_at AS "createdAt", s.details -> 'input' ->> 'message' AS message,
  s.state AS "saleState", s.result ->> 'status' AS outcome,
  s.result ->> 'answer' AS reported,
  d.state AS "deliveryState", a.answer AS answered
FROM (
  SELECT * FROM chat_turn WHERE pass_id = $1 AND ($2::int IS NULL OR number < $2) ORDER BY number DESC
  LIMIT ${HISTORY_TURNS}
) AS t
JOIN sale s ON s.id = t.sale_id
LEFT JOIN LATERAL (
  SELECT id, state FROM delivery WHERE subject = t.sale_id ORDER BY created_at DESC, id DESC LIMIT 1
) AS d ON true
LEFT JOIN LATERAL (
  SELECT answer FROM delivery_attempt WHERE delivery_id = d.id AND d.state = 'delivered' ORDER BY id DESC LIMIT 1
) AS a ON true
ORDER BY t.number`
