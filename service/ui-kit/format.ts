/** Amounts of USDC for people. Nothing is ever decided by these texts. */
export function inUsdc(amount: number): string {
  return FIGURES.format(amount).replace('-', '−')
}

const FIGURES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** Of whole micro-dollars, as the chain counts. */
export function microInUsdc(micro: bigint): string {
  return inUsdc(Number(micro) / 1_000_000)
}

/** An id, an address or a hash, short enough for a line and long enough to compare. */
export function shortly(value: string): string {
  return value.length <= 18 ? value : `${value.slice(0, 8)}…${value.slice(-6)}`
}

/** As it came, with JSON in lines. */
export function sourceOf(text: string): string {
  return jsonIn(text) ?? text
}

/** Null for what is no object or list: a number alone is as good as it came. */
export function jsonIn(text: string): string | null {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text)) return null
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

/** Beyond this nobody reads an answer, and a browser would be busy with it. */
export const LONGEST = 100_000
