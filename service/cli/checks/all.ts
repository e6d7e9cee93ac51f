import { cleaner } from '../../api/log.ts'
import { ConfigError, secretsOf, type Config } from '../../config.ts'
import { checkAddresses } from './addresses.ts'
import { checkChains } from './chain.ts'
import { checkDatabase } from './database.ts'
import { checkMachine } from './machine.ts'
import { fault, fine, reasonOf, warning, type Check, type Finding } from './model.ts'
import { checkRedis } from './redis.ts'
import { checkSelling } from './selling.ts'
import { checkMail } from './upkeep.ts'

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
  const misspelt = config.misspelt.map((sentence) => warning('settings', sentence))
  const settings = [fine('settings', 'All are well formed.'), ...misspelt]
  return { config, findings: [...settings, ...(await Promise.all(results)).flat()] }
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
  ['mail', checkMail],
]

const MARKS = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' } as const

/** A line for each fault, and how to see the rest. Empty where there is no fault. */
function faultLines({ config, findings }: DoctorReport): string {
  const clean = cleaner(config === null ? [] : secretsOf(config))
  const lines = findings
    .filter(({ level }) => level === 'fault')
    .map(({ check, says }) => `${MARKS.fault}  ${check}: ${says}`)
  return lines.length === 0 ? '' : clean([...lines, 'More, with the warnings: npm run doctor', ''].join('\n'))
}

/** Prints the faults after the start of a live server. The server takes requests meanwhile, and no fault stops it. */
export function tellFaults(config: Config): void {
  void runChecks(() => config).then(
    (report) => process.stderr.write(faultLines(report)),
    () => undefined,
  )
}

/** Prints a sentence for each finding. Returns the exit code: 1 when something will lose or refuse work. */
export function printReport({ config, findings }: DoctorReport, asJson: boolean): number {
  // Words of other programs are repeated here, and they may repeat an address with its password.
  const clean = cleaner(config === null ? [] : secretsOf(config))
  const faults = findings.filter(({ level }) => level === 'fault').length
  const warnings = findings.filter(({ level }) => level === 'warning').length
  if (asJson) {
    console.log(clean(JSON.stringify({ ok: faults === 0, faults, warnings, findings }, null, 2)))
  } else {
    for (const { check, level, says } of findings) console.log(clean(`${MARKS[level]}  ${check}: ${says}`))
    console.log(`\n${String(faults)} faults, ${String(warnings)} warnings.`)
  }
  return faults === 0 ? 0 : 1
}
