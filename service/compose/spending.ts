import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { checksummed } from '../chain/deposit.ts'
import type { Hex } from '../chain/model.ts'
import { payerOf } from '../chain/payer.ts'
import type { Deliveries } from '../deliveries/service.ts'
import type { Identity } from '../identity/service.ts'
import { loadOrMakeSecret } from '../identity/signin/secret.ts'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'
import { outboundClient } from '../outbound/client.ts'
import { checkHeaders } from '../outbound/headers.ts'
import { spendingRoutes } from '../spending/http.ts'
import { spendingSweepers, spendingTopics } from '../spending/jobs.ts'
import type { Tickets } from '../spending/ports.ts'
import type { Payer } from '../spending/ports/payment.ts'
import { createSpending, type Spending } from '../spending/service.ts'
import { createSpendingStore } from '../spending/store.ts'
import type { Chains } from './chains.ts'
import type { Ground, Part } from './ground.ts'

/** What agents may spend; whoever reserves money for one goes through it. */
export async function openSpending(
  ground: Ground,
  { identity, deliveries, chains }: { identity: Identity; deliveries: Deliveries; chains: Chains },
): Promise<{ spending: Spending; part: Part }> {
  const { config, clock, log, database, ledger, outbox } = ground
  const payer = await openPayer(ground, chains)
  if (payer !== null) log.info({ payer: payer.checksummed, signs: payer.sign !== null }, 'paid addresses are paid from')
  // Callers name these addresses: whatever is private is none of theirs, except for hosts that are listed.
  const outbound = outboundClient({ policy: { allowPrivate: false, allowHosts: config.ALLOW_HOSTS } })
  const spending = createSpending({
    store: createSpendingStore(database.statements),
    statements: database.statements,
    ledger,
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
    payer,
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

/** The key only where a worker is; other processes know the address. The sandbox makes itself a key. */
async function openPayer({ config }: Ground, { curve, keccak, signatures }: Chains): Promise<Payer | null> {
  const seed =
    config.PAYER_SEED ?? (config.LIVE || config.PAYER_ADDRESS !== undefined ? null : await ownSeed(config.DATA_DIR))
  const key = seed === null ? null : payerOf(seed, { curve, keccak, signatures })
  const address = key?.address ?? config.PAYER_ADDRESS
  if (address === undefined) return null
  return { address, checksummed: checksummed(keccak, address), sign: key === null ? null : key.sign.bind(key) }
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
