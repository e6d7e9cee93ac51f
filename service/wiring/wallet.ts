import type { Config } from '../config.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { Clock } from '../kit/clock.ts'
import type { Outflows } from '../outflow/service.ts'
import { walletRoutes } from '../wallet/http/wallet.ts'
import { walletSweepers, walletTopics } from '../wallet/jobs.ts'
import type { Cursor } from '../wallet/model.ts'
import { createWallets, type Wallets } from '../wallet/service/wallets.ts'
import type { Settings } from '../wallet/service/deps.ts'
import { createWalletStore } from '../wallet/store/wallet-store.ts'
import type { Chains } from './chains.ts'
import type { Platform, Part } from './platform.ts'
import type { WalletKeys } from './keys.ts'
import { createAgentHolds } from '../budgets/store/agents.ts'
import { createSignUpCredits } from '../identity/store.ts'
import { createPayerBooks } from '../outgoing-payments/store/payer-books.ts'
import { createIncomeStore } from '../sales/store/income.ts'

export function openWallet(platform: Platform, others: Others): { wallets: Wallets; part: Part } {
  const { config, clock, database, ledger, log, metrics, outbox, facts } = platform
  const { chains, keys, facilitator, outflow } = others
  const wallets = createWallets({
    ledger,
    outflow,
    store: createWalletStore(database.statements),
    facilitator,
    book: keys.book,
    signer: keys.signer,
    chains: chains.byNetwork,
    payers: createPayerBooks(database.statements),
    agentHolds: createAgentHolds(database.statements),
    signUpCredits: createSignUpCredits(database.statements),
    sales: createIncomeStore(database.statements),
    atOneMoment: (read) => database.transaction(read, { isolationLevel: 'RepeatableRead', timeoutMs: 60_000 }),
    announce: (inside, announcement) => outbox.add(inside, [announcement]),
    publish: facts.publish,
    clock,
    log,
    measures: metrics,
    failpoints: platform.failpoints,
    settings: settingsOf(config),
  })
  metrics.watch(
    'coinslot_reconciliation_difference_usdc',
    'On-chain balance minus ledger balance in the newest report; investigate if it is not 0',
    async () => Number((await wallets.reconciling.newest())?.difference ?? 0n) / 1e6,
  )
  return {
    wallets,
    part: {
      routes: [{ surface: 'api', routes: walletRoutes(wallets) }],
      topics: walletTopics(wallets),
      sweepers: walletSweepers(wallets),
      health: { deposits: () => healthOf(wallets, clock) },
    },
  }
}

interface Others {
  chains: Chains
  keys: WalletKeys
  facilitator: Facilitator
  outflow: Outflows
}

function settingsOf(config: Config): Settings {
  return {
    confirmations: config.DEPOSIT_CONFIRMATIONS,
    sweepMinimum: config.SWEEP_MINIMUM,
    withdrawalMinimum: config.WITHDRAWAL_MINIMUM,
    topUpUrl: config.TOP_UP_URL ?? null,
  }
}

/** How far the monitor has read each network, and the age of that information. */
async function healthOf(wallets: Wallets, clock: Clock): Promise<Record<string, unknown>> {
  const networks = wallets.monitors.map(async ({ network }) => {
    const cursor = await wallets.cursors.read(network)
    const block = cursor === null ? null : Number(cursor.blockNumber)
    return [network, { block, lagBlocks: lagOf(cursor), silentSeconds: silenceOf(cursor, clock) }]
  })
  return Object.fromEntries(await Promise.all(networks)) as Record<string, unknown>
}

function silenceOf(cursor: Cursor | null, clock: Clock): number | null {
  return cursor === null ? null : Math.round((clock.now().getTime() - cursor.at.getTime()) / 1000)
}

function lagOf(cursor: Cursor | null): number | null {
  return cursor === null ? null : Number(cursor.head - cursor.blockNumber)
}
