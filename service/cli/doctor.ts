import { readConfig, secretsOf } from '../config.ts'
import { cleaner } from '../api/log.ts'
import { runChecks } from './checks/all.ts'

const MARKS = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' } as const

/**
 * `npm run doctor`: looks at a deployment with the very settings that its processes get, changes nothing, and says in
 * a sentence each what is wrong. Exits 1 when something will lose or refuse work, 0 with warnings alone.
 */
const { config, findings } = await runChecks(() => readConfig(process.env))
// Words of other programs are repeated here, and they may repeat an address with its password.
const clean = cleaner(config === null ? [] : secretsOf(config))
const faults = findings.filter(({ level }) => level === 'fault').length
const warnings = findings.filter(({ level }) => level === 'warning').length
if (process.argv.includes('--json')) {
  console.log(clean(JSON.stringify({ ok: faults === 0, faults, warnings, findings }, null, 2)))
} else {
  for (const { check, level, says } of findings) console.log(clean(`${MARKS[level]}  ${check}: ${says}`))
  console.log(`\n${String(faults)} faults, ${String(warnings)} warnings.`)
}
process.exitCode = faults === 0 ? 0 : 1
