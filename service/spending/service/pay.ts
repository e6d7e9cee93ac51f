import { randomBytes } from 'node:crypto'
import type { Address, Hex } from '../../chain/model.ts'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { idLike, type Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Answer } from '../../outbound/model.ts'
import { payoutsPausedAfterHold } from '../../outflow/errors.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Announcement } from '../../queue/model.ts'
import { noFitOffer, payerUnavailable, paymentMissing, priceTooHigh } from '../errors.ts'
import type { Page, Spender } from '../model.ts'
import type { PaidAsk, PaidCall, Payment, SellerAnswer } from '../model/payment.ts'
import type { Offer } from '../../x402/model.ts'
import type { ChainOf, Checkpoint, PayerWallet, PaymentStore, Seller, Treasury } from '../ports/payment.ts'
import { FUNDING_SECONDS } from '../rules/funding.ts'
import { choose, secondsFor } from '../rules/offers.ts'
import { readOffers } from '../../x402/offers.ts'
import { paymentHeader } from '../../x402/pay.ts'
import type { Guard } from './guard.ts'
import type { Held, Later } from './later.ts'
import type { Look } from './look.ts'
import { canonicalHash } from '../../kit/hash.ts'
import type { Signing } from './sign.ts'

/**
 * Pays an address that asks for money by x402: asks it, reserves its price, signs one authorization for exactly that
 * and asks again with it. Whatever the seller does then, nothing else is ever signed for this call.
 */
