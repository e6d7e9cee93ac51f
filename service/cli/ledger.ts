import { ConfigError, readConfig } from '../config.ts'
import { attachOrStart } from '../database/embedded.ts'
import { openDatabase } from '../database/client.ts'
import { findDifferences } from '../ledger/store/check.ts'

/** `npm run ledger -- check`: recomputes every figure from the postings; exits 1 on any difference. */
async function main(command: string | undefined): Promise<number> {
  if (command !== 'check') {
    console.error('Say what to do: npm run ledger -- check')
    return 2
  }
  const config = readConfig(process.env)
  const embedded = config.DATABASE_URL === undefined ? await attachOrStart({ dataDir: config.DATA_DIR }) : null
  const database = openDatabase({ url: config.DATABASE_URL ?? embedded?.url ?? '', poolMax: 2 })
  try {
    // One snapshot for all checks, so that a busy ledger is as consistent as a quiet one.
    const differences = await database.transaction(findDifferences, {
      timeoutMs: 600_000,
      isolationLevel: 'RepeatableRead',
    })
    for (const { subject, figure, recorded, recomputed } of differences) {
      console.error(`${subject}: ${figure} is recorded as ${recorded}, recomputed as ${recomputed}`)
    }
    const [counted] = await database.statements.run<{ movements: bigint; postings: bigint; accounts: bigint }>(
      `SELECT (SELECT count(*) FROM ledger_movement) AS movements, (SELECT count(*) FROM ledger_posting) AS postings,
              (SELECT count(*) FROM ledger_account) AS accounts`,
      [],
    )
    console.log(
      `${String(counted?.accounts)} accounts, ${String(counted?.movements)} movements, ${String(counted?.postings)} postings: ` +
        (differences.length === 0 ? 'the ledger is sound.' : `${String(differences.length)} differences.`),
    )
    return differences.length === 0 ? 0 : 1
  } finally {
    await database.close()
    await embedded?.stop()
  }
}

try {
  process.exitCode = await main(process.argv[2])
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exitCode = 2
}
