import type { Config } from '../config.ts'
import type { Facilitator } from '../facilitator/service.ts'
import type { Clock } from '../kit/clock.ts'
import type { Outflows } from '../outflow/service.ts'
import { walletRoutes } from '../wallet/http.ts'
import { walletSweepers, walletTopics } from '../wallet/jobs.ts'
import type { Cursor } from '../wallet/model.ts'
import type { Checkpoint, SignUp, TellEvent } from '../wallet/ports.ts'
import { createWallets, type Wallets } from '../wallet/service.ts'
import type { Settings, WalletParts } from '../wallet/service/parts.ts'
import { createWalletStore } from '../wallet/store.ts'
import type { Chains } from './chains.ts'
import type { Ground, Part } from './ground.ts'
import { openKeys } from './keys.ts'
import { openSales } from './sales.ts'

export async function openWallet(ground: Ground, others: Others): Promise<{ wallets: Wallets; part: Part }> {
  const { config, clock, database, ledger, log, metrics, outbox } = ground
  const { chains, facilitator, outflow, checkpoint, signUp, event, tellOfPayoutAddress } = others
  const { book, signer } = await openKeys(config, chains)
  const wallets = createWallets({
    ledger,
    outflow,
    store: createWalletStore(database.statements),
    facilitator,
    book,
    signer,
    chains: chains.byNetwork,
    payers: others.payers,
    promised: others.promised,
    locksOf: others.locksOf,
    creditsWithheld: others.creditsWithheld,
    sales: openSales(database.statements),
    atOneMoment: (read) => database.transaction(read, { isolationLevel: 'RepeatableRead', timeoutMs: 60_000 }),
    announce: (inside, announcement) => outbox.add(inside, [announcement]),
    event,
    tellOfPayoutAddress,
    signUp,
    clock,
    log,
    measures: metrics,
    checkpoint: checkpoint ?? (() => undefined),
    settings: settingsOf(config),
  })
  metrics.watch(
    'coinslot_reconciliation_difference_usdc',
    'What is on chain less what the books say, by the newest report: 0, or somebody has to look',
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
  facilitator: Facilitator
  outflow: Outflows
  checkpoint: Checkpoint | undefined
  signUp: SignUp
  event: TellEvent
  tellOfPayoutAddress: WalletParts['tellOfPayoutAddress']
  payers: WalletParts['payers']
  promised: WalletParts['promised']
  creditsWithheld: WalletParts['creditsWithheld']
  locksOf: WalletParts['locksOf']
}

function settingsOf(config: Config): Settings {
  return {
    confirmations: config.DEPOSIT_CONFIRMATIONS,
    sweepMinimum: config.SWEEP_MINIMUM,
    withdrawalMinimum: config.WITHDRAWAL_MINIMUM,
    hook:
      config.IDENTITY_HOOK_SECRET === undefined
        ? null
        : { secret: config.IDENTITY_HOOK_SECRET, issuer: config.OIDC_ISSUER ?? null },
    topUpUrl: config.TOP_UP_URL ?? null,
  }
}

/** How far the monitor is on each network, and how long ago it said so. */
async function healthOf(wallets: Wallets, clock: Clock): Promise<Record<string, unknown>> {
  const told = wallets.monitors.map(async ({ network }) => {
    const cursor = await wallets.cursors.read(network)
    const block = cursor === null ? null : Number(cursor.blockNumber)
    return [network, { block, lagBlocks: lagOf(cursor), silentSeconds: silenceOf(cursor, clock) }]
  })
  return Object.fromEntries(await Promise.all(told)) as Record<string, unknown>
}

function silenceOf(cursor: Cursor | null, clock: Clock): number | null {
  return cursor === null ? null : Math.round((clock.now().getTime() - cursor.at.getTime()) / 1000)
}

function lagOf(cursor: Cursor | null): number | null {
  return cursor === null ? null : Number(cursor.head - cursor.blockNumber)
}
