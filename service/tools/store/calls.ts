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
    figures: (scope, now) => readFigures(statements, scope, now),
    forget: (now) => forgetFigures(statements, now),
    takeFailing: (now, limit) => takeFailing(statements, now, limit),
    recovered: (toolId) => recovered(statements, toolId),
  }
}
