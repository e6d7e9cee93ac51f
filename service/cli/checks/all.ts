import { ConfigError, type Config } from '../../config.ts'
import { checkAddresses } from './addresses.ts'
import { checkChains } from './chain.ts'
import { checkDatabase } from './database.ts'
import { checkMachine } from './machine.ts'
import { fault, fine, reasonOf, type Check, type Finding } from './model.ts'
import { checkRedis } from './redis.ts'
import { checkSelling } from './selling.ts'

/** All checks of one deployment. None waits for another, and a failing one does not stop the others. */
export async function runChecks(read: () => Config): Promise<DoctorReport> {
  let config: Config
  try {
    config = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: null, findings: error.faults.map((sentence) => fault('settings', `${sentence}.`)) }
  }
  const context = { config, now: () => Date.now() }
  const results = CHECKS.map(async ([name, check]) => {
    try {
      return await check(context)
    } catch (error) {
      return [fault(name, `Could not be checked: ${reasonOf(error)}`)]
    }
  })
  return { config, findings: [fine('settings', 'All are well formed.'), ...(await Promise.all(results)).flat()] }
}

export interface DoctorReport {
  /** Null where it could not be read. */
  config: Config | null
  findings: readonly Finding[]
}

const CHECKS: readonly [string, Check][] = [
  ['database', checkDatabase],
  ['redis', checkRedis],
  ['chain', checkChains],
  ['addresses', checkAddresses],
  ['machine', checkMachine],
  ['selling', checkSelling],
]
