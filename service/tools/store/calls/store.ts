import type { StatementPool } from '../../../kit/transaction.ts'
import type { CallStore } from '../../ports/calls.ts'
import { createCallReads } from './read.ts'
import { createToolStats } from './stats.ts'
import { writeCalls } from './write.ts'

export function createCallStore(statements: StatementPool): CallStore {
  return {
    ...createCallReads(statements),
    ...createToolStats(statements),
    write: writeCalls,
    async note(call) {
      await writeCalls(statements, [call])
    },
  }
}
