import { readConfig } from '../config.ts'
import { migrateFor } from '../database/migrate.ts'
import { runCommand } from './command/run.ts'

/**
 * `npm run migrate`: brings the database of DATABASE_URL up to date and ends. Every process does the same at its start,
 * one at a time; as a step of its own it is done before the first process of a new version is there.
 */
async function main(): Promise<number> {
  const config = readConfig(process.env)
  const { DATABASE_URL } = config
  if (DATABASE_URL === undefined) {
    console.error('DATABASE_URL is not set: the embedded database is brought up to date by "npm start".')
    return 2
  }
  const applied = await migrateFor(DATABASE_URL, config)
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`)
  return 0
}

await runCommand(main, { exitCodeOf: () => 1 })
