import { largest } from '../kit/money.ts'
import { keyDeployedBy } from '../kit/passkey-wallet.ts'
import type {
  Address,
  CallOutcome,
  Deployment,
  EscrowState,
  EscrowView,
  Receipt,
  Simulation,
  Use,
} from '../chain/model.ts'
import type { EscrowOperation, GasShares, GasUsed, Settlement, SponsorTransaction } from './model.ts'
import type { EscrowPayment } from '../x402/escrow.ts'
import type { EscrowPayload, PaymentRequest } from '../x402/model.ts'
import type { Reason } from '../x402/reasons.ts'
import { isTooLong } from '../x402/schema.ts'

/**
 * Refuses terms that are wrong regardless of the chain and the clock. The checks run in the reference implementation's
 * order.
 */
export function refuseTerms(payment: PaymentRequest): Reason | null {
  const { offered, required, network, authorization } = payment
  if (offered.scheme !== 'exact' || required.scheme !== 'exact') return 'invalid_exact_evm_scheme'
  if (authorization === null) return 'unsupported_payload_type'
  if (!required.domain.name || !required.domain.version) return 'invalid_exact_evm_missing_eip712_domain'
  if (network === null || offered.network !== required.network) return 'invalid_exact_evm_network_mismatch'
  if (required.asset !== network.usdc.address) return 'asset_not_deployed_contract'
  if (required.domain.name !== network.usdc.name) return 'invalid_exact_evm_token_name_mismatch'
  if (required.domain.version !== network.usdc.version) return 'invalid_exact_evm_token_version_mismatch'
  if (isTooLong(authorization)) return 'invalid_exact_evm_signature'
  return null
}

/**
 * A factory may do whatever it wants with the sponsor's gas, so only those that the operator lists are called. That of
 * passkey wallets runs any code that it is told to, so it is called for such a wallet alone.
 */
export function refuseFactory(
  deployment: Deployment | 'malformed' | null,
  { walletFactories, passkeyWallets }: { walletFactories: ReadonlySet<Address>; passkeyWallets: boolean },
): Reason | null {
  if (deployment === null) return null
  if (deployment === 'malformed') return 'eip6492_factory_not_allowed'
  const isPasskey = passkeyWallets && keyDeployedBy(deployment.factory, deployment.data) !== null
  return isPasskey || walletFactories.has(deployment.factory) ? null : 'eip6492_factory_not_allowed'
}

/**
 * Refuses an authorization that does not match the seller's terms exactly. The protocol's clients require exact
 * matches.
 */
export function refuseMatch(payment: PaymentRequest): Reason | null {
  const { required, authorization } = payment
  if (authorization === null) return 'unsupported_payload_type'
  if (authorization.to !== required.payTo) return 'invalid_exact_evm_recipient_mismatch'
  if (authorization.value !== required.amount) return payment.valueMismatch
  return null
}

/** A transfer of nothing or next to nothing would only spend the sponsor's gas. */
export function refuseDust({ value }: { value: bigint }, minimum: bigint): Reason | null {
  return value < minimum ? 'invalid_exact_evm_payload_authorization_value_too_low' : null
}

export function refuseTime(authorization: { validAfter: bigint; validBefore: bigint }, now: Date): Reason | null {
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (authorization.validBefore < seconds + MARGIN_SECONDS)
    return 'invalid_exact_evm_payload_authorization_valid_before'
  if (authorization.validAfter > seconds) return 'invalid_exact_evm_payload_authorization_valid_after'
  return null
}

/** As in the reference implementation: the time of three blocks until the transfer is mined. */
const MARGIN_SECONDS = 6n

/** The same for the escrow. A seller's message has no end of its own; the capture deadline ends what it asks for. */
export function refuseEscrowTime({ payload, terms }: EscrowPayment, validBefore: bigint, now: Date): Reason | null {
  if (payload.type === 'void') return null
  const soon = BigInt(Math.floor(now.getTime() / 1000)) + MARGIN_SECONDS
  if (terms.captureDeadline <= soon) return 'invalid_auth_capture_evm_capture_deadline_expired'
  if (payload.type !== 'authorize') return null
  // The whole time that a payer may sign for must fit.
  const longest = soon - MARGIN_SECONDS + BigInt(Math.ceil(terms.maxTimeoutSeconds))
  if (longest > terms.captureDeadline) return 'invalid_auth_capture_evm_deadline_ordering'
  return validBefore <= soon ? 'invalid_auth_capture_evm_authorization_expired' : null
}

