import type { Hex } from '../../chain/model.ts'
import { isSecret } from '../../kit/ids.ts'
import type { Presented } from '../../x402/model.ts'
import { readRequest, requestOf } from '../../x402/payload.ts'
import { requirementsOf } from '../../x402/requirements.ts'
import { identifierIn } from '../../x402/identifier.ts'
import { authorizationUsed, identifierUsed, paymentRefused } from '../errors.ts'
import { NONCE, type Sale } from '../model.ts'
import { isSubmitted } from '../rules.ts'
import type { Product, PurchaseRequest, SellingDeps } from './deps.ts'
import { assertBuyer } from './proof.ts'

/** A sale that there is already. `proven`: by its token or a fresh signature, which a chain does not show. */
export interface Known {
  known: Sale
  proven: boolean
}

/** Which sale a request is about, and whether it comes from the sale's buyer. */
export function createRecognition<Order extends PurchaseRequest, Value>(
  { journal, method, tokens }: SellingDeps,
  product: Product<Order, Value>,
) {
  /** The sale that this authorization has paid for; null where there is none. Throws unless the caller is its buyer. */
  async function boughtBy(order: Order, digest: Hex | null): Promise<Known | null> {
    const known = digest === null ? null : await journal.find(digest)
    return known === null ? null : asBought(order, known)
  }

  function asBought({ presented, token }: Order, known: Sale): Known {
    const isTokens = tokens.matches(known.id, known.tokenHash, token)
    const signature = known.request === null ? null : readRequest(known.request).authorization?.signature
    const identifier = presented === null ? null : identifierIn(presented, false)
    // No chain shows an identifier. One that is too long to be guessed proves the buyer beside the same authorization.
    const isProven = isTokens || (identifier !== null && isSecret(identifier) && identifier === known.identifier)
    assertBuyer(
      { signature: signature ?? '', submitted: isSubmitted(known) },
      { signature: presented?.authorization?.signature ?? null, token: isProven },
    )
    if (identifier !== null && identifier !== known.identifier) throw identifierUsed(known)
    return { known, proven: isProven }
  }

  /**
   * Throws where this payer, whose signature was verified, has used the identifier for another payment. The same payment may have
   * been sent twice at once: then it is the sale of the first request, which has begun since this one looked for it.
   */
  async function usedBy(order: Order, { digest, payer, identifier }: Identified): Promise<Known | null> {
    const first = identifier === null ? null : await journal.findByIdentifier(payer, identifier)
    if (first === null) return null
    if (first.digest !== digest) throw identifierUsed(first)
    return asBought(order, first)
  }

  /** A sale that is named by its buyer: with the token, or with a signature that no chain has seen. */
  async function proven(order: Order, name: string): Promise<Known> {
    const { presented, token } = order
    const known = await named(presented, name)
    if (known?.product !== product.name || !product.isHere(known, order)) {
      throw product.badProof('must name a payment that was made here')
    }
    if (tokens.matches(known.id, known.tokenHash, token)) return { known, proven: true }
    if (presented === null) {
      throw product.badProof("needs the payment's X-Payment-Token, or a fresh signature of its payer")
    }
    const digest = method.digestOf(presented)
    const { authorization } = presented
    if (authorization === null || digest === null || digest === known.digest)
      throw product.badProof('needs a fresh signature')
    const { refusal, payer } = await method.verify(requestOf(presented, requirementsFor(known)))
    if (payer?.toLowerCase() !== known.payer) throw product.badProof('needs a signature of the same payer')
    if (refusal !== null) throw paymentRefused(refusal)
    if (!(await journal.prove(digest, known.id, authorization.validBefore))) throw authorizationUsed()
    return { known, proven: true }
  }

  /** Who lost the answer knows the nonce of what they signed, and not the sale's id. */
  async function named(presented: Presented | null, name: string): Promise<Sale | null> {
    if (product.isId(name)) return await journal.findById(name)
    const { network = null, authorization = null } = presented ?? {}
    if (network === null || authorization === null || !NONCE.test(name)) return null
    const digest = await method.digestBy(network.name, authorization.from, name as Hex)
    return digest === null ? null : await journal.find(digest)
  }

  return { boughtBy, asBought, usedBy, proven }
}

type Identified = Pick<Sale, 'payer' | 'identifier'> & { digest: Hex }

/** A fresh signature proves who its buyer is when it would buy the same thing for the same price again. */
function requirementsFor({ amount, network, recipient }: Sale) {
  if (recipient === null) throw new Error('a simulated sale has no signature')
  return requirementsOf({ amount, network, recipient }, { url: '', description: '', mimeType: '' }, {})
}
