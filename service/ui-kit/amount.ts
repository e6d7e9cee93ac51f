/** An invalid number is NaN, which the service refuses with the field's message. So is `1,000`, which may mean either. */
export function toAmount(text: string): number {
  const written = text.trim()
  return written === '' || GROUPED.test(written) ? Number.NaN : Number(written.replace(',', '.'))
}

/** In micro-USDC, for readers of every language: `1.000` may mean either as well. Null for what is no amount. */
export function toMicroUsdc(text: string): bigint | null {
  const written = text.trim().replace('.', ',')
  const [, whole, part = ''] = /^(\d{0,12})(?:,(\d{0,6}))?$/.exec(written) ?? []
  if (whole === undefined || whole + part === '' || GROUPED.test(written)) return null
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
}

const GROUPED = /^[1-9]\d{0,2}(,\d{3})+$/