/** Judges an authorization for the escrow by the chain's state. */
export function refuseCollection(view: EscrowView, value: bigint, outcome: CallOutcome): Reason | null {
  // A call to an address without code succeeds, and does nothing.
  if (view.state === null) return 'invalid_auth_capture_evm_simulation_failed'
  if (view.used || view.state.collected) return ESCROW_REASONS.used
  if (!outcome.succeeds && /invalid signature/i.test(outcome.reason ?? '')) return 'invalid_auth_capture_evm_signature'
  if (view.balance < value) return 'invalid_auth_capture_evm_insufficient_balance'
  return outcome.succeeds ? null : reasonOf(outcome.reason)
}

/** Judges a seller's message by what the escrow holds. A message counts for exactly one state, so it counts once. */
export function refuseMessage(payload: EscrowPayload, state: EscrowState | null): Reason | null {
  if (state === null) return 'invalid_auth_capture_evm_simulation_failed'
  if (payload.type === 'void') return state.capturable > 0n ? null : 'invalid_auth_capture_evm_zero_authorization'
  if (payload.type !== 'capture') return 'invalid_auth_capture_evm_payload_format'
  const { capturable, refundable } = payload.expected
  return state.capturable === capturable && state.refundable === refundable
    ? null
    : 'invalid_auth_capture_evm_unexpected_payment_state'
}

/** The escrow's error, as the protocol names it. */
export function reasonOf(error: string | null): Reason {
  return (error === null ? undefined : ERRORS[error]) ?? 'invalid_auth_capture_evm_simulation_failed'
}

const ERRORS: Readonly<Record<string, Reason>> = {
  AfterPreApprovalExpiry: 'invalid_auth_capture_evm_authorization_expired',
  InvalidExpiries: 'invalid_auth_capture_evm_deadline_ordering',
  PaymentAlreadyCollected: 'invalid_auth_capture_evm_payment_already_collected',
  AfterAuthorizationExpiry: 'invalid_auth_capture_evm_capture_deadline_expired',
  InsufficientAuthorization: 'invalid_auth_capture_evm_insufficient_authorization',
  ZeroAuthorization: 'invalid_auth_capture_evm_zero_authorization',
  InvalidSender: 'invalid_auth_capture_evm_operator_mismatch',
}

/** The reasons that both schemes have, each with its own name. */
export function reasonsOf(escrow: object | null) {
  return escrow === null ? EXACT_REASONS : ESCROW_REASONS
}

const EXACT_REASONS = {
  used: 'invalid_exact_evm_nonce_already_used',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  signature: 'invalid_exact_evm_signature',
  failed: 'invalid_exact_evm_transaction_failed',
} as const satisfies Record<string, Reason>

const ESCROW_REASONS = {
  used: 'invalid_auth_capture_evm_payment_already_collected',
  expired: 'invalid_auth_capture_evm_authorization_expired',
  signature: 'invalid_auth_capture_evm_signature',
  failed: 'invalid_auth_capture_evm_transaction_reverted',
} as const satisfies Record<string, Reason>

/**
 * Judges by the chain's state. `signed`: the payer's own key made the signature, which decides only for a payer without
 * code.
 */
export function refuseSimulation(simulation: Simulation, value: bigint, signed: boolean): Reason | null {
  if (simulation.payerCode === 'none' && !signed) return 'invalid_exact_evm_signature'
  if (simulation.outcome.succeeds) return null
  if (simulation.payerCode === 'undeployed' && simulation.outcome.reason === NOT_DEPLOYED) {
    return 'smart_wallet_deployment_failed'
  }
  if (simulation.used) return 'invalid_exact_evm_nonce_already_used'
  if (/invalid signature/i.test(simulation.outcome.reason ?? '')) return 'invalid_exact_evm_signature'
  if (simulation.balance < value) return 'invalid_exact_evm_insufficient_balance'
  return 'invalid_exact_evm_transaction_simulation_failed'
}

/** As `Lens.sol` says it. */
const NOT_DEPLOYED = 'no wallet was deployed'

/** A contract wallet decides how much gas its signature check uses, and the sponsor pays for it. */
export function refuseGas(gas: bigint, gasMax: bigint): Reason | null {
  return gas + CALL_GAS > gasMax ? 'invalid_exact_evm_transaction_simulation_failed' : null
}

/** `payerDecides`: code accepts the signature, so it may refuse it in the block, also code that is yet to be deployed. */
export function codeOf({ payerCode }: Pick<Simulation, 'payerCode'>): { payerHasCode: boolean; payerDecides: boolean } {
  return {
    payerHasCode: payerCode === 'contract' || payerCode === 'delegation',
    payerDecides: payerCode !== 'none',
  }
}

