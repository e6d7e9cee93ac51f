import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Budgets } from '../budgets/service/budgets.ts'
import { checksummed, payersOf } from '../chain/keys.ts'
import type { Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Config } from '../config.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'
import { outboundClient } from '../outbound/client.ts'
import { checkHeaders } from '../outbound/headers.ts'
import type { Outflows } from '../outflow/service.ts'
import { outgoingPaymentRoutes } from '../outgoing-payments/http.ts'
import { outgoingPaymentSweepers, outgoingPaymentTopics } from '../outgoing-payments/jobs.ts'
import type { PayerKeys } from '../outgoing-payments/ports.ts'
import { createOutgoingPayments, type OutgoingPayments } from '../outgoing-payments/service/payments.ts'
import { createPaymentStore } from '../outgoing-payments/store/payments.ts'
import { Secret } from '../vault/secret.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import type { Chains } from './chains.ts'
import type { Platform, Part } from './platform.ts'

/** Paying addresses outside, from the payer wallets of accounts. */
export async function openOutgoingPayments(
  platform: Platform,
  { budgets, chains, wallets, facilitator, outflow }: Others,
): Promise<{ outgoingPayments: OutgoingPayments; part: Part }> {
  const { config, clock, log, metrics, database, ledger, outbox, vault } = platform
  const keys = await openPayers(platform, chains)
  // Callers name these addresses: a private one is refused, except for hosts that are listed.
  const outbound = outboundClient({
    policy: { allowPrivate: false, allowHosts: [...config.ALLOW_HOSTS, ...ownHosts(config)] },
    tracing: platform.tracer === null ? null : { tracer: platform.tracer, passed: false },
  })
  const outgoingPayments = createOutgoingPayments({
    store: createPaymentStore(database.statements),
    statements: database.statements,
    ledger,
    budgets,
    outflow,
    clock,
    log,
    measures: metrics,
    announce: (inside, announcements) => outbox.add(inside, announcements),
    addresses: config.addresses,
    seller: {
      send: (request) => outbound.send(request),
      checkAddress: (url) => outbound.checkAddress(url),
      checkHeaders,
    },
    keys,
    isWorker: config.ROLES.includes('worker'),
    treasury: {
      ...wallets.treasurer,
      lacks: (network) => wallets.treasurer.lacks(network) ?? lackOfGas(config, facilitator, network),
    },
    checksummed: (address) => checksummed(chains.keccak, address),
    seal: {
      seal: (text, of) => vault.seal(new Secret(text), of),
      open: (sealed, of) => vault.open(sealed, of).reveal(),
    },
    failpoints: platform.failpoints,
    holderOf: wallets.holderOf,
    chainOf: (network) => chains.byNetwork.get(network) ?? null,
    confirmations: config.SETTLE_CONFIRMATIONS,
    sellerTimeoutMs: config.PAY_TIMEOUT_MS,
    pause: (ms) => setTimeout(ms),
  })
  return {
    outgoingPayments,
    part: {
      routes: [{ surface: 'api', routes: outgoingPaymentRoutes(outgoingPayments) }],
      topics: outgoingPaymentTopics(outgoingPayments),
      sweepers: outgoingPaymentSweepers(outgoingPayments),
      stop: () => outbound.close(),
    },
  }
}

interface Others {
  budgets: Budgets
  chains: Chains
  wallets: Wallets
  facilitator: Facilitator
  outflow: Outflows
}

/** A sandbox on one machine sells at a private address, and its accounts may buy there. */
function ownHosts({ LIVE, addresses }: Config): string[] {
  return LIVE ? [] : [new URL(addresses.pay).host]
}

/** The keys only where a worker is; other processes have it make addresses and sign. The sandbox makes itself a seed. */
async function openPayers({ config }: Platform, { curve, keccak, signatures }: Chains): Promise<PayerKeys | null> {
  if (!config.ROLES.includes('worker')) return null
  const seed = config.PAYER_SEED ?? (config.LIVE ? null : await ownSeed(config.DATA_DIR))
  if (seed === null) return null
  const keys = payersOf(seed, { curve, keccak, signatures })
  return { of: ({ userId, environment }) => keys.of(`${environment} ${userId}`) }
}

/** Where another process has the facilitator's role, this one cannot know. */
function lackOfGas({ ROLES }: Config, facilitator: Facilitator, network: NetworkName): string | null {
  if (!ROLES.includes('facilitator') || facilitator.serves(network)) return null
  return `No sponsor pays for gas on ${network}: SPONSOR_PRIVATE_KEYS must be set.`
}

async function ownSeed(dataDir: string): Promise<Hex> {
  const text = await loadOrMakeSecretFile(dataDir, {
    name: 'payer.seed',
    code: 'payer_seed_file',
    generate: () => randomBytes(32).toString('hex'),
    fault: (seed) =>
      /^[0-9a-f]{64}$/.test(seed)
        ? null
        : 'does not contain a seed. Restore the file from a backup: without the seed its wallet is lost.',
  })
  return `0x${text}`
}
