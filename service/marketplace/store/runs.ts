import type { StatementPool } from '../../kit/transaction.ts'
import type { RunStore } from '../ports/run.ts'
import { claimRun, countWaiting, handOnRun, lostRuns, runningRunsOf } from './runs/open.ts'
import { findRun, findRunOf, listRuns, listCustomerRuns, runDays, statesOf } from './runs/read.ts'
import { foldStats } from './runs/stats.ts'
import { writeRuns } from './runs/write.ts'

export function createRunStore(statements: StatementPool): RunStore {
  return {
    write: writeRuns,
    find: (id) => findRun(statements, id),
    findOf: (asker, id) => findRunOf(statements, asker, id),
    list: (asker, filter) => listRuns(statements, asker, filter),
    listOfCustomers: (creator, rda, filter) => listCustomerRuns(statements, creator, rda, filter),
    days: (owner, since) => runDays(statements, owner, since),
    states: (ids) => statesOf(statements, ids),
    claim: (id, process, now) => claimRun(statements, id, process, now),
    runningOf: (processes, ids) => runningRunsOf(statements, processes, ids),
    handOn: (id, process) => handOnRun(statements, id, process),
    waiting: (owner, most) => countWaiting(statements, owner, most),
    lost: (now, limit) => lostRuns(statements, now, limit),
    foldStats: () => foldStats(statements),
  }
}
