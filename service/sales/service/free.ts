import { ZERO } from '../../kit/money.ts'
import { claimedSale, type NewSale, type Right, type Sale } from '../model.ts'
import { nextResume } from '../rules.ts'
import type { FreeTerms, Product, PurchaseRequest, SellingDeps, Sold } from './deps.ts'
import type { createProcessing } from './process.ts'
import { assertFirst, tokenHash } from './proof.ts'
import type { Known } from './recognize.ts'

/**
 * Sells to a buyer who has a right to it: the same states, without an authorization. The order's operation must follow from
 * the right and the request, so that the same request finds its sale.
 */
export function createFreeSelling<Order extends PurchaseRequest, Value>(
  { journal, tokens, clock, failpoints }: SellingDeps,
  product: Product<Order, Value>,
  { processing, replay }: Going<Order, Value>,
) {
  async function claim(order: Order, terms: FreeTerms & { id: string }, right: Right): Promise<Sold<Value>> {
    const now = clock.now()
    const { workMs, holds = false, ...about } = terms
    const { payer, simulated } = right
    const state = holds ? 'held' : 'claimed'
    const leaseUntil = holds ? new Date(now.getTime() + workMs) : null
    const unsigned = { digest: null, request: null, identifier: null, escrow: null }
    const proof = { tokenHash: tokenHash(order.token ?? tokens.of(about.id)) }
    const made = { product: product.name, amount: ZERO, payer, simulated, leaseUntil, createdAt: now }
    const paymentMethod = { method: 'free', facilitator: null } as const
    const sale: NewSale = { ...about, ...unsigned, ...proof, ...made, ...paymentMethod }
    await journal.begin(sale, { state, resumeAt: nextResume(now, now), promised: false, balance: null, note: right })
    await failpoints.reach('sale claimed')
    return await processing.processSale(order, { ...claimedSale(sale), state }, true)
  }

  return async function buyFree(order: Order, right: Right): Promise<Sold<Value>> {
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
    const leave = await product.enter?.(order)
    try {
      return await claim(order, { ...terms, id }, right)
    } catch (error) {
      // The same request, at the same time: it may have used the last of the right.
      const twin = await journal.findById(id)
      if (twin === null) throw error
      return await again(twin)
    } finally {
      leave?.()
    }
  }
}

interface Going<Order extends PurchaseRequest, Value> {
  processing: Pick<ReturnType<typeof createProcessing<Order, Value>>, 'processSale'>
  replay(order: Order, known: Known): Promise<Sold<Value>>
}
