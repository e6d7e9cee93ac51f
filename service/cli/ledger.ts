import { openReconciling } from '../wiring/wallet-reconciling.ts'
import { readConfig, type Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { toDecimal } from '../kit/money.ts'
import { findDifferences } from '../ledger/store/check.ts'
import { findPassDifferences } from '../passes/store.ts'
import { findRefundDifferences } from '../refunds/store.ts'
import { findEscrowDifferences, findHoldDifferences } from '../sales/store/held.ts'
import { runCommand, withDatabase } from './command/run.ts'

/**
 * `npm run ledger -- check`: recomputes every figure from the postings, and compares the sums with the chain where
 * there is one; exits 1 on any difference, and where the comparison is not possible yet.
 */
async function main([command]: string[]): Promise<number> {
  if (command !== 'check') {
    console.error('Usage: npm run ledger -- check')
    return 2
  }
  const config = readConfig(process.env)
  return await withDatabase(config, async (database) => {
    // One snapshot for all checks, so that a busy ledger is as consistent as a quiet one.
    const differences = await database.transaction(
      async (inside) => [
        ...(await findDifferences(inside)),
        ...(await findRefundDifferences(inside)),
        ...(await findEscrowDifferences(inside)),
        ...(await findHoldDifferences(inside)),
        ...(await findPassDifferences(inside)),
      ],
      { timeoutMs: 600_000, isolationLevel: 'RepeatableRead' },
    )
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
    const matching = await compareWithChain(config, database)
    return differences.length === 0 && matching ? 0 : 1
  })
}

const NOT_COMPARED = `Not compared with the chain: the monitor has not read it yet, or is more than 100 blocks behind it.
Switch payouts off (npm run admin -- payouts off), start a worker, and check again once it has caught up. Switch them on
after a check without a difference.`

/** Where production's money is on chain: the books against it. False on a difference, and where none can be found. */
async function compareWithChain(config: Config, database: Database): Promise<boolean> {
  if (config.BASE_RPC_URLS.length === 0 || (config.WALLET_XPUB ?? config.WALLET_XPRV) === undefined) {
    console.log('Not compared with the chain: set BASE_RPC_URLS and WALLET_XPUB.')
    return true
  }
  const { reconciling, close } = await openReconciling(config, database)
  try {
    const report = await reconciling.reconcile()
    if (report === null) {
      // A restored database is always behind: what left since its dump is in the wallets again until this is compared.
      console.error(NOT_COMPARED)
      return false
    }
    const { blockNumber, wallets, revenue, capital, treasury, depositAddresses, payers, inFlight, difference } = report
    const books = `wallets ${toDecimal(wallets)}, revenue ${toDecimal(revenue)}, capital ${toDecimal(capital)}`
    const chain = `treasury ${toDecimal(treasury)}, deposit addresses ${toDecimal(depositAddresses)}, payers ${toDecimal(payers)}`
    console.log(`Block ${String(blockNumber)}: ${books}; on chain: ${chain}, in flight ${toDecimal(inFlight)}.`)
    if (difference === 0n) console.log('The ledger and the chain agree.')
    else console.error(`The chain has ${toDecimal(difference)} USDC more than the ledger.`)
    return difference === 0n
  } finally {
    await close()
  }
}

await runCommand(main)
