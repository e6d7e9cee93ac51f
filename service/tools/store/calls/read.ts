import type { ErrorCode } from '../../../kit/error-codes/catalogue.ts'
import { Batch } from '../../../kit/batch.ts'
import type { Owner } from '../../../kit/owner.ts'
import { byId, totalOf } from '../../../kit/total.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { CallId, CallSummary, Output, StoredCall } from '../../model/call.ts'
import type { CallStore } from '../../ports/calls.ts'

export function createCallReads(statements: Statements): Pick<CallStore, 'find' | 'list'> {
  // Answers may be large.
  const finds = new Batch<Wanted, StoredCall | null>({ largest: 64, run: findAll })

  async function findAll(wanted: readonly Wanted[]): Promise<(StoredCall | null)[]> {
    const columns = (['id', 'userId', 'environment', 'agentId'] as const).map((name) => wanted.map((one) => one[name]))
    const rows = await statements.run<Row & AnswerRow & { place: bigint }>(FIND, columns, 'tool_call_find')
    const found = new Map(rows.map(({ place, ...row }) => [Number(place), toStored(row)]))
    return wanted.map((_, index) => found.get(index + 1) ?? null)
  }

  return {
    /** Another user's or agent's call counts as missing, and the query takes equally long. */
    find: (owner, id, agentId = null) => finds.add({ ...owner, id, agentId }),

    /** Newest first: ids begin with their creation time. */
    async list({ userId, environment }, { agentId, tool, limit, offset }) {
      const values = [userId, environment, agentId, tool]
      const [rows, total] = await Promise.all([
        statements.run<Row>(LIST, [...values, limit, offset], 'tool_call_list'),
        agentId === null && tool === null
          ? totalOf(statements, { from: ALL, values: [userId, environment], ...byId('call') })
          : countSome(statements, values),
      ])
      return { calls: rows.map(fromRow), total }
    },
  }
}

async function countSome(statements: Statements, values: readonly unknown[]): Promise<number> {
  const text = `SELECT count(*) AS total FROM tool_call c ${MINE}`
  const [row] = await statements.run<{ total: bigint }>(text, values, 'tool_call_count')
  return Number(row?.total ?? 0n)
}

const COLUMNS = `
c.id, c.environment, c.user_id AS "userId", c.agent_id AS "agentId", c.tool_id AS "toolId", c.slug, c.provider, c.cost,
c.error_code AS code, c.error AS sentence, c.attempt, c.duration_ms AS "durationMs", c.ended_at AS "endedAt"`

const MINE = `
WHERE c.user_id = $1 AND c.environment = $2::environment
  AND ($3::text IS NULL OR c.agent_id = $3) AND ($4::text IS NULL OR c.slug = $4)`

const ALL = 'tool_call WHERE user_id = $1 AND environment = $2::environment'
const LIST = `SELECT ${COLUMNS} FROM tool_call c ${MINE} ORDER BY c.id DESC LIMIT $5 OFFSET $6`

interface Wanted extends Owner {
  id: CallId
  agentId: string | null
}

// OFFSET 0 keeps each look-up a probe of the index, also in the plan of a young database.
const FIND = `
SELECT ask.place, found.*
FROM unnest($1::text[], $2::text[], $3::environment[], $4::text[]) WITH ORDINALITY AS ask(id, user_id, environment, agent_id, place),
LATERAL (
  SELECT ${COLUMNS}, a.kind, a.value, a.pages, a.operation AS sealed, a.ask_at AS "askAt"
  FROM tool_call c LEFT JOIN tool_answer a ON a.call_id = c.id
  WHERE c.id = ask.id AND c.user_id = ask.user_id AND c.environment = ask.environment
    AND (ask.agent_id IS NULL OR c.agent_id = ask.agent_id) OFFSET 0
) found`

type Row = Omit<CallSummary, 'failure'> & { code: string | null; sentence: string | null }

interface AnswerRow {
  /** Null when there is no answer. Otherwise as `writeCalls` wrote it. */
  kind: Output['kind'] | null
  value: unknown
  pages: Output['pages'] | null
  sealed: string | null
  askAt: Date | null
}

function toStored({ kind, value, pages, sealed, askAt, ...call }: Row & AnswerRow): StoredCall {
  const operation = sealed === null || askAt === null ? null : { sealed, askAt }
  const output = { kind, value, ...(pages === null ? null : { pages }) }
  return { ...fromRow(call), output: kind === null ? null : (output as Output), operation }
}

function fromRow({ code, sentence, ...call }: Row): CallSummary {
  return { ...call, failure: code === null ? null : { code: code as ErrorCode, sentence: sentence ?? '' } }
}
