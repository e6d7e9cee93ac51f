import { ConfigError, type Config } from '../../config.ts'
import { checkAddresses } from './addresses.ts'
import { checkChains } from './chain.ts'
import { checkDatabase } from './database.ts'
import { checkMachine } from './machine.ts'
import { fault, fine, reasonOf, type Examine, type Finding } from './model.ts'
import { checkRedis } from './redis.ts'
import { checkSelling } from './selling.ts'

/** Everything about one deployment, whatever is broken: no check waits for another, and none takes the others down. */
export async function runChecks(read: () => Config): Promise<DoctorReport> {
  let config: Config
  try {
    config = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: null, findings: error.faults.map((sentence) => fault('settings', `${sentence}.`)) }
  }
  const context = { config, now: () => Date.now() }
  const looked = CHECKS.map(async ([name, look]) => {
    try {
      return await look(context)
    } catch (error) {
      return [fault(name, `Could not be examined: ${reasonOf(error)}`)]
    }
  })
  return { config, findings: [fine('settings', 'All are well formed.'), ...(await Promise.all(looked)).flat()] }
}

export interface DoctorReport {
  /** Null where it cannot even be read. */
  config: Config | null
  findings: readonly Finding[]
}

const CHECKS: readonly [string, Examine][] = [
  ['database', checkDatabase],
  ['redis', checkRedis],
  ['chain', checkChains],
  ['addresses', checkAddresses],
  ['machine', checkMachine],
  ['selling', checkSelling],
]
