import { ConfigError, type Config } from '../../config.ts'
import { attachOrStart } from '../../database/embedded/database.ts'
import { assertNotNewer } from '../../database/migrate.ts'
import { openDatabase, type Database } from '../../database/client.ts'
import { DomainError } from '../../kit/errors.ts'
import { loadingOf, readSettings } from '../settings/file.ts'

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

/** With the database of this machine's service, whether that runs or not. `newer`: whether one of a newer version will do. */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database, url: string) => Promise<T>,
  { newer = config.NEWER_DATABASE }: { newer?: Config['NEWER_DATABASE'] } = {},
): Promise<T> {
  if (config.DATABASE_URL === undefined) assertEmbedded()
  const embedded = config.DATABASE_URL === undefined ? await attachOrStart({ dataDir: config.DATA_DIR }) : null
  const url = config.DATABASE_URL ?? embedded?.url ?? ''
  const { pathname, host } = new URL(url)
  // Not among the output, which other programs read.
  console.error(
    `Database: ${embedded === null ? `${pathname.slice(1)} on ${host}` : `embedded, in ${config.DATA_DIR}`}`,
  )
  const database = openDatabase({ url, poolMax: 2 })
  try {
    await assertNotNewer(database.statements, { NEWER_DATABASE: newer })
    return await work(database, url)
  } finally {
    await database.close()
    await embedded?.stop()
  }
}

/** After a move to a server the embedded database is still there: a shell without the settings would change that one. */
function assertEmbedded(): void {
  for (const file of ['.env', 'deploy/.env']) {
    const settings = readSettings(file)?.values ?? {}
    if ((settings['DATABASE_URL'] ?? '') !== '')
      throw new ConfigError([
        `${file} sets DATABASE_URL, but this shell does not have it, so the embedded database would be used. Load it, then try again: ${loadingOf(file)}`,
      ])
    if ((settings['POSTGRES_PASSWORD'] ?? '') !== '')
      throw new ConfigError([
        `${file} is for compose, whose database this shell does not know. Run the command in a container: docker compose -f deploy/compose.yaml run --rm --no-deps worker node service/dist/cli/<command>.js`,
      ])
  }
}
