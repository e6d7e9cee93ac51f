/** A number beside an axis: short when it is large, and never rounded to its neighbour's when it is small. */
export function tickOf(value: number): string {
  return (Math.abs(value) < 1 ? SMALL : SHORT).format(value)
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
/** USDC has six decimals; the axis divides the smallest amount into four. */
const SMALL = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
