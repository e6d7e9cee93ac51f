import { randomBytes } from 'node:crypto'
import { ZERO_ADDRESS } from '../../kit/address.ts'
import type { Chain, EscrowBalances, EscrowCall, Hex } from '../../chain/model.ts'
import { blockBefore, ESCROW } from '../../chain/networks.ts'
import { networkUnavailable } from '../../facilitator/errors.ts'
import type { Operation } from '../../facilitator/model.ts'
import type { Examined, Scheme } from '../../facilitator/ports.ts'
import { isMessage, isMoved } from '../../facilitator/rules.ts'
import type { SchemeDeps } from '../../facilitator/service/deps.ts'
import { authorizationUses, identify, isSignedByPayer } from '../../facilitator/service/identity.ts'
import type { EscrowOffer } from '../../sales/ports.ts'
import { prepareEscrow, readEscrowPayment, type EscrowPayment } from '../../x402/escrow.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { AUTHORIZE, isCarriedOut, MESSAGE } from './rules.ts'
import { simulate, simulateAgain, type Held } from './simulate.ts'

/**
 * The scheme `auth-capture`: the payer's money waits in a contract, and its operator, one of the sponsors, captures it
 * for the seller or gives it back.
 */
export function authCaptureScheme(deps: SchemeDeps): AuthCapture {
  const scheme: AuthCapture = {
    examine: (payment) => examine(deps, scheme, payment),
    reasonsOf: (operation) => (isMessage(operation) ? MESSAGE : AUTHORIZE),
    simulateAgain: (chain, settlement) => simulateAgain(deps, chain, settlement),
    // Nobody else may send a seller's message, and its receipt decides.
    usesOf: (chain, { authorization, operation }) =>
      isMessage(operation) ? null : authorizationUses(chain, authorization),
    callOf: (_chain, { operation }) => ({ to: ESCROW.address, data: operationIn(operation).data }),
    isDone: (settlement, receipt) =>
      isMessage(settlement.operation)
        ? isCarriedOut(operationIn(settlement.operation), settlement.authorization.value, receipt)
        : isMoved(settlement, receipt),
    isOpen: true,
    // Its terms have absolute times.
    isListed: false,
    movedBy({ escrow, required }) {
      const payload = escrow?.payload
      if (payload?.type === 'authorize') return required.amount
      return payload?.type === 'capture' ? payload.amount : null
    },
    kind: ([captureAuthorizer]) =>
      captureAuthorizer === undefined ? null : { scheme: 'auth-capture', versions: [2], extra: { captureAuthorizer } },
    examineAction: (payment, action) => examineAction(deps, scheme, payment, action),
    left: (payment) => left(deps, payment),
    capturedBy: (payment, since) => capturedBy(deps, payment, since),
    offer: {
      operator: () => deps.operators[0] ?? null,
      prepare: (terms, now) =>
        prepareEscrow(terms, { salt: `0x${randomBytes(32).toString('hex')}`, now, hashes: deps.signatures.escrow }),
    },
  }
  return scheme
}

export interface AuthCapture extends Scheme {
  /** The terms of new payments. */
  offer: EscrowOffer
  /** What the service's own seller asks for about a payment that it took: the payer's, as it was authorized. */
  examineAction(payment: PaymentRequest, action: EscrowAction): Examined | Reason
  /** What the escrow still has of a payment: neither the seller nor the payer got it. */
  left(payment: PaymentRequest): Promise<bigint>
  /** The transaction since then that gave all of a payment to its seller. Null where none has. */
  capturedBy(payment: PaymentRequest, since: Date): Promise<Hex | null>
}

/** It signs no message, and needs none. */
export type EscrowAction = { type: 'capture'; amount: bigint; expected: EscrowBalances } | { type: 'void' }

function operationIn(operation: Operation | null): Operation {
  if (operation === null) throw new Error('a settlement of the escrow has no operation')
  return operation
}

function examine(deps: SchemeDeps, scheme: Scheme, payment: PaymentRequest): Examined | Reason {
  const found = readIn(deps, payment)
  if (typeof found === 'string') return found
  const { chain, read } = found
  if (read.payload.type !== 'authorize') return examinedOf(deps, scheme, payment, messageOf(deps, found))
  const identity = identify(deps, payment)
  const { authorization } = payment
  if (authorization === null || identity === null) return 'invalid_auth_capture_evm_payload_format'
  const { signature, value: amount } = authorization
  const operation = operationOf(deps, found, { type: 'authorize', info: read.info, amount, signature })
  const signed = isSignedByPayer(deps, identity, authorization)
  const { digest } = identity
  const { network } = read
  const held: Held = { chain, network, authorization, digest, signed, read, operation, ours: false, rest: null }
  return examinedOf(deps, scheme, payment, held)
}

