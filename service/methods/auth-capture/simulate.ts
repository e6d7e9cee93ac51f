import type { Chain } from '../../chain/model.ts'
import { ESCROW } from '../../chain/networks.ts'
import type { Operation, Settlement } from '../../facilitator/model.ts'
import type { Again, Examined, Simulated } from '../../facilitator/ports.ts'
import type { SchemeDeps } from '../../facilitator/service/deps.ts'
import type { EscrowPayment } from '../../x402/escrow.ts'
import type { Reason } from '../../x402/reasons.ts'
import { errorOf, MESSAGE, refuseCollection, refuseEscrowTime, refuseMessage } from './rules.ts'

/** A payment for the escrow whose terms are right, or a message about one. */
export interface Held extends Pick<Examined, 'chain' | 'network' | 'authorization' | 'digest' | 'signed'> {
  read: EscrowPayment
  operation: Operation
  /** Our own sale asks for it, and no message was signed. */
  ours: boolean
  /** The request to void what a capture leaves. */
  rest: Held | null
}

/** What would happen if it were submitted now. */
export async function simulate(deps: SchemeDeps, held: Held): Promise<Simulated> {
  return held.read.payload.type === 'authorize'
    ? await simulateAuthorization(deps, held)
    : await simulateMessage(deps, held)
}

export async function simulateAgain(
  deps: SchemeDeps,
  chain: Chain,
  { authorization, operation }: Settlement,
): Promise<Again> {
  if (operation === null) throw new Error('a settlement of the escrow has no operation')
  const { from: payer, nonce, value } = authorization
  const [view, outcome] = await Promise.all([
    chain.escrow.view({ payer, nonce, paymentHash: operation.paymentHash }),
    tried(deps, chain, operation),
  ])
  return { refusal: refuseCollection(view, value, outcome), payerHasCode: view.hasCode, payerDecides: view.hasCode }
}

async function simulateAuthorization(deps: SchemeDeps, held: Held): Promise<Simulated> {
  const { authorization, chain, operation, read, signed } = held
  const { from: payer, nonce, value, validBefore } = authorization
  const mismatch =
    (value < deps.settings.valueMin ? DUST : null) ?? refuseEscrowTime(read, validBefore, deps.clock.now())
  // A signature by the payer's key is judged without the chain, and a wrong one is reported before any other fault.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [view, outcome] = await Promise.all([
    chain.escrow.view({ payer, nonce, paymentHash: operation.paymentHash }),
    tried(deps, chain, operation),
  ])
  const refusal =
    (signed || view.hasCode ? mismatch : 'invalid_auth_capture_evm_signature') ?? refuseCollection(view, value, outcome)
  if (refusal !== null) return { refusal }
  const { hasCode, balance } = view
  const gas = outcome.succeeds ? outcome.gas : 0n
  return { refusal: null, payerHasCode: hasCode, payerDecides: hasCode, gas, balance }
}

async function simulateMessage(deps: SchemeDeps, held: Held): Promise<Simulated> {
  const { authorization, chain, operation, read, rest } = held
  const { payload } = read
  const unsigned =
    (await refuseSigner(held, MESSAGE.signature)) ??
    (rest === null ? null : await refuseSigner(rest, 'invalid_auth_capture_evm_void_authorizer_signature'))
  if (unsigned !== null) return { refusal: unsigned }
  if (!(await mayAsk(deps, held))) return { refusal: 'invalid_auth_capture_evm_lifecycle_not_relayed' }
  const { state, block: seenBlock } = await chain.escrow.payment(operation.paymentHash)
  const refusal = refuseEscrowTime(read, authorization.validBefore, deps.clock.now()) ?? refuseMessage(payload, state)
  if (refusal !== null) return { refusal }
  // Many small captures would only spend the sponsor's gas.
  const isRest = payload.type !== 'capture' || payload.amount === payload.expected.capturable
  if (!isRest && authorization.value < deps.settings.valueMin) return { refusal: DUST }
  const outcome = await tried(deps, chain, operation)
  if (!outcome.succeeds) return { refusal: errorOf(outcome.reason) }
  return { refusal: null, payerHasCode: false, payerDecides: false, gas: outcome.gas, balance: null, seenBlock }
}

/**
 * The salt proves only that the payer knew of the signer, and a payer may choose a key of their own. So the signer must
 * be the one with whom the payment was authorized here, and what a sale of this service has bought is that sale's alone.
 */
async function mayAsk({ signatures, store }: SchemeDeps, { network, ours, read }: Held): Promise<boolean> {
  const { info, terms } = read
  if (ours) return true
  const digest = signatures.digest(network, {
    from: info.payer,
    to: ESCROW.collector,
    value: info.maxAmount,
    validAfter: 0n,
    validBefore: info.preApprovalExpiry,
    nonce: signatures.escrow.nonce(network, info),
  })
  const [bought, authorized] = await Promise.all([store.bought(digest), store.find([digest])])
  if (bought !== null) return false
  // Null: an earlier version authorized it. What was never authorized has nothing in the escrow.
  const authorizer = authorized.get(digest)?.operation?.authorizer ?? null
  return authorizer === null || authorizer === terms.receiverAuthorizer
}

const DUST = 'invalid_auth_capture_evm_amount_mismatch'

/** A signature that the authorizer's key did not make counts only if the authorizer is a contract that accepts it. */
async function refuseSigner({ signed, chain, digest, authorization, read }: Held, reason: Reason) {
  const { receiverAuthorizer } = read.terms
  if (signed) return null
  if (receiverAuthorizer === null) return reason
  return (await chain.isSignedByCode(receiverAuthorizer, digest, authorization.signature)) ? null : reason
}

/** What the operator's call would do now. */
function tried({ settings }: SchemeDeps, chain: Chain, { operator, data }: Operation) {
  return chain.tryCall({ from: operator, to: ESCROW.address, data }, settings.gasMax + ESCROW_GAS)
}

/** What the escrow needs beside the token and the payer's own code, with the cost of a transaction. */
const ESCROW_GAS = 150_000n