/** A wallet's first payment may use the gas of its deployment beside that of the transfer. */
export function gasMaxOf({ payerCode }: Pick<Simulation, 'payerCode'>, { gasMax, deployGasMax }: GasMax): bigint {
  return payerCode === 'undeployed' ? gasMax + deployGasMax : gasMax
}

interface GasMax {
  gasMax: bigint
  deployGasMax: bigint
}

/**
 * What an item uses: the call, and the calldata of a signature that is longer than a key's. A transaction with less gas
 * than its calldata costs is taken by no node, and holds up all that its sponsor signed after it.
 */
export function gasOf(callGas: bigint, { signature }: { signature: string }): bigint {
  const further = (signature.length - 2) / 2 - KEY_SIGNATURE_BYTES
  return callGas + BigInt(Math.max(0, further)) * CALLDATA_GAS
}

const KEY_SIGNATURE_BYTES = 65
/** For each byte that is not 0. */
const CALLDATA_GAS = 16n

/**
 * The first item's gas: a transaction's own cost and its calldata. For each further item: its calldata and its place in
 * Multicall3's loop. A signature of 65 bytes is included in both.
 */
const CALL_GAS = 40_000n
const ITEM_GAS = 16_000n

/** A third above the simulated gas: a storage slot may be cold by then, and unused gas is not paid. */
export function gasLimit(items: readonly Pick<Settlement, 'gas'>[]): bigint {
  return items.reduce((sum, { gas }) => sum + (gas * 4n) / 3n + ITEM_GAS, CALL_GAS)
}

/** The day's budget that is spent, counting open settlements at today's price. Null while there is room. */
export function overBudget(
  { spent, pending }: GasUsed,
  price: bigint,
  budgets: Readonly<Record<keyof GasShares, bigint | null>>,
): keyof GasShares | null {
  const over = (of: keyof GasShares): boolean => {
    const budget = budgets[of]
    return budget !== null && spent[of] + pending[of] * price >= budget
  }
  return (['network', 'payer', 'recipient', 'caller'] as const).find(over) ?? null
}

/** Whether a sponsor's balance pays for one transfer at today's price. */
export function paysForOne(wei: bigint, { maxFeePerGas }: { maxFeePerGas: bigint }): boolean {
  return wei >= TRANSFER_GAS * maxFeePerGas
}

const TRANSFER_GAS = 150_000n

/**
 * Batches the items of plain accounts, at most `largest` in each. An item marked `alone` gets a transaction of its own.
 */
export function plan<Item extends Pick<Settlement, 'alone'>>(items: readonly Item[], largest: number): Item[][] {
  const together = items.filter(({ alone }) => !alone)
  const groups = items.filter(({ alone }) => alone).map((item) => [item])
  // Batches of equal size, so that there is no full batch followed by a batch of one.
  const batches = Math.ceil(together.length / largest)
  const size = Math.ceil(together.length / Math.max(1, batches))
  for (let at = 0; at < together.length; at += size) groups.push(together.slice(at, at + size))
  return groups
}

/**
 * How long until a transaction is looked for again. An instant chain has it in a moment, and a question costs little
 * beside the wait for a slow one: half of its age until then, so the answer is never late by more than that.
 */
export function lookAgainMs(ageMs: number, most: number): number {
  return Math.min(Math.max(ageMs / 2, LOOK_MS_MIN), most)
}

const LOOK_MS_MIN = 1

/**
 * How long a worker with nothing under way still waits for more claims, before it sends those it has. 0 when it sends
 * now: the batch is full, or none that is being checked may join it and there are as many as last time. So a single
 * claim never waits, and callers that come back together go together again.
 */
export function gatherMs(
  seen: { claims: number; arriving: number; takenLast: number; quietMs: number; waitedMs: number },
  pace: { batchMax: number; gatherMs: number; quietMs: number },
): number {
  const { claims, arriving, takenLast, quietMs, waitedMs } = seen
  const leftMs = pace.gatherMs - waitedMs
  if (claims === 0 || claims >= pace.batchMax || leftMs <= 0) return 0
  if (arriving > 0) return leftMs
  return claims >= takenLast ? 0 : Math.max(0, Math.min(leftMs, pace.quietMs - quietMs))
}

/** Whether this transaction did what the seller's message to the escrow asks for. */
function isCarriedOut({ type, paymentHash }: EscrowOperation, value: bigint, { status, escrow }: Receipt): boolean {
  const event = escrow.find((one) => one.type === type && one.paymentHash === paymentHash)
  return status === 'success' && event !== undefined && (type === 'void' || event.amount === value)
}

