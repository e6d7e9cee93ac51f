/** What the service said, for a sentence. */
export function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function usdc(amount: unknown): string {
  // Without the exponent that a tiny number would be written with.
  return typeof amount === 'number'
    ? `${amount.toFixed(6).replace(/\.?0{1,6}$/, '')} USDC`
    : 'an amount that is not named'
}

export function when(time: unknown): string {
  return typeof time === 'string' ? `${time.slice(0, 16).replace('T', ' ')} UTC` : 'its time is over'
}
