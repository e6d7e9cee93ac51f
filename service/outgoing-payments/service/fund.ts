import type { Address } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { Batch } from '../../kit/batch.ts'
import type { Payment } from '../model.ts'
import { FUNDING_SECONDS, fundingNonce } from '../rules.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import { reload, type Ending } from './end.ts'
import type { Outcome } from '../../transfers/model.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import type { PaymentChain } from '../ports.ts'

/**
 * Takes a payment one step towards its signature, in a worker: what its payer lacks comes from the treasury by one
 * transfer, whose terms are stored before it is signed, so that any process may repeat any step at any time; then
 * the authorization is signed. Answers the payment as it stands afterwards, the same where it waits for the chain.
 */
export function createFunding(deps: FundingDeps) {
  const { store, treasury, keys, outflow, clock, log, failpoints, ending } = deps
  const transfer = createTransfer(deps)
  const starts = new Batch({ largest: 64, run: createStart(deps) })

  async function step(payment: Payment): Promise<Payment> {
    switch (payment.state) {
      case 'reserved':
        return (await outflow.isPaused()) ? payment : await fund(payment)
      case 'funding':
        return await transfer(payment)
      case 'funded':
        return (await outflow.isPaused()) ? payment : await sign(payment)
      default:
        return payment
    }
  }

  async function fund(payment: Payment): Promise<Payment> {
    const lack = lacks(payment)
    if (lack === null) return await starts.add(payment)
    log.error({ paymentId: payment.id }, lack)
    return await ending.giveBack(payment, 'not_set_up', 0n)
  }

  /** Stored before a seller sees it; signing again gives the same. Its sweeper may have given it back meanwhile. */
  async function sign(payment: Payment): Promise<Payment> {
    const { id, owner, network, payer: from, payTo: to, amount: value, validBefore, nonce } = payment
    const key = keys?.of(owner)
    if (key?.address !== from) return payment
    // Past its time it would only be given to a seller who cannot use it.
    if (validBefore * 1000n <= BigInt(clock.now().getTime())) return await reload(store, payment)
    const { signature } = key.sign(NETWORKS[network], { from, to, value, validAfter: 0n, validBefore, nonce })
    if (!(await store.sign(id, signature))) return await reload(store, payment)
    await failpoints.reach('outgoing payment signed')
    return { ...payment, state: 'signed', signature }
  }

  /** A sentence for the operator where this worker cannot pay. */
  function lacks({ network, owner, payer }: Pick<Payment, 'network' | 'owner' | 'payer'>): string | null {
    if (keys === null) return 'This worker has no key to pay with: PAYER_SEED must be set.'
    if (keys.of(owner).address !== payer)
      return 'The PAYER_SEED of this worker differs from the one that made the payment.'
    return treasury.lacks(network)
  }

  return { step, lacks }
}

export type Funding = ReturnType<typeof createFunding>

type FundingDeps = Pick<
  OutgoingPaymentDeps,
  'store' | 'keys' | 'treasury' | 'outflow' | 'chainOf' | 'clock' | 'log' | 'confirmations' | 'failpoints'
> & { ending: Ending }

/** Stores the terms. Payments of the same moment share one reading of the treasury, and each counts what those before it take. */
function createStart({ store, treasury, chainOf, clock, log, failpoints, ending }: FundingDeps) {
  return async (payments: readonly Payment[]): Promise<Payment[]> => {
    const rooms = new Map<NetworkName, Room | null>()
    for (const { network } of payments) if (!rooms.has(network)) rooms.set(network, await roomOn(network))
    const spares = new Map<string, bigint>()
    const started: Payment[] = []
    for (const payment of payments) {
      const { id, owner, network, amount, payer } = payment
      const room = rooms.get(network) ?? null
      if (room === null) {
        started.push(payment)
        continue
      }
      const spare = spares.get(payer) ?? (await store.addPayer(owner, payer, clock.now())).spare
      const taken = spare < amount ? spare : amount
      if (room.left < amount - taken) {
        log.error({ paymentId: id, treasury: room.from, network }, 'The treasury has too little USDC for a payment.')
        started.push(await ending.giveBack(payment, 'treasury_short', 0n))
        continue
      }
      room.left -= amount - taken
      spares.set(payer, spare - taken)
      const validBefore = BigInt(Math.floor(clock.now().getTime() / 1000) + FUNDING_SECONDS)
      const terms = { from: room.from, validBefore, seenBlock: payment.seenBlock }
      const funded = await store.fund(id, terms, new Date(clock.now().getTime() + SOON_MS))
      await failpoints.reach(`outgoing payment ${funded?.state === 'funded' ? 'funded' : 'funding'}`)
      started.push(funded ?? (await reload(store, payment)))
    }
    return started
  }

  async function roomOn(network: NetworkName): Promise<Room | null> {
    const chain = chainOf(network)
    const from = treasury.address()
    if (chain === null || from === null) return null
    // In this order: what leaves in between is counted twice rather than not at all.
    const promised = await store.promised(from, network)
    return { from, left: (await treasury.available(network)) - promised }
  }
}

/** What payments may still take out of the treasury on one network. */
interface Room {
  from: Address
  left: bigint
}

/** Sends what the stored terms say, and asks the chain what became of it. */
function createTransfer(deps: FundingDeps) {
  const { store, treasury, outflow, chainOf, clock, confirmations, failpoints, ending } = deps

  return async (payment: Payment): Promise<Payment> => {
    const { id, network, payer, funding } = payment
    const chain = chainOf(network)
    if (chain === null) return payment
    if (funding === null) throw new Error('a payment that is being funded has terms')
    const outcome = await outcomeOfFunding(chain, payment, confirmations)
    if (outcome.state !== 'open') return await follow(payment, outcome)
    // What was sent before may still arrive, so the chain decides; nothing more is sent.
    if (await outflow.isPaused()) return payment
    const { from, amount, validBefore } = funding
    const nonce = fundingNonce(id)
    await treasury.send({ network, from, to: payer, amount, nonce, validBefore, operation: `funding ${id}` })
    await failpoints.reach('outgoing payment transferred')
    return await follow(payment, await outcomeOfFunding(chain, payment, confirmations))
  }

  async function follow(payment: Payment, outcome: Outcome): Promise<Payment> {
    const { id, amount, funding } = payment
    if (outcome.state === 'used') {
      await store.arrived(id, outcome.use.hash, new Date(clock.now().getTime() + SOON_MS))
      await failpoints.reach('outgoing payment funded')
      return await reload(store, payment)
    }
    if (outcome.state !== 'spent' && outcome.state !== 'over') return payment
    return await ending.giveBack(payment, 'not_funded', amount - (funding?.amount ?? 0n))
  }
}

/** What became of the transfer that lends the payer what it lacks. */
export async function outcomeOfFunding(
  chain: PaymentChain,
  { id, funding }: Payment,
  confirmations: number,
): Promise<Outcome> {
  if (funding === null) throw new Error('a payment that is being funded has terms')
  const { from, validBefore, seenBlock } = funding
  return await outcomeOf(chain, { from, nonce: fundingNonce(id), validBefore, pays: null, seenBlock }, confirmations)
}

const SOON_MS = 2_000