/** Whether a seller asks for it, and no authorization moves with it. */
export function isMessage(escrow: Pick<EscrowOperation, 'type'> | null): boolean {
  return escrow !== null && escrow.type !== 'authorize'
}

/** Whether this transaction moved this authorization's money. */
export function isMoved(settlement: Settlement, receipt: Receipt): boolean {
  const { from, to, value, nonce } = settlement.authorization
  const { escrow } = settlement
  if (escrow !== null && isMessage(escrow)) return isCarriedOut(escrow, value, receipt)
  const used = receipt.used.find((event) => event.authorizer === from && event.nonce === nonce)
  if (receipt.status !== 'success' || used === undefined) return false
  // USDC logs the use first and its transfer right after.
  const transfer = receipt.transfers.find(({ logIndex }) => logIndex > used.logIndex)
  return transfer?.from === from && transfer.to === to && transfer.value === value
}

/** Whether another party's use of the nonce made exactly this payment. */
export function isPaidBy(use: Use, { authorization }: Pick<Settlement, 'authorization'>): boolean {
  const { from, to, value } = authorization
  return !use.cancelled && use.transfer?.from === from && use.transfer.to === to && use.transfer.value === value
}

/** A block that is not after the given moment. The search for a later transfer starts there. */
export function blockBefore(head: { number: bigint; timestamp: bigint }, at: Date): bigint {
  const seconds = head.timestamp - BigInt(Math.floor(at.getTime() / 1000))
  const blocks = (seconds > 0n ? seconds / BLOCK_SECONDS : 0n) + BLOCKS_SPARE
  return head.number > blocks ? head.number - blocks : 0n
}

/** The block time of all supported networks. */
const BLOCK_SECONDS = 2n
/** A margin, because the clocks of a chain and a server differ. */
const BLOCKS_SPARE = 60n

/** Whether the USDC contract will not accept the authorization any more, from any sender. */
export function isOver(settlement: Settlement, blockSeconds: bigint): boolean {
  return settlement.authorization.validBefore <= blockSeconds
}

/**
 * A failure is final when its transaction is final, or when the authorization has expired on any chain that may still
 * replace this one. Before that, a reorganization may remove the cause of the failure, and the same transaction then
 * moves the money.
 */
export function isFinalFailure(
  { final, authorization }: Pick<Settlement, 'final' | 'authorization'>,
  now: Date,
): boolean {
  return final || authorization.validBefore + REORG_SECONDS <= BigInt(Math.floor(now.getTime() / 1000))
}

/** Longer than any reorganization of the supported networks. */
const REORG_SECONDS = 120n

/** Whether the failure's cause may go away with time. The number of attempts is limited, since each one costs gas. */
export function isMendable({ state, reason, attempts }: Pick<Settlement, 'state' | 'reason' | 'attempts'>): boolean {
  return state === 'failed' && reason !== null && MENDABLE.has(reason) && attempts < ATTEMPTS_MAX
}

const MENDABLE: ReadonlySet<Reason> = new Set<Reason>([
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_exact_evm_transaction_failed',
  'invalid_auth_capture_evm_transaction_reverted',
])
const ATTEMPTS_MAX = 10

/** A replacement must raise both fees by an eighth. Raising them by a quarter avoids a second round. */
export function bumpFees(
  sent: Pick<SponsorTransaction, 'maxFee' | 'priorityFee'>,
  today: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
): { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } {
  const raised = (fee: bigint): bigint => fee + fee / 4n + 1n
  return {
    maxFeePerGas: largest(raised(sent.maxFee), today.maxFeePerGas),
    maxPriorityFeePerGas: largest(raised(sent.priorityFee), today.maxPriorityFeePerGas),
  }
}

/** Whether it only uses up its nonce: a transfer of nothing to the sponsor itself. */
export function isNothing({ target, sponsor }: Pick<SponsorTransaction, 'target' | 'sponsor'>): boolean {
  return target === sponsor
}

/** The nonces below the lowest open one that were never signed. All later transactions wait for them. */
export function gaps(chainNonce: number, known: readonly number[]): number[] {
  const lowest = Math.min(...known)
  if (known.length === 0 || chainNonce >= lowest) return []
  return Array.from({ length: lowest - chainNonce }, (_, step) => chainNonce + step)
}

/** Each item of a batch bears an equal part. The first one also bears the remainder. */
export function shareCost(cost: bigint, of: number): bigint[] {
  const share = cost / BigInt(of)
  return Array.from({ length: of }, (_, place) => (place === 0 ? cost - share * BigInt(of - 1) : share))
}

export function secondsUntilTomorrow(now: Date): number {
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return Math.ceil((tomorrow - now.getTime()) / 1000)
}
