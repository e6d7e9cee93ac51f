import { readConfig } from '../config.ts'
import { printReport, runChecks } from './checks/all.ts'

/**
 * `npm run doctor`: looks at a deployment with the very settings that its processes get, changes nothing, and says in
 * a sentence each what is wrong. Exits 1 when something will lose or refuse work, 0 with warnings alone.
 */
process.exitCode = printReport(await runChecks(() => readConfig(process.env)), process.argv.includes('--json'))
