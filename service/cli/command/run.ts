import { ConfigError, type Config } from '../../config.ts'
import { attachOrStart } from '../../database/embedded/database.ts'
import { openDatabase, type Database } from '../../database/client.ts'
import { DomainError } from '../../kit/errors.ts'

/** Runs a command. What an operator can mend is one sentence; anything else is printed whole. */
export async function runCommand(
  main: (args: string[]) => Promise<number>,
  { exitCodeOf = () => 2 }: { exitCodeOf?: (error: unknown) => number } = {},
): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof ConfigError || error instanceof DomainError ? error.message : error)
    process.exitCode = exitCodeOf(error)
  }
}

/** With the database of this machine's service, whether that runs or not. */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database, url: string) => Promise<T>,
): Promise<T> {
  const embedded = config.DATABASE_URL === undefined ? await attachOrStart({ dataDir: config.DATA_DIR }) : null
  const url = config.DATABASE_URL ?? embedded?.url ?? ''
  const database = openDatabase({ url, poolMax: 2 })
  try {
    return await work(database, url)
  } finally {
    await database.close()
    await embedded?.stop()
  }
}
