import type { NetworkName } from '../chain/networks.ts'
import { DomainError, invalid } from '../kit/errors.ts'
import { toDecimal, toWire, type Usdc } from '../kit/money.ts'
import type { Wait } from './model.ts'

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'You have no such payment.')
}

export function customerMissing(): DomainError {
  return new DomainError('missing', 'customer_not_found', 'You have no such customer.')
}

/** Nothing of it has arrived, or nothing of it is left. */
export function notRefundable(state: string): DomainError {
  const sentence =
    state === 'refunded'
      ? 'This payment was refunded already.'
      : 'Only a payment that has arrived can be refunded. Wait until its state is `paid`.'
  return new DomainError('conflict', 'payment_not_refundable', sentence, { state })
}

/** The payment is still at its payer's disposal. */
export function fillsBalance(): DomainError {
  const sentence =
    'This payment filled a prepaid balance, which its payer can still spend at your paywall. Such payments cannot be refunded here. To return what is left, agree with the payer and send it from your own wallet.'
  return new DomainError('conflict', 'refund_of_balance', sentence)
}

/** It was paid with a pass, a trial or a coupon. */
export function nothingPaid(): DomainError {
  const sentence =
    'This payment cost nothing, so there is nothing to refund. To return a run, report its outcome as failed.'
  return new DomainError('conflict', 'nothing_paid', sentence)
}

/** What was paid for it is not its creator's yet. */
export function runUnderWay(): DomainError {
  const sentence =
    'The run that was paid for has not ended yet. If it does not succeed, its buyer is refunded within some minutes, without a request. Try again when it has ended.'
  return new DomainError('conflict', 'run_under_way', sentence)
}

export function exceedsPayment(refundable: Usdc): DomainError {
  const sentence =
    refundable === 0n
      ? 'All of this payment was refunded already, or is about to be.'
      : `This is more than is left of the payment. Refund at most ${toDecimal(refundable)} USDC.`
  return new DomainError('conflict', 'refund_exceeds_payment', sentence, { refundable: toWire(refundable) })
}

export function tooManyRefunds(most: number): DomainError {
  const sentence = `A payment can have at most ${String(most)} refunds.`
  return new DomainError('conflict', 'too_many_refunds', sentence, { limit: most })
}

export function neverSigned(times: number): DomainError {
  const sentence = `${String(times)} refunds of this payment from your own wallet were not signed in time. Refund it from your balance.`
  return new DomainError('conflict', 'refund_not_signed', sentence, { limit: times })
}

export function tooSmall(least: Usdc): DomainError {
  return invalid({ amount: `must be at least ${toDecimal(least)}` })
}

/** The treasury holds the wallet's money on one network only. */
export function otherNetwork(paidOn: NetworkName, held: NetworkName, payer: string): DomainError {
  const sentence = `This payment was made on ${paidOn}, and your wallet's money is on ${held}. Send the refund to ${payer} from the wallet that received the payment.`
  return new DomainError('conflict', 'refund_on_other_network', sentence, { network: paidOn, payer })
}

/** The platform's own tools have no seller whose balance could pay. */
export function withoutSeller(): DomainError {
  const sentence = 'This payment has no seller with an account. The operator of this server refunds it.'
  return new DomainError('conflict', 'refund_by_operator', sentence)
}

/** Its money is in a balance here, or the address has no key outside this server. */
export function receivedHere(): DomainError {
  const sentence =
    'This payment went to an address of this server, so no wallet of yours can send it back. Refund it from your balance.'
  return new DomainError('conflict', 'refund_from_balance', sentence)
}

/** USDC sent to the payer's address would be in nobody's balance. */
export function paidByAccount(): DomainError {
  const sentence = 'This payment was made from an account of this server. Refund it from your balance.'
  return new DomainError('conflict', 'refund_from_balance', sentence)
}

export function chainMissing(network: NetworkName): DomainError {
  const sentence = `This server cannot read ${network} now, so it cannot follow a refund there. Try again later.`
  return new DomainError('unavailable', 'network_unavailable', sentence, { retryAfterSeconds: 5 })
}

export function refundMissing(): DomainError {
  return new DomainError('missing', 'refund_not_found', 'This payment has no such refund.')
}

export function notToBeSigned(): DomainError {
  const sentence =
    'This refund waits for no signature: it is not paid from your own wallet, or it has ended. Request another refund.'
  return new DomainError('conflict', 'refund_not_signable', sentence)
}

export function signedTooLate(signBefore: Date): DomainError {
  const sentence =
    'The time to sign this refund is over. Its sum can be refunded again a few minutes after the authorization has expired.'
  return new DomainError('conflict', 'refund_signature_late', sentence, { signBefore: signBefore.toISOString() })
}

/** The wallet that is to pay has too little USDC now. */
export function walletShort(amount: Usdc, from: string): DomainError {
  const sentence = `The wallet ${from} has less USDC than this refund of ${toDecimal(amount)} USDC. Add USDC to it and hand in the signature again.`
  return new DomainError('conflict', 'refund_wallet_short', sentence, { from })
}

export function signatureRefused(reason: string, sentence: string, signer: string): DomainError {
  const next = `Sign exactly what the refund's \`toSign\` says, with the wallet ${signer}.`
  return new DomainError('invalid', 'refund_signature_refused', `The signature was refused: ${sentence} ${next}`, {
    reason,
    signer,
  })
}

/** The operation's id was used for another sale before. */
export function refundConflict(): DomainError {
  return new DomainError('conflict', 'refund_conflict', 'This request was used before to refund another payment.')
}

export const WAIT_SENTENCES = {
  insufficient_balance: 'The balance of your wallet is too low. Add funds, and the refund continues by itself.',
  withdrawal_limit: 'The limit of what may leave in 24 hours is reached. The refund continues by itself.',
  quota_exceeded: 'The limit of refunds in 24 hours is reached. The refund continues by itself.',
  payouts_paused: 'Payouts are paused on this server. The refund continues by itself.',
} as const satisfies Record<Wait, string>

/** Why a refund failed. What it waited for when its time was over is such a reason too. */
export function failureSentence(code: string): string {
  return Object.hasOwn(FAILURES, code) ? FAILURES[code as keyof typeof FAILURES] : `The refund failed (${code}).`
}

const FAILURES = {
  insufficient_balance: 'The balance of the wallet was too low for 14 days. Add funds and request the refund again.',
  withdrawal_limit: 'The limit of 24 hours left no room for 14 days. Request a smaller refund.',
  quota_exceeded: 'The limit of refunds in 24 hours left no room for 14 days. Request the refund again.',
  payouts_paused: 'Payouts were paused for 14 days. Request the refund again.',
  recipient_not_allowed: 'Payouts to the address of the payer are not allowed on this server.',
  treasury_short: 'The server could not pay in time. Your balance has the money again. Request the refund again.',
  expired: 'The transfer was not carried out in time. Your balance has the money again. Request the refund again.',
  not_sent: 'The transfer from your own wallet was not carried out in time. Request the refund again.',
  authorization_canceled:
    'The wallet canceled the transfer, or used its nonce for another one. Request the refund again.',
  canceled: 'The transfer was canceled on the chain. Your balance has the money again.',
} as const
