import { randomBytes } from 'node:crypto'
import type { Address, Chain, Hex } from '../../chain/model.ts'
import { NETWORKS, newestConfirmed, transactionUrl, transferLink } from '../../chain/networks.ts'
import type { Chosen } from '../../checkouts/service/product.ts'
import { transfersUnavailable } from '../../checkouts/errors.ts'
import { qrOf } from '../../checkouts/service/presenter.ts'
import { attemptOf, deriveId, type Id } from '../../kit/ids.ts'
import { sum, toWire, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { ReceiptTo } from '../../sales/model.ts'
import {
  addressMissing,
  nothingToReturn,
  orderPaying,
  returnsOfTheDay,
  returnUnderWay,
  tooManyReturns,
  tooManyTries,
} from '../errors.ts'
import type { AddressReturn, PaymentAddress } from '../model.ts'
import {
  arrivalEnd,
  arrivalTimes,
  CANCELED,
  orderNonce,
  RETURN,
  returnable,
  statusOf,
  type AddressStatus,
} from '../rules.ts'
import type { NewReturn } from '../ports.ts'
import type { PaymentAddressDeps } from './deps.ts'
import { createFollowing } from './follow.ts'

/** Orders that are paid by plain transfers, each to an address of its own. */
export function createPaymentAddresses(deps: PaymentAddressDeps) {
  const { store, checkouts, recipients, book, chains, tokens, clock } = deps

  /** The holder of its token is its buyer. */
  async function own(checkout: string, { id, token }: Proof): Promise<PaymentAddress> {
    const found = await store.find(id)
    if (found?.checkoutId !== checkout || !tokens.matches(found.id, null, token)) throw addressMissing()
    return found
  }

  async function shown(of: PaymentAddress): Promise<PaymentAddressView> {
    const { id, network: name, state, attempt, amount, balance, checkoutId, reason } = of
    const network = NETWORKS[name]
    const address = book?.written(of.address) ?? of.address
    const returns = await store.returnsOf(id)
    const paid = state === 'paid' ? amount : ZERO
    const returned = sum(returns.filter((one) => one.state === 'settled').map((one) => one.amount))
    const missing = state === 'open' && balance < amount ? usdc(amount - balance) : ZERO
    const link = missing === ZERO ? null : transferLink(network, address, missing)
    const payment = attempt === 0 ? null : deriveId('pay', attemptOf(id, attempt))
    return {
      id,
      checkoutId,
      status: statusOf(of),
      network: name,
      chainId: network.chainId,
      address,
      amount: toWire(amount),
      received: toWire(usdc(balance + paid + returned)),
      missing: toWire(missing),
      link,
      qr: link === null ? null : qrOf(link),
      left: toWire(state === 'paying' ? ZERO : balance),
      reason,
      // A refused attempt has made no payment.
      payment: state !== 'paid' || payment === null ? null : { id: payment, token: tokens.of(payment) },
      returns: returns.map(({ recipient, amount: back, state: end, transactionHash }) => ({
        to: book?.written(recipient) ?? recipient,
        amount: toWire(back),
        status: end === 'open' ? 'returning' : end === 'settled' ? 'returned' : 'failed',
        explorerUrl: transactionUrl(network.name, transactionHash),
      })),
      returnMinimum: toWire(RETURN.minimum),
      expiresAt: of.expiresAt.toISOString(),
      createdAt: of.createdAt.toISOString(),
    }
  }

  return {
    ...createFollowing(deps),

    /** An address for this order, and the token that shows who its buyer is. The same operation has the same address. */
    async open(checkout: string, order: WantedOrder, operation: Id<'op'>): Promise<OpenedAddress> {
      const { receipt, ...chosen } = order
      const now = clock.now()
      const times = arrivalTimes(now)
      const { endsAt, quoteId, seconds, ...terms } = await checkouts.transferTerms(checkout, chosen, times)
      if (book === null) throw transfersUnavailable()
      const bought = { input: order.input, choice: order.choice, quoteId, seconds, receipt }
      const id = deriveId('adr', operation)
      const place = { id, checkoutId: checkout, account: book.account, expiresAt: arrivalEnd(now, endsAt) }
      const derive = (index: number): Address => book.paymentAddressAt(index)
      const made = await store.add({ ...terms, ...place, bought, createdAt: now, derive })
      return { address: await shown(made), token: tokens.of(made.id) }
    },

    /** How it stands, for its buyer. */
    async view(checkout: string, proof: Proof): Promise<PaymentAddressView> {
      const found = await own(checkout, proof)
      await store.lookSoon(found.id, clock.now())
      return await shown(found)
    },

    /** Sends what is left there to an address of the buyer's. An order that was not paid yet ends with it. */
    async giveBack(checkout: string, proof: Proof, written: Address): Promise<PaymentAddressView> {
      const found = await own(checkout, proof)
      const recipient = written.toLowerCase() as Address
      await recipients.assertSpendable(recipient, found.network, [
        [found.address, 'is the address that the money is at'],
      ])
      const chain = chains.get(found.network)
      if (chain === undefined) throw transfersUnavailable()
      const amount = await leftAt(chain, found)
      const since = new Date(clock.now().getTime() - DAY_MS)
      await store.addReturn({ id: found.id, since }, (of, returns, ofSeller) => {
        assertReturnable(of, returns, since)
        if (ofSeller >= RETURN.mostOfSeller) throw returnsOfTheDay()
        // It was read for the state in which the address was.
        if (amount === ZERO || of.state !== found.state) throw nothingToReturn(RETURN.minimum)
        return newReturn(recipient, amount, clock.now())
      })
      return await shown((await store.find(found.id)) ?? found)
    },
  }

  async function leftAt(chain: Chain, of: PaymentAddress): Promise<Usdc> {
    const { number: head } = await chain.head()
    const deep = newestConfirmed(head, deps.confirmations)
    if (deep < 0n) return ZERO
    const [[balance = 0n], [deepBalance = 0n], paid] = await Promise.all([
      chain.balancesAt([of.address], head),
      chain.balancesAt([of.address], deep),
      of.state === 'paid' ? chain.authorizationAt(of.address, orderNonce(of), deep) : null,
    ])
    const seen = { balance: usdc(balance), deepBalance: usdc(deepBalance), isPaidDeep: paid?.used ?? false }
    return returnable(of, seen)
  }
}

const DAY_MS = 86_400_000

function newReturn(recipient: Address, amount: Usdc, now: Date): NewReturn {
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
  const validBefore = BigInt(Math.floor(now.getTime() / 1_000) + RETURN.validSeconds)
  return { recipient, amount, nonce, validBefore, createdAt: now, closes: CANCELED }
}

/** With the returns of the address. What is asked for at one address must not use up what all of a seller's have. */
function assertReturnable({ state }: PaymentAddress, returns: readonly AddressReturn[], since: Date): void {
  if (state === 'paying') throw orderPaying()
  if (returns.some((one) => one.state === 'open')) throw returnUnderWay()
  if (returns.filter((one) => one.state === 'settled').length >= RETURN.most) throw tooManyReturns(RETURN.most)
  const recent = returns.filter(({ createdAt }) => createdAt > since)
  if (recent.length >= RETURN.mostTries) throw tooManyTries(RETURN.mostTries)
}

export type PaymentAddresses = ReturnType<typeof createPaymentAddresses>

/** What names an address and proves its buyer. */
interface Proof {
  id: string
  token: string | null
}

export interface WantedOrder extends Chosen {
  receipt: ReceiptTo | null
}

export interface OpenedAddress {
  address: PaymentAddressView
  token: string
}

/** What the buyer sees: amounts are decimals and times are text. */
export interface PaymentAddressView {
  id: string
  checkoutId: string
  status: AddressStatus
  network: PaymentAddress['network']
  chainId: number
  address: string
  amount: number
  received: number
  missing: number
  link: string | null
  /** The same as a picture, in SVG. */
  qr: string | null
  left: number
  reason: string | null
  payment: { id: string; token: string } | null
  returns: { to: string; amount: number; status: 'returning' | 'returned' | 'failed'; explorerUrl: string | null }[]
  returnMinimum: number
  expiresAt: string
  createdAt: string
}
