import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { checksummed } from '../chain/deposit.ts'
import type { Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import { payersOf } from '../chain/payer.ts'
import type { Config } from '../config.ts'
import type { Deliveries } from '../deliveries/service.ts'
import type { Facilitator } from '../facilitator/service.ts'
import type { Identity } from '../identity/service.ts'
import { loadOrMakeSecret } from '../identity/signin/secret.ts'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'
import { outboundClient } from '../outbound/client.ts'
import { checkHeaders } from '../outbound/headers.ts'
import type { Outflows } from '../outflow/service.ts'
import { spendingRoutes } from '../spending/http.ts'
import { spendingSweepers, spendingTopics } from '../spending/jobs.ts'
import type { Tickets } from '../spending/ports.ts'
import type { Checkpoint, PayerKeys } from '../spending/ports/payment.ts'
import { createSpending, type Spending } from '../spending/service.ts'
import { createSpendingStore } from '../spending/store.ts'
import { Secret } from '../vault/secret.ts'
import type { Wallets } from '../wallet/service.ts'
import type { Chains } from './chains.ts'
import type { Ground, Part } from './ground.ts'

/** What agents may spend; whoever reserves money for one goes through it. */
export async function openSpending(
  ground: Ground,
  { identity, deliveries, chains, wallets, facilitator, outflow, checkpoint }: Others,
): Promise<{ spending: Spending; part: Part }> {
  const { config, clock, log, database, ledger, outbox, vault } = ground
  const keys = await openPayers(ground, chains)
  // Callers name these addresses: whatever is private is none of theirs, except for hosts that are listed.
  const outbound = outboundClient({
    policy: { allowPrivate: false, allowHosts: config.ALLOW_HOSTS },
    tracing: ground.tracer === null ? null : { tracer: ground.tracer, passed: false },
  })
  const spending = createSpending({
    store: createSpendingStore(database.statements, config.QUOTA_AGENTS),
    statements: database.statements,
    ledger,
    outflow,
    clock,
    log,
    announce: (inside, announcements) => outbox.add(inside, announcements),
    tell: (event) => deliveries.event(database.statements, event),
    tickets: ticketsBy(config.AUTH_SECRET ?? (await loadOrMakeSecret(config.DATA_DIR))),
    // Without a mail server the sandbox would only fill its log: the list of approvals has them too.
    post: config.SMTP_URL === undefined ? null : { send: ({ userId }, mail) => identity.mailTo(userId, mail) },
    revokeKeys: (owner, agentId) => identity.keys.revokeOf(owner, agentId),
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
    written: (address) => checksummed(chains.keccak, address),
    seal: {
      seal: (text, of) => vault.seal(new Secret(text), of),
      open: (sealed, of) => vault.open(sealed, of).reveal(),
    },
    checkpoint: checkpoint ?? (() => undefined),
    chainOf: (network) => chains.byNetwork.get(network) ?? null,
    confirmations: config.SETTLE_CONFIRMATIONS,
    patienceMs: config.PAY_TIMEOUT_MS,
    pause: (ms) => setTimeout(ms),
  })
  return {
    spending,
    part: {
      routes: [{ surface: 'api', routes: spendingRoutes(spending) }],
      topics: spendingTopics(spending),
      sweepers: spendingSweepers(spending),
      stop: () => outbound.close(),
    },
  }
}

interface Others {
  identity: Identity
  deliveries: Deliveries
  chains: Chains
  wallets: Wallets
  facilitator: Facilitator
  outflow: Outflows
  checkpoint: Checkpoint | undefined
}

/** The keys only where a worker is; other processes have it make addresses and sign. The sandbox makes itself a seed. */
async function openPayers({ config }: Ground, { curve, keccak, signatures }: Chains): Promise<PayerKeys | null> {
  if (!config.ROLES.includes('worker')) return null
  const seed = config.PAYER_SEED ?? (config.LIVE ? null : await ownSeed(config.DATA_DIR))
  if (seed === null) return null
  const keys = payersOf(seed, { curve, keccak, signatures })
  return { of: ({ userId, environment }) => keys.of(`${environment} ${userId}`) }
}

/** Where another process has the facilitator's role, this one cannot know. */
function lackOfGas({ ROLES }: Config, facilitator: Facilitator, network: NetworkName): string | null {
  if (!ROLES.includes('facilitator') || facilitator.serves(network)) return null
  return `Nobody pays for gas on ${network}: SPONSOR_PRIVATE_KEYS must be set.`
}

async function ownSeed(dataDir: string): Promise<Hex> {
  const text = await loadOrMakeSecretFile(dataDir, {
    name: 'payer.seed',
    code: 'payer_seed_file',
    draw: () => randomBytes(32).toString('hex'),
    fault: (seed) => (/^[0-9a-f]{64}$/.test(seed) ? null : 'does not hold a seed. Its wallet is lost with it.'),
  })
  return `0x${text}`
}

/** The same link however often it is mailed, and no token in the database. */
function ticketsBy(secret: string): Tickets {
  const of = (approvalId: string): string =>
    createHmac('sha256', secret).update(`coinslot approval ${approvalId}`).digest('base64url')
  return {
    of,
    proves(approvalId, ticket) {
      const [given, wanted] = [Buffer.from(ticket), Buffer.from(of(approvalId))]
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    },
  }
}
