import type { Output } from '../../api/ask.ts'

/** Why money that was to leave did not. */
export const REASONS: Record<NonNullable<Output<'wallet.withdrawal'>['reason']>, string> = {
  treasury_short: 'The treasury was short.',
  expired: 'It came too late for the chain.',
  canceled: 'It was canceled.',
}