export function createPay(parts: PayParts) {
  const { store, seller, outflow, clock, patienceMs } = parts
  const limits = { bodyBytes: BODY_BYTES, headersMs: patienceMs, idleMs: patienceMs, totalMs: patienceMs }

  async function pay(buyer: Buyer, ask: PaidAsk, operation: Id<'op'>, how: How): Promise<PaidCall> {
    const { owner } = buyer
    const id = idLike('pay', operation)
    const before = how.again ? await store.find(owner, id) : null
    if (before !== null) return await proceed(before, ask)
    await outflow.assertOpen()
    seller.checkHeaders(ask.headers)
    await seller.checkAddress(ask.url)
    const spender = spenderOf(buyer, ask, how.onApproved)
    // Before a stranger hears anything: one that may not be paid is not asked either.
    if (spender !== null) await parts.mayReach(owner, spender, id)
    const first = await seller.send({ ...requestOf(ask), limits, redirects: 'pass' })
    if (first.status !== 402) return { payment: null, response: toAnswer(first) }
    const network = owner.environment === 'production' ? NETWORKS.base : NETWORKS['base-sepolia']
    const payer = await payerFor(owner, network)
    const choice = choose(readOffers(first), network, payer.address, ask.maxAmount)
    if ('tooDear' in choice) throw priceTooHigh(choice.tooDear, ask.maxAmount)
    if ('unfit' in choice) throw noFitOffer(choice.unfit)
    // Before its address meets anything else of ours; the reservation asks again.
    outflow.assertAllowed(choice.offer.payTo)
    const payment = await draft(buyer, ask, { id, network, payer, ...choice })
    const reserved = await reserve(payment, spender)
    await parts.checkpoint('reserved')
    return await proceed(reserved, ask)
  }

  /** Where the account pays from; or why nothing can be paid here, for the operator to read. */
  async function payerFor(owner: Owner, { name }: Network): Promise<PayerWallet> {
    if (parts.chainOf(name) === null) {
      const rpc = name === 'base' ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS'
      throw payerUnavailable(`This server has no RPC for ${name}: ${rpc} must be set.`)
    }
    if (parts.treasury.address() === null) {
      throw payerUnavailable('This server has no treasury to pay from: WALLET_XPUB and WALLET_XPRV must be set.')
    }
    const payer = await parts.signing.payerOf(owner)
    const lack = parts.lacks({ network: name, owner, payer: payer.address })
    if (lack !== null) throw payerUnavailable(lack)
    return payer
  }

  async function draft(buyer: Buyer, ask: PaidAsk, priced: Priced): Promise<Payment> {
    const { id, network, offer, amount, payer } = priced
    const chain = parts.chainOf(network.name)
    const treasury = parts.treasury.address()
    if (chain === null || treasury === null) throw payerUnavailable('This server cannot pay now.')
    const [head, available, promised] = await Promise.all([
      chain.head(),
      parts.treasury.available(network.name),
      store.promised(treasury),
    ])
    if (available - promised + payer.spare < amount) throw tooLittle(network.name)
    const now = clock.now()
    return {
      id,
      owner: buyer.owner,
      agentId: buyer.agentId,
      state: 'reserved',
      url: ask.url,
      method: ask.method,
      requestHash: hashOf(ask),
      maxAmount: ask.maxAmount,
      amount,
      network: network.name,
      payer: payer.address,
      payTo: offer.payTo.toLowerCase() as Hex,
      validBefore: BigInt(Math.floor(now.getTime() / 1000) + secondsFor(offer) + FUNDING_SECONDS),
      nonce: `0x${randomBytes(32).toString('hex')}`,
      signature: null,
      asked: offer,
      seenBlock: head.number,
      funding: null,
      answerStatus: null,
      txHash: null,
      reason: null,
      createdAt: now,
      endedAt: null,
    }
  }

  /** Money and authorization in one transaction; nothing is signed that nothing is set aside for. */
  async function reserve(payment: Payment, spender: Spender | null): Promise<Payment> {
    const { id, owner, amount, payTo: to, createdAt } = payment
    // Not a time: only the chain says when the money cannot leave any more, and the ledger's sweeper cannot ask it.
    const deadline = new Date(createdAt.getTime() + NEVER_MS)
    const lock = { id, owner, amount, useCredits: false, deadline, reference: payment.url.slice(0, 500), spender }
    for (;;) {
      const outcome = await parts.guard.actTogether([{ reserve: lock }], async (inside: Statements, [outcome]) => {
        if (outcome === undefined || !('hold' in outcome)) return outcome
        await store.add(inside, payment, lookAt(LOOK_MS))
        await outflow.take({ id, owner, kind: 'pay', to, amount }, inside)
        return outcome
      })
      if (outcome !== undefined && 'hold' in outcome) return payment
      if (outcome !== undefined && 'refusal' in outcome) throw outcome.refusal
    }
  }

  /** From wherever it stands; the same authorization however often. */
  async function proceed(payment: Payment, ask: PaidAsk): Promise<PaidCall> {
    if (payment.state === 'settled' || payment.state === 'returned') return { payment, response: null }
    const signed = await inTime(payment)
    const { signature } = signed
    if (signature === null) throw told(unsigned(signed), signed)
    // An authorization that nobody has seen stays here; one that was sent is not sent again.
    if (await outflow.isPaused()) throw told(payoutsPausedAfterHold(), signed)
    // Written before it leaves: from here on only the chain gives the money back.
    if (!(await store.send(signed.id, lookAt(patienceMs)))) return { payment: await current(signed), response: null }
    await parts.checkpoint('sent')
    const request = requestOf(ask)
    const headers = { ...request.headers, ...paymentHeader({ ...signed, signature }, parts.written(signed.payer)) }
    let answer: Answer
    try {
      answer = await seller.send({ ...request, headers, limits, redirects: 'pass' })
    } catch (error) {
      throw error instanceof DomainError ? told(error, signed) : error
    }
    await store.answered(signed.id, answer.status)
    await parts.checkpoint('answered')
    // Most sellers settle before they answer; of the others the sweeper hears.
    await parts.look({ ...signed, state: 'sent' }).catch(() => undefined)
    return { payment: await current(signed), response: toAnswer(answer) }
  }

  async function inTime(payment: Payment): Promise<Payment> {
    try {
      return payment.signature === null ? await parts.signing.signed(payment) : payment
    } catch (error) {
      throw error instanceof DomainError ? told(error, payment) : error
    }
  }

  async function current({ owner, id }: Payment): Promise<Payment> {
    const found = await store.find(owner, id)
    if (found === null) throw paymentMissing()
    return found
  }

  /** Whoever is told of a failure after the reservation is told where the money is. */
  function told(error: DomainError, { id }: Payment): DomainError {
    const fields = { ...error.fields, paymentId: id, statusUrl: parts.statusUrl(id) }
    return new DomainError(error.kind === 'invalid' ? 'upstream' : error.kind, error.code, error.message, fields, error)
  }

  function lookAt(inMs: number): Date {
    return new Date(clock.now().getTime() + inMs)
  }

  /** Without an answer that anybody waits for. */
  async function payHeld({ owner, agentId, ask, operation }: Held): Promise<void> {
    const id = idLike('pay', operation)
    if ((await parts.later.answerOf(id)) !== null) return
    const { payment, response } = await pay({ owner, agentId }, ask, operation, { again: true, onApproved: null })
    if (payment !== null && response !== null) await parts.later.keep(payment.id, response)
  }

  return {
    pay(caller: Caller, ask: PaidAsk, operation: Id<'op'>, { keyed, goesOn }: { keyed: boolean; goesOn: boolean }) {
      const buyer = { owner: ownerOf(caller), agentId: caller.agentId }
      const onApproved = goesOn ? parts.later.announcement({ ...buyer, ask, operation }) : null
      return pay(buyer, ask, operation, { again: keyed, onApproved })
    },

    /** A call that was approved while nobody waited for it. May be told twice. */
    async payApproved(payload: Readonly<Record<string, unknown>>): Promise<void> {
      const held = parts.later.read(payload)
      try {
        await payHeld(held)
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind === 'unavailable' || error.kind === 'failed') throw error
        // It was refused as it would have been with somebody waiting: nothing to try again.
        parts.log.info({ code: error.code, operation: held.operation }, 'an approved call was not paid')
      }
    },

    async find(caller: Caller, id: string): Promise<PaidCall & { payment: Payment }> {
      const found = await store.find(ownerOf(caller), id)
      if (found === null || (caller.agentId !== null && found.agentId !== caller.agentId)) throw paymentMissing()
      return { payment: found, response: await parts.later.answerOf(id) }
    },

    list: (caller: Caller, page: Page) => store.list(ownerOf(caller), caller.agentId, page),
  }
}

