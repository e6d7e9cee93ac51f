import type { Output } from '../../api/procedures.ts'

type Movement = Output<'wallet.transactions'>['transactions'][number]

/**
 * The name of each kind of wallet movement, the same in every list. A sale by a run and a sale on chain are both sales.
 */
export const MOVEMENT_NAMES: Record<Movement['type'], string> = {
  deposit: 'Deposit',
  sale: 'Sale',
  charge: 'Charge',
  earning: 'Sale',
  withdrawal: 'Withdrawal',
  refund: 'Refund',
}

/** Why a withdrawal failed. */
export const REASONS: Record<NonNullable<Output<'wallet.withdrawal'>['reason']>, string> = {
  treasury_short: 'The treasury did not have enough funds.',
  expired: 'The transfer expired before it was on chain.',
  canceled: 'The withdrawal was canceled.',
}
