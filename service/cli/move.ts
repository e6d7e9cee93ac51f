import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig, type Config } from '../config.ts'
import { markerOf } from '../database/embedded/database.ts'
import { DomainError } from '../kit/errors.ts'
import { runCommand } from './command/run.ts'
import type { Progress } from './transfer/model.ts'
import { move } from './transfer/transfer.ts'

/** `npm run move -- --to postgres://…`: from the embedded database to a server, whole and compared. */
async function main(args: string[]): Promise<number> {
  const options = readArgs(args)
  if (options === null) {
    console.error(USAGE)
    return 2
  }
  const config = readConfig(process.env)
  if (config.DATABASE_URL !== undefined) {
    console.error(
      'DATABASE_URL is set, so the service does not use the embedded database. Unset it to move the embedded database.',
    )
    return 2
  }
  const line = progressLine()
  await move(
    { dataDir: config.DATA_DIR, ...options },
    {
      say: (sentence) => {
        line.end()
        console.log(sentence)
      },
      progress: line.show,
    },
  )
  console.log(options.dryRun ? 'Nothing was changed: --dry-run.' : whatToSet(config))
  return 0
}

const USAGE = `Usage:
  npm run move -- --to postgres://user:password@host/database [--dry-run]
Stop the service first. The target is an empty database of its own, PostgreSQL 17 or newer, that the role owns.
An interrupted move resumes when you start it again.`

function readArgs(args: string[]): { to: string; dryRun: boolean } | null {
  try {
    const { values } = parseArgs({ args, options: { to: { type: 'string' }, 'dry-run': { type: 'boolean' } } })
    if (values.to === undefined || !/^postgres(ql)?:\/\//.test(values.to)) return null
    return { to: values.to, dryRun: values['dry-run'] ?? false }
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

/** Names the files with secrets to take along; the secrets themselves are never printed. */
function whatToSet({ DATA_DIR, AUTH_SECRET, VAULT_KEY }: Config): string {
  const file = (name: string): string => path.join(DATA_DIR, name)
  const secrets = [
    { name: 'auth.secret', setting: 'AUTH_SECRET', isSet: AUTH_SECRET !== undefined },
    { name: 'vault.key', setting: 'VAULT_KEY', isSet: VAULT_KEY !== undefined },
    { name: 'payer.seed', setting: 'PAYER_SEED, for processes with the worker role', isSet: false },
    { name: 'wallet.seed', setting: 'kept in DATA_DIR: deposit addresses of the sandbox come from it', isSet: false },
  ].filter(({ name, isSet }) => !isSet && existsSync(file(name)))
  const files = secrets.map(({ name, setting }) => `\n  ${file(name)}   ${setting}`).join('')
  return `
The data is moved. The embedded database in ${DATA_DIR} was not changed; keep it until you trust the new one.
It does not start any more, unless you remove ${markerOf(DATA_DIR)}.
Start the service with
  DATABASE_URL   the address that you gave with --to${files === '' ? '' : `\nand, if it uses another DATA_DIR, also with the contents of these files:${files}`}
Without the vault's key, the sealed secrets in the database cannot be opened.`
}

function progressLine() {
  let shown = 0
  let open = false
  const everyMs = process.stdout.isTTY ? 200 : 5_000
  return {
    show: ({ table, done, of, copied }: Progress): void => {
      const now = performance.now()
      if (now - shown < everyMs) return
      shown = now
      const line = `${((100 * done) / Math.max(of, 1)).toFixed(0).padStart(3)} %  ${(copied / 1e6).toFixed(1)} MB  ${table}`
      process.stdout.write(process.stdout.isTTY ? `\r${line.padEnd(60)}` : `${line}\n`)
      open = process.stdout.isTTY
    },
    end: (): void => {
      if (open) process.stdout.write('\n')
      open = false
    },
  }
}

await runCommand(main, { exitCodeOf: (error) => (error instanceof DomainError ? 1 : 2) })
