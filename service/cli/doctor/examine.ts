import { ConfigError, type Config } from '../../config.ts'
import { examineAddresses } from './addresses.ts'
import { examineChains } from './chain.ts'
import { examineDatabase } from './database.ts'
import { examineMachine } from './machine.ts'
import { fault, fine, reasonOf, type Examine, type Finding } from './model.ts'
import { examineRedis } from './redis.ts'
import { examineSelling } from './selling.ts'

/** Everything about one deployment, whatever is broken: no check waits for another, and none takes the others down. */
export async function examine(read: () => Config): Promise<Examination> {
  let config: Config
  try {
    config = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: null, findings: error.faults.map((sentence) => fault('settings', `${sentence}.`)) }
  }
  const patient = { config, now: () => Date.now() }
  const looked = CHECKS.map(async ([name, look]) => {
    try {
      return await look(patient)
    } catch (error) {
      return [fault(name, `Could not be examined: ${reasonOf(error)}`)]
    }
  })
  return { config, findings: [fine('settings', 'All are well formed.'), ...(await Promise.all(looked)).flat()] }
}

export interface Examination {
  /** Null where it cannot even be read. */
  config: Config | null
  findings: readonly Finding[]
}

const CHECKS: readonly [string, Examine][] = [
  ['database', examineDatabase],
  ['redis', examineRedis],
  ['chain', examineChains],
  ['addresses', examineAddresses],
  ['machine', examineMachine],
  ['selling', examineSelling],
]
