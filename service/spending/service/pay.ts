import { randomBytes } from 'node:crypto'
import type { Hex } from '../../chain/model.ts'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import { ownerOf, type Caller } from '../../identity/model.ts'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { idLike, type Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../ledger/model.ts'
import type { Answer } from '../../outbound/model.ts'
import { noFitOffer, payerUnavailable, paymentMissing, priceTooHigh } from '../errors.ts'
import type { Page, Spender } from '../model.ts'
import type { Offer, PaidAsk, PaidCall, Payment, SellerAnswer } from '../model/payment.ts'
import type { ChainOf, Payer, PaymentStore, Seller } from '../ports/payment.ts'
import { choose, secondsFor } from '../rules/offers.ts'
import { readOffers } from '../x402/read.ts'
import { paymentHeader } from '../x402/write.ts'
import type { Guard } from './guard.ts'
import type { Look } from './look.ts'
import { requestHash } from './request.ts'

/**
 * Pays an address that asks for money by x402: asks it, reserves its price, signs one authorization for exactly that
 * and asks again with it. Whatever the seller does then, nothing else is ever signed for this call.
 */
export function createPay(parts: PayParts) {
  const { store, seller, clock, patienceMs } = parts
  const limits = { bodyBytes: BODY_BYTES, headersMs: patienceMs, idleMs: patienceMs, totalMs: patienceMs }

  async function pay(caller: Caller, ask: PaidAsk, operation: Id<'op'>, keyed: boolean): Promise<PaidCall> {
    const owner = ownerOf(caller)
    const id = idLike('pay', operation)
    const before = keyed ? await store.find(owner, id) : null
    if (before !== null) return await proceed(before, ask)
    seller.checkHeaders(ask.headers)
    await seller.checkAddress(ask.url)
    const spender = spenderOf(caller, ask)
    // Before a stranger hears anything: one that may not be paid is not asked either.
    if (spender !== null) await parts.mayReach(owner, spender, id)
    const first = await seller.send({ ...requestOf(ask), limits, redirects: 'pass' })
    if (first.status !== 402) return { payment: null, response: toAnswer(first) }
    const network = owner.environment === 'production' ? NETWORKS.base : NETWORKS['base-sepolia']
    const { offer, amount } = chosen(readOffers(first), network, ask.maxAmount)
    const payment = await draft(caller, ask, { id, network, offer, amount })
    const reserved = await reserve(payment, spender)
    return await proceed(reserved, ask)
  }

  function chosen(offers: readonly Offer[], network: Network, maxAmount: Usdc): { offer: Offer; amount: Usdc } {
    const { payer } = parts
    if (payer === null) throw payerUnavailable('This server has no payer wallet: PAYER_SEED is not set.')
    const choice = choose(offers, network, payer.address, maxAmount)
    if ('tooDear' in choice) throw priceTooHigh(choice.tooDear, maxAmount)
    if ('unfit' in choice) throw noFitOffer(choice.unfit)
    return choice
  }

  async function draft(caller: Caller, ask: PaidAsk, priced: Priced): Promise<Payment> {
    const { id, network, offer, amount } = priced
    const chain = parts.chainOf(network.name)
    const { payer } = parts
    if (payer === null || chain === null) throw payerUnavailable(`This server has no RPC for ${network.name}.`)
    const [head, balance, outstanding] = await Promise.all([
      chain.head(),
      chain.balanceOf(payer.address),
      store.outstanding(network.name),
    ])
    if (balance < outstanding + amount)
      throw payerUnavailable(`The payer wallet has too little USDC on ${network.name}.`)
    const now = clock.now()
    return {
      id,
      owner: ownerOf(caller),
      agentId: caller.agentId,
      state: 'reserved',
      url: ask.url,
      method: ask.method,
      requestHash: hashOf(ask),
      maxAmount: ask.maxAmount,
      amount,
      network: network.name,
      payer: payer.address,
      payTo: offer.payTo.toLowerCase() as Hex,
      validBefore: BigInt(Math.floor(now.getTime() / 1000) + secondsFor(offer)),
      nonce: `0x${randomBytes(32).toString('hex')}`,
      signature: null,
      asked: offer,
      seenBlock: head.number,
      answerStatus: null,
      txHash: null,
      createdAt: now,
      endedAt: null,
    }
  }

  /** Money and authorization in one transaction; nothing is signed that nothing is set aside for. */
  async function reserve(payment: Payment, spender: Spender | null): Promise<Payment> {
    const { id, owner, amount, createdAt } = payment
    // Not a time: only the chain says when the money cannot leave any more, and the ledger's sweeper cannot ask it.
    const deadline = new Date(createdAt.getTime() + NEVER_MS)
    const lock = { id, owner, amount, useCredits: false, deadline, reference: payment.url.slice(0, 500), spender }
    for (;;) {
      const outcome = await parts.guard.actTogether([{ reserve: lock }], async (inside: Statements, [outcome]) => {
        if (outcome !== undefined && 'hold' in outcome) await store.add(inside, payment, lookAt(UNSIGNED_MS))
        return outcome
      })
      if (outcome !== undefined && 'hold' in outcome) return payment
      if (outcome !== undefined && 'refusal' in outcome) throw outcome.refusal
    }
  }

  /** From wherever it stands; the same authorization however often. */
  async function proceed(payment: Payment, ask: PaidAsk): Promise<PaidCall> {
    if (payment.state === 'settled' || payment.state === 'returned') return { payment, response: null }
    const signed = payment.signature === null ? await parts.signed(payment) : payment
    const { signature } = signed
    const { payer } = parts
    if (signature === null || payer === null) throw told(payerUnavailable('Nobody who may sign is there.'), signed)
    // Written before it leaves: from here on only the chain gives the money back.
    if (!(await store.send(signed.id, lookAt(patienceMs)))) return { payment: await current(signed), response: null }
    const request = requestOf(ask)
    const headers = { ...request.headers, ...paymentHeader({ ...signed, signature }, payer.checksummed) }
    let answer: Answer
    try {
      answer = await seller.send({ ...request, headers, limits, redirects: 'pass' })
    } catch (error) {
      throw error instanceof DomainError ? told(error, signed) : error
    }
    await store.answered(signed.id, answer.status)
    // Most sellers settle before they answer; of the others the sweeper hears.
    await parts.look({ ...signed, state: 'sent' }).catch(() => undefined)
    return { payment: await current(signed), response: toAnswer(answer) }
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

  return {
    pay,

    async find(caller: Caller, id: string): Promise<Payment> {
      const found = await store.find(ownerOf(caller), id)
      if (found === null || (caller.agentId !== null && found.agentId !== caller.agentId)) throw paymentMissing()
      return found
    },

    list: (caller: Caller, page: Page) => store.list(ownerOf(caller), caller.agentId, page),
  }
}

export interface PayParts {
  store: PaymentStore
  guard: Pick<Guard, 'actTogether'>
  seller: Seller
  /** Null where this server pays nothing. */
  payer: Payer | null
  chainOf: ChainOf
  clock: Clock
  /** Throws where the agent's lists, or its standing, forbid to ask this address at all. */
  mayReach(owner: Owner, spender: Spender, reference: string): Promise<void>
  /** With its signature, once whoever holds the key has signed. */
  signed(payment: Payment): Promise<Payment>
  look: Look
  statusUrl(id: Payment['id']): string
  /** How long a seller has for each of its two answers. */
  patienceMs: number
}

interface Priced {
  id: Id<'pay'>
  network: Network
  offer: Offer
  amount: Usdc
}

function spenderOf({ agentId }: Caller, ask: PaidAsk): Spender | null {
  if (agentId === null) return null
  const { origin, pathname, host } = new URL(ask.url)
  return {
    agentId,
    kind: 'pay',
    target: `${origin}${pathname}`.slice(0, 2_000),
    domain: host,
    requestHash: hashOf(ask),
  }
}

function hashOf({ url, method, headers, body, maxAmount }: PaidAsk): string {
  return requestHash([url, method, headers, body, maxAmount])
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
/** A payment that nobody has signed for by then is given back. */
const UNSIGNED_MS = 30_000
const NEVER_MS = 10 * 365 * 86_400_000
