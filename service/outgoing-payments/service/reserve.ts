import { randomBytes } from 'node:crypto'
import type { Hex } from '../../chain/model.ts'
import type { Network } from '../../chain/networks.ts'
import type { Spender } from '../../budgets/model.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import { challengeRepeated, payerUnavailable, treasuryShort } from '../errors.ts'
import type { Payment, PaymentOrder } from '../model.ts'
import type { PayerWallet } from '../ports.ts'
import type { Outflow } from '../../outflow/model.ts'
import type { Statements } from '../../kit/transaction.ts'
import { requestHash, validBeforeOf } from '../rules.ts'
import type { Offer } from '../../x402/model.ts'
import { demandedNonce } from '../../x402/offers.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import type { Funding } from './fund.ts'
import type { Signing } from './sign.ts'

/** Sets a payment's money aside, together with the authorization that may be signed for it. */
export function createReservation(deps: ReservationDeps) {
  const { store, treasury, chainOf, clock, signing, funding, isWorker } = deps

  async function draft({ owner, agentId, request }: PaymentOrder, priced: Priced): Promise<Payment> {
    const { id, network, offer, amount, payer } = priced
    const chain = chainOf(network.name)
    const from = treasury.address()
    if (chain === null || from === null) throw payerUnavailable('This server cannot pay now.')
    const [head, available, promised] = await Promise.all([
      chain.head(),
      treasury.available(network.name),
      store.promised(from, network.name),
    ])
    if (available - promised + payer.spare < amount) throw treasuryShort(network.name)
    const now = clock.now()
    return {
      id,
      owner,
      agentId,
      state: 'reserved',
      url: request.url,
      method: request.method,
      requestHash: requestHash(request),
      maxAmount: request.maxAmount,
      amount,
      network: network.name,
      payer: payer.address,
      payTo: offer.payTo.toLowerCase() as Hex,
      validBefore: validBeforeOf(offer, now),
      nonce: demandedNonce(offer) ?? `0x${randomBytes(32).toString('hex')}`,
      signature: null,
      offer,
      seenBlock: head.number,
      funding: null,
      answerStatus: null,
      receipt: null,
      txHash: null,
      reason: null,
      createdAt: now,
      endedAt: null,
    }
  }

  return {
    /** Where the account pays from; or why nothing can be paid here, for the operator to read. */
    async payerFor(owner: Owner, { name }: Network): Promise<PayerWallet> {
      if (chainOf(name) === null) {
        const rpc = name === 'base' ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS'
        throw payerUnavailable(`This server has no RPC for ${name}: ${rpc} must be set.`)
      }
      if (treasury.address() === null) {
        throw payerUnavailable('This server has no treasury to pay from: WALLET_XPUB and WALLET_XPRV must be set.')
      }
      const payer = await signing.payerOf(owner)
      const lack = isWorker ? funding.lacks({ network: name, owner, payer: payer.address }) : null
      if (lack !== null) throw payerUnavailable(lack)
      return payer
    },

    /** Money and authorization in one transaction; nothing is signed that nothing is set aside for. */
    async reserve(order: PaymentOrder, priced: Priced, spender: Spender | null): Promise<Payment> {
      const payment = await draft(order, priced)
      const { id, owner, amount, payTo: to, url } = payment
      await setAside(deps, { outflow: { id, owner, kind: 'pay', to, amount }, url, spender }, async (inside) => {
        const lookAt = new Date(clock.now().getTime() + LOOK_MS)
        // One payment for each nonce: the chain could not say which of two has used it.
        if (!(await store.add(inside, payment, lookAt))) throw challengeRepeated()
      })
      return payment
    },
  }
}

/** Holds what is about to leave an account and counts it, in the transaction in which `write` stores what it is for. */
export async function setAside<T>(
  { budgets, outflow, clock }: Pick<OutgoingPaymentDeps, 'budgets' | 'outflow' | 'clock'>,
  { outflow: leaving, url, spender }: Leaving,
  write: (inside: Statements) => Promise<T>,
): Promise<T> {
  const { id, owner, amount } = leaving
  // Not a time: only who follows the payment knows when the money cannot leave any more, and the ledger's sweeper cannot ask.
  const deadline = new Date(clock.now().getTime() + NEVER_MS)
  const hold = { id, owner, amount, useCredits: false, deadline, reference: url.slice(0, 500), spender }
  for (;;) {
    const outcome = await budgets.actTogether([{ reserve: hold }], async (inside, [outcome]) => {
      if (outcome === undefined || !('hold' in outcome)) return outcome
      const written = await write(inside)
      await outflow.take(leaving, inside)
      return { written }
    })
    if (outcome !== undefined && 'written' in outcome) return outcome.written
    if (outcome !== undefined && 'refusal' in outcome) throw outcome.refusal
  }
}

interface Leaving {
  outflow: Outflow
  /** What is bought, for the statement. */
  url: string
  spender: Spender | null
}

export type Reservation = ReturnType<typeof createReservation>

type ReservationDeps = OutgoingPaymentDeps & { signing: Signing; funding: Funding }

interface Priced {
  id: Id<'pay'>
  network: Network
  offer: Offer
  amount: Usdc
  payer: PayerWallet
}

const LOOK_MS = 5_000
const NEVER_MS = 10 * 365 * 86_400_000
