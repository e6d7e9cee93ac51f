/** What a place that sells USDC is told: how much is missing, for which wallet, on which network. */
export interface OnrampOrder {
  /** In USDC, as a decimal number. */
  amount: string
  /** Null while no wallet is known. */
  address: string | null
  network: string
}

/** Why this is no template of an onramp's address; null if it is one. */
export function onrampFault(template: string): string | null {
  const [place = ''] = parts(template)
  const filled = template.replace(SLOT, 'x')
  const url = URL.canParse(filled) ? new URL(filled) : null
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return 'must be an https address'
  if (/[{}]/.test(template.replace(SLOT, ''))) return 'must have no other braces than {amount}, {address} and {network}'
  if (place.split('/', 3).join('/').includes('{')) return 'must name its host without {amount}, {address} and {network}'
  if (place.includes('{address}'))
    return 'must have {address} after the question mark only: not every buyer has a wallet'
  return template.includes('#') ? 'must not have a fragment' : null
}

/** The address for this order. Parameters of which nothing is known are left out. */
export function onrampFor(template: string, { amount, address, network }: OnrampOrder): string {
  const values: Readonly<Record<string, string | null>> = { amount, address, network }
  const fill = (text: string): string => text.replace(SLOT, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const [place = '', query = ''] = parts(template)
  const known = query.split('&').filter((each) => address !== null || !each.includes('{address}'))
  return known.join('') === '' ? fill(place) : `${fill(place)}?${known.map(fill).join('&')}`
}

const SLOT = /\{(amount|address|network)\}/g

function parts(template: string): string[] {
  const at = template.indexOf('?')
  return at < 0 ? [template] : [template.slice(0, at), template.slice(at + 1)]
}
