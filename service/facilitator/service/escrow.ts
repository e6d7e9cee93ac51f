import { ZERO_ADDRESS } from '../../kit/address.ts'
import type { Chain, EscrowBalances, EscrowCall } from '../../chain/model.ts'
import { ESCROW } from '../../chain/networks.ts'
import { networkUnavailable } from '../errors.ts'
import type { EscrowOperation } from '../model.ts'
import { reasonOf, refuseCollection, refuseDust, refuseEscrowTime, refuseMessage } from '../rules.ts'
import { readEscrowPayment, type EscrowPayment } from '../../x402/escrow.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import type { FacilitatorDeps } from './deps.ts'
import { identify, isSignedByPayer, type Examined, type ExaminedMessage, type Simulated } from './examined.ts'

/** Like `examine`, for the scheme `auth-capture`. */
export function examineEscrow(deps: FacilitatorDeps, payment: PaymentRequest): Examined | Reason {
  const read = readEscrowPayment(payment, deps.operators, deps.signatures.escrow)
  if (typeof read === 'string') return read
  const chain = deps.chains.get(read.network.name)
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  if (read.payload.type !== 'authorize') return examineMessage(deps, { payment, chain, read })
  const identity = identify(deps, payment)
  const { authorization } = payment
  if (authorization === null || identity === null) return 'invalid_auth_capture_evm_payload_format'
  const { signature, value: amount } = authorization
  const operation = operationOf(deps, { chain, read }, { type: 'authorize', info: read.info, amount, signature })
  const signed = isSignedByPayer(deps, identity, authorization)
  const escrow = { ...read, operation, ours: false, rest: null }
  return { payment, chain, network: read.network, authorization, digest: identity.digest, signed, escrow }
}

/** What the service's own seller asks for about a payment that it took. It signs no message, and needs none. */
export type EscrowAction = { type: 'capture'; amount: bigint; expected: EscrowBalances } | { type: 'void' }

/** `payment`: the payer's, as it was authorized. */
export function examineAction(deps: FacilitatorDeps, payment: PaymentRequest, action: EscrowAction): Examined | Reason {
  const read = readEscrowPayment(payment, deps.operators, deps.signatures.escrow)
  if (typeof read === 'string') return read
  const chain = deps.chains.get(read.network.name)
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  const { info } = read
  const lifecycle = { info, saltNonce: info.salt, signature: '0x' } as const
  const fee = { feeAmount: 0n, feeReceiver: info.feeReceiver, voidSignature: null }
  const payload = action.type === 'void' ? { ...action, ...lifecycle } : { ...action, ...lifecycle, ...fee }
  const examined = examineMessage(deps, { payment, chain, read: { ...read, payload } })
  if (typeof examined === 'string') return examined
  return { ...examined, signed: true, escrow: { ...examined.escrow, ours: true } }
}

/** What the escrow still has of a payment: neither the seller nor the payer got it. */
export async function leftInEscrow(deps: FacilitatorDeps, payment: PaymentRequest): Promise<bigint> {
  const read = readEscrowPayment(payment, deps.operators, deps.signatures.escrow)
  if (typeof read === 'string') throw new Error(`a payment of the escrow cannot be read: ${read}`)
  const chain = deps.chains.get(read.network.name)
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  const { state } = await chain.escrow.payment(deps.signatures.escrow.paymentHash(read.network, read.info))
  return state?.capturable ?? 0n
}

interface Read {
  payment: PaymentRequest
  chain: Chain
  read: EscrowPayment
}

function examineMessage(deps: FacilitatorDeps, { payment, chain, read }: Read): ExaminedMessage | Reason {
  const { payload, info, terms, network } = read
  if (payload.type !== 'capture' && payload.type !== 'void') return 'invalid_auth_capture_evm_payload_format'
  const call: EscrowCall = payload.type === 'void' ? { type: 'void', info } : { ...payload, info }
  const operation = operationOf(deps, { chain, read }, call)
  const { signatures } = deps
  const message = { ...payload, paymentHash: operation.paymentHash }
  const digest = signatures.escrow.messageDigest(network, terms.captureAuthorizer, message)
  const { receiverAuthorizer } = terms
  const signed = receiverAuthorizer !== null && signatures.recover(digest, payload.signature) === receiverAuthorizer
  const authorization = {
    from: info.payer,
    to: info.receiver,
    value: payload.type === 'capture' ? payload.amount : 0n,
    validAfter: 0n,
    validBefore: payload.type === 'capture' ? terms.captureDeadline : voidUntil(deps, terms.captureDeadline),
    nonce: digest,
    signature: payload.signature,
  }
  let rest: ExaminedMessage | null = null
  if (payload.type === 'capture' && payload.voidSignature !== null) {
    const { saltNonce, voidSignature: signature } = payload
    const examined = examineMessage(deps, {
      payment,
      chain,
      read: { ...read, payload: { type: 'void', info, saltNonce, signature } },
    })
    if (typeof examined === 'string') return examined
    rest = examined
  }
  return { payment, chain, network, authorization, digest, signed, escrow: { ...read, operation, ours: false, rest } }
}

/**
 * A void has no deadline. The service gives up an hour after the payer could take the money back by itself, or an hour
 * after it was asked.
 */
