import { ZERO, type Usdc } from '../../kit/money.ts'
import { claimedSale, type AccountFor, type MethodName, type NewSale, type Right, type Sale } from '../model.ts'
import type { Claim } from '../ports.ts'
import type { FreeTerms, Product, PurchaseRequest, SellingDeps, Sold } from './deps.ts'
import type { createProcessing } from './process.ts'
import { assertFirst, isOwn, tokenHash } from './proof.ts'
import type { Known } from './recognize.ts'

/**
 * Sells to buyers who sign nothing: who have a right to it, or pay from an account of this server. The same states, without an
 * authorization. The order's operation must name the buyer's own request, so that the same request finds its sale.
 */
export function createUnsignedSelling<Order extends PurchaseRequest, Value>(
  deps: SellingDeps,
  product: Product<Order, Value>,
  { processing, replay }: Going<Order, Value>,
) {
  const { journal, tokens, clock, failpoints } = deps

  /** Two equal requests at the same time get the same sale. */
  async function once(
    { order, id }: { order: Order; id: string },
    again: (known: Sale) => Promise<Sold<Value>>,
    { terms, buyer, more }: Unsigned,
  ): Promise<Sold<Value>> {
    const { workMs, holds = false, ...about } = terms
    const leave = await product.enter?.(order)
    try {
      const now = clock.now()
      const { leaseUntil, resumeAt } = processing.leaseFor({ workMs, holds })
      const unsigned = { digest: null, request: null, identifier: null, escrow: null, facilitator: null, ...buyer }
      const proof = { tokenHash: tokenHash(order.token ?? tokens.of(id)) }
      const sale: NewSale = { ...about, ...unsigned, ...proof, product: product.name, id, leaseUntil, createdAt: now }
      const state = holds ? 'held' : 'claimed'
      const claim: Claim = { state, resumeAt, promised: false, balance: null, ...more }
      const twin = await begin(sale, claim)
      if (twin !== null) return await again(twin)
      await failpoints.reach('sale claimed')
      return await processing.processSale(order, { ...claimedSale(sale), state }, workMs === 0)
    } finally {
      leave?.()
    }
  }

  /** Returns what the same request has begun at the same time: it may have used the last of the right. */
  async function begin(sale: NewSale, claim: Claim): Promise<Sale | null> {
    try {
      await journal.begin(sale, claim)
      return null
    } catch (error) {
      const twin = await journal.findById(sale.id)
      if (twin === null) throw error
      return twin
    }
  }

  return {
    async buyFree(order: Order, right: Right): Promise<Sold<Value>> {
      const id = product.idOf(order.operation)
      const again = async (known: Sale): Promise<Sold<Value>> => {
        // A code is no proof of who used it, as a pass's token and a wallet's signature are.
        if (right.kind === 'coupon') assertFirst(tokens, known, order.token)
        return await replay(order, { known, proven: true })
      }
      const known = await journal.findById(id)
      if (known !== null) return await again(known)
      const terms = product.freeTerms?.(order, right)
      if (terms === undefined) throw new Error('this product is not sold for nothing')
      const { payer, simulated } = right
      const buyer = { payer, simulated, method: 'free' } as const
      return await once({ order, id }, again, { terms: { ...terms, amount: ZERO }, buyer, more: { note: right } })
    },

    /** What this operation, of which the buyer has the proof, ran before. Null where nothing. */
    async ranFree(order: Order): Promise<Sold<Value> | null> {
      const known = await journal.findById(product.idOf(order.operation))
      return known === null ? null : await replay(order, { known, proven: true })
    },

    /** What its buyer had before, by the token of that sale. Null where there was none, or it is somebody else's. */
    async boughtFree(order: Order): Promise<Sold<Value> | null> {
      const known = await journal.findById(product.idOf(order.operation))
      if (known === null || !isOwn(tokens, known, order.token)) return null
      return await replay(order, { known, proven: true })
    },

    /** Null where its seller is paid outside of this server. The operation must be one of this account's program alone. */
    async buyFromAccount(order: Order, accountFor: AccountFor): Promise<Sold<Value> | null> {
      const id = product.idOf(order.operation)
      const again = (known: Sale): Promise<Sold<Value>> => replay(order, { known, proven: true })
      const known = await journal.findById(id)
      if (known !== null) return await again(known)
      const terms = product.accountTerms?.(order)
      if (terms === undefined) throw new Error('this product is not sold to accounts so')
      const account = await accountFor(terms)
      if (account === null) return null
      const { payer, agentId } = account
      const details = { ...terms.details, buyer: { agentId } }
      const buyer = { payer, simulated: false, method: 'account' } as const
      const within: Claim['within'] = (write) => account.setAside(id, write)
      return await once({ order, id }, again, { terms: { ...terms, details }, buyer, more: { note: null, within } })
    },
  }
}

interface Unsigned {
  terms: FreeTerms & { amount: Usdc }
  buyer: Pick<Sale, 'payer' | 'simulated'> & { method: MethodName }
  more: Pick<Claim, 'note' | 'within'>
}

interface Going<Order extends PurchaseRequest, Value> {
  processing: Pick<ReturnType<typeof createProcessing<Order, Value>>, 'processSale' | 'leaseFor'>
  replay(order: Order, known: Known): Promise<Sold<Value>>
}
