import type { StatementPool } from '../../kit/transaction.ts'
import type { CallStore } from '../ports/calls.ts'
import { foldFigures, forgetFigures, readFigures, recovered, takeFailing } from './calls/figures.ts'
import { findCall, listCalls } from './calls/read.ts'
import { writeCalls } from './calls/write.ts'

export function createCallStore(statements: StatementPool): CallStore {
  return {
    write: writeCalls,
    async note(call) {
      await writeCalls(statements, [call])
    },
    find: (owner, id) => findCall(statements, owner, id),
    list: (owner, filter) => listCalls(statements, owner, filter),
    foldFigures: () => foldFigures(statements),
    figures: (environment, now) => readFigures(statements, environment, now),
    async forget(now) {
      await statements.run('DELETE FROM tool_answer WHERE created_at < $1', [new Date(now.getTime() - KEPT_MS)])
      await forgetFigures(statements, now)
    },
    takeFailing: (now, limit) => takeFailing(statements, now, limit),
    recovered: (toolId) => recovered(statements, toolId),
  }
}

/** As long as the names of requests are kept. */
const KEPT_MS = 26 * 3_600_000