function voidUntil({ clock }: FacilitatorDeps, captureDeadline: bigint): bigint {
  const now = BigInt(Math.floor(clock.now().getTime() / 1000))
  return (captureDeadline > now ? captureDeadline : now) + VOID_SECONDS
}

const VOID_SECONDS = 3_600n

function operationOf(
  { signatures }: FacilitatorDeps,
  { chain, read: { network, info, terms } }: Omit<Read, 'payment'>,
  call: EscrowCall,
): EscrowOperation {
  return {
    type: call.type,
    operator: info.operator,
    paymentHash: signatures.escrow.paymentHash(network, info),
    recipient: info.receiver,
    data: chain.escrow.encode(call).data,
    authorizer: call.type === 'authorize' ? (terms.receiverAuthorizer ?? ZERO_ADDRESS) : null,
  }
}

/** Like `simulate`, for the scheme `auth-capture`. */
export async function simulateEscrow(deps: FacilitatorDeps, examined: ExaminedMessage): Promise<Simulated> {
  return examined.escrow.payload.type === 'authorize'
    ? await simulateAuthorization(deps, examined)
    : await simulateMessage(deps, examined)
}

async function simulateAuthorization(deps: FacilitatorDeps, examined: ExaminedMessage): Promise<Simulated> {
  const { authorization, chain, escrow, signed } = examined
  const { from: payer, nonce, value, validBefore } = authorization
  const mismatch =
    (refuseDust(authorization, deps.settings.valueMin) === null ? null : DUST) ??
    refuseEscrowTime(escrow, validBefore, deps.clock.now())
  // A signature by the payer's key is judged without the chain, and a wrong one is reported before any other fault.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [view, outcome] = await Promise.all([
    chain.escrow.view({ payer, nonce, paymentHash: escrow.operation.paymentHash }),
    tried(deps, chain, escrow.operation),
  ])
  const refusal =
    (signed || view.hasCode ? mismatch : 'invalid_auth_capture_evm_signature') ?? refuseCollection(view, value, outcome)
  if (refusal !== null) return { refusal }
  const { hasCode, balance } = view
  const gas = outcome.succeeds ? outcome.gas : 0n
  return { refusal: null, payerHasCode: hasCode, payerDecides: hasCode, gas, balance }
}

async function simulateMessage(deps: FacilitatorDeps, examined: ExaminedMessage): Promise<Simulated> {
  const { authorization, chain, escrow } = examined
  const { payload } = escrow
  const unsigned =
    (await refuseSigner(examined, 'invalid_auth_capture_evm_authorizer_signature')) ??
    (escrow.rest === null
      ? null
      : await refuseSigner(escrow.rest, 'invalid_auth_capture_evm_void_authorizer_signature'))
  if (unsigned !== null) return { refusal: unsigned }
  if (!(await mayAsk(deps, examined))) return { refusal: 'invalid_auth_capture_evm_lifecycle_not_relayed' }
  const { state, block: seenBlock } = await chain.escrow.payment(escrow.operation.paymentHash)
  const refusal = refuseEscrowTime(escrow, authorization.validBefore, deps.clock.now()) ?? refuseMessage(payload, state)
  if (refusal !== null) return { refusal }
  // Many small captures would only spend the sponsor's gas.
  const isRest = payload.type !== 'capture' || payload.amount === payload.expected.capturable
  if (!isRest && refuseDust(authorization, deps.settings.valueMin) !== null) return { refusal: DUST }
  const outcome = await tried(deps, chain, escrow.operation)
  if (!outcome.succeeds) return { refusal: reasonOf(outcome.reason) }
  return { refusal: null, payerHasCode: false, payerDecides: false, gas: outcome.gas, balance: null, seenBlock }
}

/**
 * The salt proves only that the payer knew of the signer, and a payer may choose a key of their own. So the signer must
 * be the one with whom the payment was authorized here, and what a sale of this service has bought is that sale's alone.
 */
async function mayAsk({ signatures, store }: FacilitatorDeps, { network, escrow }: ExaminedMessage): Promise<boolean> {
  const { info, ours, terms } = escrow
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
  const authorizer = authorized.get(digest)?.escrow?.authorizer ?? null
  return authorizer === null || authorizer === terms.receiverAuthorizer
}

const DUST = 'invalid_auth_capture_evm_amount_mismatch'

/** A signature that the authorizer's key did not make counts only if the authorizer is a contract that accepts it. */
async function refuseSigner({ signed, chain, digest, authorization, escrow }: ExaminedMessage, reason: Reason) {
  const { receiverAuthorizer } = escrow.terms
  if (signed) return null
  if (receiverAuthorizer === null) return reason
  return (await chain.escrow.isSignedByCode(receiverAuthorizer, digest, authorization.signature)) ? null : reason
}

/** What the operator's call would do now. */
export function tried({ settings }: FacilitatorDeps, chain: Chain, { operator, data }: EscrowOperation) {
  return chain.escrow.simulate({ from: operator, to: ESCROW.address, data }, settings.gasMax + ESCROW_GAS)
}

/** What the escrow needs beside the token and the payer's own code, with the cost of a transaction. */
const ESCROW_GAS = 150_000n
