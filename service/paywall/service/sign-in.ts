import { createHash } from 'node:crypto'
import type { Address } from '../../chain/model.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { UNPAID } from '../../sales/errors.ts'
import type { Outcome } from '../model.ts'
import { passHash } from '../rules/payment.ts'
import type { SignInTerms } from '../../x402/sign-in.ts'
import type { Call, Calling } from './call.ts'
import type { GateDeps } from './deps.ts'

/** What a wallet signs in to at this route. Null when the route has no sign-in. */
export function signInTerms(
  { gate, route, request }: Call,
  { signInOrigin }: GateDeps['addresses'],
): SignInTerms | null {
  if (route.signIn === null || gate.testMode) return null
  const uri = (signInOrigin ?? gate.address) + request.path + request.query
  return { uri, network: NETWORKS[gate.network].caip2 }
}

/** Lets a wallet pass that has paid for a path within the time that the seller set, and proves it. */
export function createSignIn({ journal, dialects, recoverMessage, clock, addresses, calling }: SignInDeps) {
  /** Null for a request without a sign-in. `why` says for what reason it has to be paid all the same. */
  async function payerOf(call: Call): Promise<{ payer: Address } | { why: string } | null> {
    const { gate, route, request } = call
    const terms = signInTerms(call, addresses)
    const proof = terms === null ? null : dialects.signIn(request.header, terms)
    if (proof === null || route.signIn === null) return null
    if ('fault' in proof) return { why: `The sign-in ${proof.fault} ${AGAIN}` }
    const { text, signature, address: payer, nonce } = proof
    if ((await recoverMessage(text, signature)) !== payer) {
      return { why: `The sign-in is not signed by its address. ${AGAIN}` }
    }
    const path = passHash(gate.id, gate.network, request)
    const since = new Date(clock.now().getTime() - route.signIn.seconds * 1_000)
    const used = createHash('sha256').update(nonce).digest()
    const entry = await journal.signIn({ paywallId: gate.id, payer, path }, { since, nonce: used })
    if (entry === 'passed') return { payer }
    return { why: entry === 'used' ? `This sign-in was already used. ${AGAIN}` : NOT_PAID }
  }

  return {
    /** The answer to a wallet that has paid before; else why it has to pay. Null for a request without a sign-in. */
    async serve(call: Call): Promise<{ outcome: Outcome } | { why: string } | null> {
      const found = await payerOf(call)
      if (found === null || 'why' in found) return found
      return { outcome: await calling.free(call, found.payer) }
    },
  }
}

interface SignInDeps extends GateDeps {
  calling: Calling
}

const AGAIN = 'Sign in with the challenge in this response, or pay.'
const NOT_PAID = `This wallet has not paid for this path, or not recently enough. ${UNPAID.sentence}`