export interface PayParts {
  store: PaymentStore
  guard: Pick<Guard, 'actTogether'>
  outflow: Pick<Outflows, 'assertOpen' | 'assertAllowed' | 'take' | 'isPaused'>
  seller: Seller
  signing: Pick<Signing, 'payerOf' | 'signed'>
  /** A sentence for the operator where this process should pay and cannot. */
  lacks(payment: Pick<Payment, 'network' | 'owner' | 'payer'>): string | null
  treasury: Treasury
  chainOf: ChainOf
  clock: Clock
  log: Log
  later: Later
  checkpoint: Checkpoint
  /** As people write an address, with its checksum. */
  written(address: Address): string
  /** Throws where the agent's lists, or its standing, forbid to ask this address at all. */
  mayReach(owner: Owner, spender: Spender, reference: string): Promise<void>
  look: Look
  statusUrl(id: Payment['id']): string
  /** How long a seller has for each of its two answers. */
  patienceMs: number
}

/** Whose money, and by which of their programs. */
interface Buyer {
  owner: Owner
  agentId: string | null
}

interface How {
  /** The same operation may have begun before. */
  again: boolean
  onApproved: Announcement | null
}

interface Priced {
  id: Id<'pay'>
  network: Network
  offer: Offer
  amount: Usdc
  payer: PayerWallet
}

function spenderOf({ agentId }: Buyer, ask: PaidAsk, onApproved: Announcement | null): Spender | null {
  if (agentId === null) return null
  const { origin, pathname, host } = new URL(ask.url)
  return {
    agentId,
    kind: 'pay',
    target: `${origin}${pathname}`.slice(0, 2_000),
    domain: host,
    requestHash: hashOf(ask),
    ...(onApproved === null ? {} : { onApproved }),
  }
}

function tooLittle(network: string): DomainError {
  return payerUnavailable(`The treasury of this server has too little USDC on ${network}.`)
}

/** What stands in the way of the signature, or did. */
function unsigned({ state, reason, network }: Payment): DomainError {
  if (state !== 'returned') return payerUnavailable('The payment is still on its way to its payer wallet.')
  switch (reason) {
    case 'treasury_short':
      return tooLittle(network)
    case 'not_set_up':
      return payerUnavailable('The worker of this server is not set up to pay: its log says what must be set.')
    default:
      return payerUnavailable('The payer wallet did not get its money in time. Nothing was paid.')
  }
}

function hashOf({ url, method, headers, body, maxAmount }: PaidAsk): string {
  return canonicalHash([url, method, headers, body, maxAmount]).toString('hex')
}

function requestOf({ url, method, headers, body }: PaidAsk) {
  return { url, method, headers, ...(body === null ? {} : { body }) }
}

/** What a program can read stays readable. */
function toAnswer({ status, headers, body }: Answer): SellerAnswer {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return { status, headers, body: text, encoding: 'utf8' }
  } catch {
    return { status, headers, body: body.toString('base64'), encoding: 'base64' }
  }
}

const BODY_BYTES = 1_048_576
const LOOK_MS = 5_000
const NEVER_MS = 10 * 365 * 86_400_000
