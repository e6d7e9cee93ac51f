import { faultLines, runChecks } from '../cli/checks/all.ts'
import type { Config } from '../config.ts'

/**
 * What would lose or refuse work, for whoever has just started a live server. The service takes requests meanwhile, and
 * a check that fails does not stop it.
 */
export function tellFaults(config: Config): void {
  void runChecks(() => config).then(
    (report) => process.stderr.write(faultLines(report)),
    () => undefined,
  )
}
