/** Amounts of USDC for people. Nothing is ever decided by these texts. */
export function inUsdc(amount: number): string {
  const [whole = '0', decimals = ''] = amount.toFixed(6).split('.')
  const shown = decimals.replace(/0{1,6}$/, '').padEnd(2, '0')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${shown}`
}

/** Of whole micro-dollars, as the chain counts. */
export function microInUsdc(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0')
  const whole = digits.slice(0, -6).replace(/\B(?=(\d{3})+$)/g, ',')
  return `${whole}.${digits
    .slice(-6)
    .replace(/0{1,6}$/, '')
    .padEnd(2, '0')}`
}

/** An address or hash, short enough for a line and long enough to compare. */
export function short(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex
}
