import type { Address, Call, Chain, SignedAuthorization, SignedPermit } from '../../chain/model.ts'
import { UPTO, type Network } from '../../chain/networks.ts'
import { networkUnavailable } from '../../facilitator/errors.ts'
import type { Operation, Settlement } from '../../facilitator/model.ts'
import type { Again, Examined, Scheme, Simulated, Uses } from '../../facilitator/ports.ts'
import type { SchemeDeps } from '../../facilitator/service/deps.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { REASONS, refuseAmount, refuseTerms, refuseTime, refuseTokenPermit, refuseView } from './rules.ts'

/**
 * The scheme `upto`: the payer permits a most, and what was used is taken, once. Permit2 moves the token, and only the
 * facilitator that the permit names, one of the sponsors, can have it do so.
 */
export function uptoScheme(deps: SchemeDeps): Upto {
  const scheme: Upto = {
    examine: (payment, step) => examine(deps, scheme, payment, step),
    reasonsOf: () => REASONS,
    simulateAgain: (chain, settlement) => simulateAgain(deps, chain, settlement),
    // A key of ours may also be used by another program.
    usesOf: (chain, { authorization }) => permitUses(chain, authorization),
    callOf: (_chain, { operation }) => callOf(operation),
    isDone: ({ authorization }, { status, transfers }) =>
      status === 'success' &&
      transfers.some(
        ({ from, to, value }) =>
          from === authorization.from && to === authorization.to && value === authorization.value,
      ),
    isOpen: false,
    // What is settled is what one buyer used, and no price.
    isListed: false,
    movedBy: () => null,
    kind: () => null,
    permits: { taker: () => deps.operators[0] ?? null, least: deps.settings.valueMin },
  }
  return scheme
}

export interface Upto extends Scheme {
  /** The terms of new payments. */
  permits: PermitOffer
}

export interface PermitOffer {
  /** Who takes what was used. Null where this process knows no sponsor. */
  taker(): Address | null
  /** The smallest amount that is taken, in micro-USDC. */
  least: bigint
}

function examine(
  deps: SchemeDeps,
  scheme: Scheme,
  payment: PaymentRequest,
  step: 'verify' | 'settle',
): Examined | Reason {
  const { network, permit, authorization: permitted, required, tokenPermit } = payment
  const refusal = refuseTerms(payment, deps.operators)
  if (refusal !== null) return refusal
  if (network === null || permit === null || permitted === null) return 'unsupported_payload_type'
  const amountRefusal = refuseAmount(permit, required.amount, step)
  if (amountRefusal !== null) return amountRefusal
  const chain = deps.chains.get(network.name)
  if (chain === undefined) throw networkUnavailable(required.network, 'RPC')
  const digest = deps.signatures.permitDigest(network, permit)
  const signed = deps.signatures.recover(digest, permit.signature) === permit.from
  const authorization = { ...permitted, value: required.amount }
  const { data } = chain.upto.encode(permit, required.amount, tokenPermit)
  const operation = {
    type: 'upto',
    operator: permit.facilitator,
    paymentHash: digest,
    recipient: permit.to,
    data,
    authorizer: null,
  } as const
  return {
    scheme,
    reasons: REASONS,
    payment,
    chain,
    network,
    authorization,
    digest,
    signed,
    operation,
    isNothing: step === 'settle' && required.amount === 0n,
    rest: null,
    mismatch: null,
    simulate: () => simulate(deps, { payment, permit, network, chain, operation, signed }),
  }
}

interface Permitted {
  payment: PaymentRequest
  permit: SignedPermit
  network: Network
  chain: Chain
  operation: Operation
  signed: boolean
}

/** A signature by the payer's key is judged without the chain. A payer with code decides itself. */
async function simulate(
  deps: SchemeDeps,
  { payment, permit, chain, operation, signed }: Permitted,
): Promise<Simulated> {
  const { tokenPermit, required } = payment
  const now = deps.clock.now()
  const mismatch =
    refuseTime(permit, now) ??
    (tokenPermit === null ? null : refuseTokenPermit(tokenPermit, permit, now)) ??
    (required.amount !== 0n && required.amount < deps.settings.valueMin ? 'permit2_amount_mismatch' : null)
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [view, outcome] = await Promise.all([
    chain.upto.view({ payer: permit.from, nonce: permit.nonce }),
    tried(deps, chain, operation),
  ])
  const refusal =
    (signed || view.hasCode ? mismatch : REASONS.signature) ??
    refuseView(view, { most: permit.amount, sponsored: tokenPermit !== null, outcome })
  if (refusal !== null) return { refusal }
  const { hasCode, balance } = view
  return {
    refusal: null,
    payerHasCode: hasCode,
    payerDecides: hasCode,
    gas: outcome.succeeds ? outcome.gas : 0n,
    balance,
  }
}

async function simulateAgain(deps: SchemeDeps, chain: Chain, settlement: Settlement): Promise<Again> {
  const { authorization, operation } = settlement
  const [view, outcome] = await Promise.all([
    chain.upto.view({ payer: authorization.from, nonce: BigInt(authorization.nonce) }),
    tried(deps, chain, operationIn(operation)),
  ])
  // Whether it was sponsored is in the call: its outcome says whether it may be taken.
  const refusal = refuseView(view, { most: authorization.value, sponsored: true, outcome })
  return { refusal, payerHasCode: view.hasCode, payerDecides: view.hasCode }
}

function tried({ settings }: SchemeDeps, chain: Chain, { operator, data }: Operation) {
  return chain.tryCall({ from: operator, to: UPTO.proxy, data }, settings.gasMax + UPTO_GAS)
}

/** What Permit2 and its proxy need beside the token and the payer's own code, with the cost of a transaction. */
const UPTO_GAS = 150_000n

function permitUses(chain: Chain, { from: payer, to, nonce, validBefore: deadline }: SignedAuthorization): Uses {
  const permit = { payer, to, nonce: BigInt(nonce), deadline }
  return {
    // The payer may take it back, or spend the same nonce by another contract.
    isSilent: true,
    isUsed: () => chain.upto.isUsed(permit),
    find: (block) => chain.upto.findUse(permit, block),
    agreed: (search) => chain.upto.agreedUse(permit, search),
  }
}

function callOf(operation: Operation | null): Call {
  return { to: UPTO.proxy, data: operationIn(operation).data }
}

function operationIn(operation: Operation | null): Operation {
  if (operation === null) throw new Error('a settlement of a permit has no operation')
  return operation
}
