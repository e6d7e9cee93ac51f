import type { Address } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Payment } from '../model/payment.ts'
import type { ChainOf, Checkpoint, PayerKeys, PaymentStore, Treasury } from '../ports/payment.ts'
import { FUNDING_SECONDS, fundingNonce } from '../rules/funding.ts'
import type { Ending } from './end.ts'

/**
 * Takes a payment one step towards its signature, in a worker: what its payer lacks comes from the treasury by one
 * transfer, whose terms are stored before it is signed, so that any step may be repeated by anybody at any time; then
 * the authorization is signed. Answers the payment as it stands afterwards, the same where it waits for the chain.
 */
export function createFunding(parts: FundingParts) {
  const { store, treasury, outflow, chainOf, clock, log, checkpoint, ending } = parts

  const beginnings = new Batch<Payment, { payment: Payment }>({
    lanes: 1,
    largest: 64,
    laneOf: () => 0,
    run: begin,
  })

  async function step(payment: Payment): Promise<Payment> {
    switch (payment.state) {
      case 'reserved':
        return (await outflow.isPaused()) ? payment : await fund(payment)
      case 'funding':
        return await carry(payment)
      case 'funded':
        return (await outflow.isPaused()) ? payment : await sign(payment)
      default:
        return payment
    }
  }

  async function fund(payment: Payment): Promise<Payment> {
    const { id } = payment
    const lack = lacks(payment)
    if (lack !== null) {
      log.error({ paymentId: id }, lack)
      return await ending.giveBack(payment, 'not_set_up', 0n)
    }
    return (await beginnings.add(payment)).payment
  }

  /** Those of the same moment share one look at the treasury, and each counts what those before it take. */
  async function begin(payments: readonly Payment[]): Promise<{ payment: Payment }[]> {
    const rooms = new Map<NetworkName, Room | null>()
    for (const { network } of payments) if (!rooms.has(network)) rooms.set(network, await roomOn(network))
    const purses = new Map<string, bigint>()
    const begun: { payment: Payment }[] = []
    for (const payment of payments) {
      const { id, owner, network, amount, payer } = payment
      const room = rooms.get(network) ?? null
      if (room === null) {
        begun.push({ payment })
        continue
      }
      const spare = purses.get(payer) ?? (await store.addPayer(owner, payer, clock.now())).spare
      const taken = spare < amount ? spare : amount
      if (room.left < amount - taken) {
        log.error({ paymentId: id, treasury: room.from, network }, 'The treasury has too little USDC for a payment.')
        begun.push({ payment: await ending.giveBack(payment, 'treasury_short', 0n) })
        continue
      }
      room.left -= amount - taken
      purses.set(payer, spare - taken)
      const validBefore = BigInt(Math.floor(clock.now().getTime() / 1000) + FUNDING_SECONDS)
      const funded = await store.fund(id, { from: room.from, validBefore, seenBlock: room.seenBlock }, soon())
      await checkpoint(funded?.state === 'funded' ? 'funded' : 'funding')
      begun.push({ payment: funded ?? (await again(payment)) })
    }
    return begun
  }

  async function roomOn(network: NetworkName): Promise<Room | null> {
    const chain = chainOf(network)
    const from = treasury.address()
    if (chain === null || from === null) return null
    const { number: seenBlock } = await chain.head()
    // In this order: what leaves in between is counted twice rather than not at all.
    const promised = await store.promised(from)
    return { from, seenBlock, left: (await treasury.available(network)) - promised }
  }

  async function carry(payment: Payment): Promise<Payment> {
    const { id, network, payer, funding } = payment
    const chain = chainOf(network)
    if (chain === null) return payment
    if (funding === null) throw new Error('what is being funded has terms')
    const nonce = fundingNonce(id)
    const { from, amount, validBefore } = funding
    const { used, block } = await chain.authorizationAt(from, nonce)
    if (used) return await arrive(payment)
    if (block.timestamp >= validBefore) return await giveUp(payment, block.number)
    // What was sent before may still arrive, so the chain is asked; nothing more is sent.
    if (await outflow.isPaused()) return payment
    await treasury.send({ network, from, to: payer, amount, nonce, validBefore, operation: `funding ${id}` })
    await checkpoint('carried')
    return (await chain.authorizationAt(from, nonce)).used ? await arrive(payment) : payment
  }

  async function arrive(payment: Payment): Promise<Payment> {
    const { id, network, funding } = payment
    const use =
      funding === null ? null : await chainOf(network)?.findUse(funding.from, fundingNonce(id), funding.seenBlock)
    // The node that knows the event may lag behind the one that knows the state.
    if (use == null || funding === null) return payment
    if (use.cancelled) return await ending.giveBack(payment, 'not_funded', payment.amount - funding.amount)
    await store.arrived(id, use.hash, soon())
    await checkpoint('funded')
    return await again(payment)
  }

  /** Its time is over. Asked once more of a block that no reorganisation takes back, and whose time is over too. */
  async function giveUp(payment: Payment, newest: bigint): Promise<Payment> {
    const { id, network, funding, amount } = payment
    const chain = chainOf(network)
    if (chain === null || funding === null) return payment
    const deep = newest - BigInt(parts.confirmations) + 1n
    const { used, block } = await chain.authorizationAt(funding.from, fundingNonce(id), deep)
    if (used || block.timestamp < funding.validBefore) return payment
    return await ending.giveBack(payment, 'not_funded', amount - funding.amount)
  }

  /** Stored before anybody sees it; signing again gives the same. */
  async function sign(payment: Payment): Promise<Payment> {
    const { id, owner, network, payer: from, payTo: to, amount: value, validBefore, nonce } = payment
    const key = parts.keys?.of(owner)
    if (key?.address !== from) return payment
    // Past its time it would only be given to a seller who cannot use it.
    if (validBefore * 1000n <= BigInt(clock.now().getTime())) return payment
    const { signature } = key.sign(NETWORKS[network], { from, to, value, validAfter: 0n, validBefore, nonce })
    if (!(await store.sign(id, signature))) return await again(payment)
    await checkpoint('signed')
    return { ...payment, state: 'signed', signature }
  }

  function lacks({ network, owner, payer }: Pick<Payment, 'network' | 'owner' | 'payer'>): string | null {
    if (parts.keys === null) return 'This worker has no key to pay with: PAYER_SEED must be set.'
    if (parts.keys.of(owner).address !== payer)
      return 'This worker has another PAYER_SEED than the one that made the payment.'
    return treasury.lacks(network)
  }

  async function again({ owner, id }: Payment): Promise<Payment> {
    const found = await store.find(owner, id)
    if (found === null) throw new Error(`the payment ${id} is gone`)
    return found
  }

  function soon(): Date {
    return new Date(clock.now().getTime() + SOON_MS)
  }

  return { step, lacks }
}

interface Room {
  from: Address
  seenBlock: bigint
  left: bigint
}

export type Funding = ReturnType<typeof createFunding>

export interface FundingParts {
  store: PaymentStore
  /** Null where there is no seed. */
  keys: PayerKeys | null
  treasury: Treasury
  outflow: Pick<Outflows, 'isPaused'>
  chainOf: ChainOf
  clock: Clock
  log: Log
  confirmations: number
  checkpoint: Checkpoint
  ending: Ending
}

const SOON_MS = 2_000