function examineAction(
  deps: SchemeDeps,
  scheme: Scheme,
  payment: PaymentRequest,
  action: EscrowAction,
): Examined | Reason {
  const found = readIn(deps, payment)
  if (typeof found === 'string') return found
  const { read } = found
  const { info } = read
  const lifecycle = { info, saltNonce: info.salt, signature: '0x' } as const
  const fee = { feeAmount: 0n, feeReceiver: info.feeReceiver, voidSignature: null }
  const payload = action.type === 'void' ? { ...action, ...lifecycle } : { ...action, ...lifecycle, ...fee }
  const held = messageOf(deps, { ...found, read: { ...read, payload } })
  return examinedOf(deps, scheme, payment, typeof held === 'string' ? held : { ...held, signed: true, ours: true })
}

async function left(deps: SchemeDeps, payment: PaymentRequest): Promise<bigint> {
  return (await stateOf(deps, payment)).state?.capturable ?? 0n
}

async function capturedBy(deps: SchemeDeps, payment: PaymentRequest, since: Date): Promise<Hex | null> {
  const { chain, paymentHash, state } = await stateOf(deps, payment)
  if (state === null || state.refundable < payment.required.amount) return null
  const txHash = await chain.escrow.findCapture(paymentHash, blockBefore(await chain.head(), since))
  // The node that has the event lags behind the node that has the state.
  if (txHash === null) throw networkUnavailable(chain.network.name, 'RPC')
  return txHash
}

async function stateOf(deps: SchemeDeps, payment: PaymentRequest) {
  const found = readIn(deps, payment)
  if (typeof found === 'string') throw new Error(`a payment of the escrow cannot be read: ${found}`)
  const { chain, read } = found
  const paymentHash = deps.signatures.escrow.paymentHash(read.network, read.info)
  const { state } = await chain.escrow.payment(paymentHash)
  return { chain, paymentHash, state }
}

interface Found {
  chain: Chain
  read: EscrowPayment
}

function readIn(deps: SchemeDeps, payment: PaymentRequest): Found | Reason {
  const read = readEscrowPayment(payment, deps.operators, deps.signatures.escrow)
  if (typeof read === 'string') return read
  const chain = deps.chains.get(read.network.name)
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  return { chain, read }
}

function examinedOf(deps: SchemeDeps, scheme: Scheme, payment: PaymentRequest, held: Held | Reason): Examined | Reason {
  if (typeof held === 'string') return held
  const { chain, network, authorization, digest, signed, operation, rest } = held
  const examinedRest = rest === null ? null : examinedOf(deps, scheme, payment, rest)
  if (typeof examinedRest === 'string') return examinedRest
  return {
    scheme,
    reasons: scheme.reasonsOf(operation),
    payment,
    chain,
    network,
    authorization,
    digest,
    signed,
    operation,
    isNothing: false,
    rest: examinedRest,
    // The signature covers all of the terms.
    mismatch: null,
    simulate: () => simulate(deps, held),
  }
}

function messageOf(deps: SchemeDeps, { chain, read }: Found): Held | Reason {
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
  const held = { chain, network, authorization, digest, signed, read, operation, ours: false }
  if (payload.type !== 'capture' || payload.voidSignature === null) return { ...held, rest: null }
  const { saltNonce, voidSignature: signature } = payload
  const rest = messageOf(deps, { chain, read: { ...read, payload: { type: 'void', info, saltNonce, signature } } })
  return typeof rest === 'string' ? rest : { ...held, rest }
}

/**
 * A void has no deadline. The service gives up an hour after the payer could take the money back by itself, or an hour
 * after it was asked.
 */
function voidUntil({ clock }: SchemeDeps, captureDeadline: bigint): bigint {
  const now = BigInt(Math.floor(clock.now().getTime() / 1000))
  return (captureDeadline > now ? captureDeadline : now) + VOID_SECONDS
}

const VOID_SECONDS = 3_600n

function operationOf(
  { signatures }: SchemeDeps,
  { chain, read: { network, info, terms } }: Found,
  call: EscrowCall,
): Operation {
  return {
    type: call.type,
    operator: info.operator,
    paymentHash: signatures.escrow.paymentHash(network, info),
    recipient: info.receiver,
    data: chain.escrow.encode(call).data,
    authorizer: call.type === 'authorize' ? (terms.receiverAuthorizer ?? ZERO_ADDRESS) : null,
  }
}
