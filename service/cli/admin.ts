import { readConfig, type Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { openOutflow } from '../wiring/outflow.ts'
import { systemClock } from '../kit/clock.ts'
import type { Environment } from '../kit/owner.ts'
import type { AssetStore } from '../marketplace/ports/asset.ts'
import { createAssetStore } from '../marketplace/store/assets/assets.ts'
import { runCommand, withDatabase } from './command/run.ts'
import { bookWithdrawal, showLeft } from './left.ts'
import { sealAgain } from './sealed.ts'
import { showTransfers } from './transfers.ts'

/** `npm run admin -- verify my-asset`: what only an operator may do. */
async function main(args: readonly string[]): Promise<number> {
  const [command = '', name, given] = args
  const isList = command === 'transfers' && args.length <= 2
  const isRestored = command === 'restored' && args.length === 1
  const isSealing = command === 'seal-again' && args.length === 1
  const isLeft = command === 'left' && args.length === 1
  const isBooking =
    command === 'book-withdrawal' && /^0x[0-9a-f]{64}$/i.test(name ?? '') && [3, 4].includes(args.length)
  const isSwitch = command === 'payouts' && (name === 'on' || name === 'off') && args.length === 2
  if (
    !isSwitch &&
    !isList &&
    !isRestored &&
    !isSealing &&
    !isLeft &&
    !isBooking &&
    (!(command in COMMANDS) || name === undefined || !isEnvironment(given) || args.length > 3)
  ) {
    console.error(USAGE)
    return 2
  }
  const config = readConfig(process.env)
  const environment =
    !isBooking && isEnvironment(given) && given !== undefined ? given : config.LIVE ? 'production' : 'sandbox'
  // The emergency brake also holds while a newer version is being rolled out.
  const terms = isSwitch && name === 'off' ? ({ newer: 'allowed' } as const) : {}
  const work = async (database: Database): Promise<number> => {
    if (isList) {
      const shown = await showTransfers(database.statements, name, systemClock.now())
      if (shown === null) console.error(`No transfer has that id: ${name ?? ''}`)
      else console.log(shown)
      return shown === null ? 1 : 0
    }
    if (isRestored) {
      console.log(await afterRestore(config, database))
      return 0
    }
    if (isSealing) {
      console.log(await sealAgain(config, database))
      return 0
    }
    if (isLeft || isBooking) {
      console.log(isLeft ? await showLeft(config, database) : await bookWithdrawal(config, database, args.slice(1)))
      return 0
    }
    if (isSwitch) {
      console.log(await switchPayouts(config, database, name))
      return 0
    }
    const sentence = await COMMANDS[command]?.(createAssetStore(database.statements), name ?? '', environment)
    if (sentence == null) {
      const what =
        command === 'hide-review'
          ? 'review has that id'
          : command.endsWith('owner')
            ? 'creator has made an RDA under that user id'
            : `RDA in ${environment} has that slug or id`
      console.error(`No ${what}: ${name ?? ''}`)
      return 1
    }
    console.log(sentence)
    return 0
  }
  return await withDatabase(config, work, terms)
}

const USAGE = `Usage:
  npm run admin -- verify | unverify | feature | unfeature <slug or id> [sandbox | production]
  npm run admin -- verify-owner | unverify-owner <user id>
  npm run admin -- hide-review <review id>
  npm run admin -- payouts off | on
  npm run admin -- restored
  npm run admin -- seal-again
  npm run admin -- left
  npm run admin -- book-withdrawal <transaction hash> <user id | usr_guests | platform> [nonce]
  npm run admin -- transfers [id]
The default environment is production on a live server, otherwise the sandbox.`

/** Answers what was done, or null when there was nothing to do it to. */
type Command = (store: AssetStore, name: string, environment: Environment) => Promise<string | null>

const COMMANDS: Readonly<Record<string, Command>> = {
  verify: marking('verified', true),
  unverify: marking('verified', false),
  feature: marking('featured', true),
  unfeature: marking('featured', false),
  'verify-owner': verifying(true),
  'unverify-owner': verifying(false),
  'hide-review': async (store, id) =>
    (await store.hideReview(id, systemClock.now())) ? `The review ${id} and its answer are hidden.` : null,
}

/** Every running process honours it from its next payout on. */
async function switchPayouts(config: Config, { statements }: Database, to: 'on' | 'off'): Promise<string> {
  await openOutflow(config, { statements, clock: systemClock }).setPaused(to === 'off')
  if (to === 'off') return 'Payouts are off: new ones are refused, and pending ones stay pending.'
  return config.PAYOUTS === 'off'
    ? 'Payouts are switched on in the database, but PAYOUTS=off still stops them on this server: remove it and restart.'
    : 'Payouts are on.'
}

/**
 * The database is older than the world: payouts since the dump have been made, and addresses since the dump have been given
 * out, and invoices. Nothing leaves before both were looked at, no such address is given to another account or order, and no
 * such number to another invoice.
 */
async function afterRestore(config: Config, database: Database): Promise<string> {
  const paused = await switchPayouts(config, database, 'off')
  await database.statements.run(SKIP_ADDRESSES, [])
  await database.statements.run(SKIP_INVOICES, [systemClock.now().getUTCFullYear()])
  return `${paused}
Addresses that were given out after the dump will not be given out again, nor invoice numbers of accounts whose invoice settings the dump has.
Start the processes, and wait until npm run ledger -- check compares with the chain and finds no difference. Then: npm run admin -- payouts on`
}

// A gap is harmless. Their numbers end at 2,147,483,647.
const SKIP_ADDRESSES = `
SELECT setval(name, nextval(name) + 1000000)
FROM unnest(ARRAY['wallet_address_index_seq', 'payment_address_index_seq']::regclass[]) AS name`

// Also for an account whose first invoice of the year is younger than the dump; not for one whose settings are: nobody knows
// of it. More than is issued between two dumps.
const SKIP_INVOICES = `
INSERT INTO invoice_counter (user_id, environment, year, last)
SELECT user_id, environment, $1, 10000 FROM invoicing
ON CONFLICT (user_id, environment, year) DO UPDATE SET last = invoice_counter.last + 10000`

function marking(mark: 'verified' | 'featured', value: boolean): Command {
  return async (store, name, environment) =>
    (await store.mark(environment, name, mark, value))
      ? `${name} in ${environment} is ${value ? '' : 'no longer '}${mark}.`
      : null
}

function verifying(verified: boolean): Command {
  return async (store, subject) =>
    (await store.markCreator(subject, verified)) > 0 ? `${subject} is ${verified ? '' : 'no longer '}verified.` : null
}

function isEnvironment(text: string | undefined): text is Environment | undefined {
  return text === undefined || text === 'sandbox' || text === 'production'
}

await runCommand(main)
