import { newestMarks, sealedText, type Tables } from '../../../kit/tables.ts'
import type { StatementPool } from '../../../kit/transaction.ts'
import type { CallStore } from '../../ports/calls.ts'
import { createCallReads } from './read.ts'
import { createToolStats } from './stats.ts'
import { ANSWER_KEPT_MS } from '../../rules/operation.ts'
import { createOperations, writeCalls } from './write.ts'

/** What a provider's secrets are bound to. The platform's own have no owner. */
const PROVIDER = `'tool-provider/' || t.environment || '/' || coalesce(nullif(t.owner_id, ''), 'platform') || '/' || t.slug`

export const toolsTables: Tables = {
  sealed: [
    sealedText('tool_provider', 'credentials', PROVIDER),
    sealedText('tool_provider', 'oauth_secret', `${PROVIDER} || '/oauth'`),
    sealedText('tool_answer', 'operation', `'tool-operation/' || t.call_id`),
  ],
  retention: () => ({
    tool: { kept: 'one for each tool: a removed one says so to its callers (of an account the last 1,000)' },
    tool_provider: { kept: 'one for each provider' },
    tool_collection: { kept: 'one for each collection' },
    tool_import: { kept: 'one for each account that imports tools, rewritten in each hour' },
    tool_catalogue: { kept: 'one for each environment' },
    tool_health: { kept: 'one for each tool' },
    tool_call: { kept: "the caller's history, and what each charge was for" },
    tool_answer: {
      keptMs: ANSWER_KEPT_MS,
      age: 'created_at',
      key: [
        ['created_at', 'timestamptz'],
        ['call_id', 'text'],
      ],
      says: 'Answers of paid calls, as long as the name of their request. The call stays.',
    },
    tool_delta: { ends: 'folded into tool_figure every second (tools.figures)' },
    tool_figure: { ends: 'a week later (tools.forget)' },
  }),
  changes: {
    tools: [newestMarks('tool_call', 'attempt, error_code', 20)],
  },
}

export function createCallStore(statements: StatementPool): CallStore {
  return {
    ...createCallReads(statements),
    ...createToolStats(statements),
    ...createOperations(statements),
    write: writeCalls,
    async note(call) {
      await writeCalls(statements, [call])
    },
  }
}
