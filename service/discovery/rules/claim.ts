import { NETWORKS, networkOf } from '../../chain/networks.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { BODY_METHODS, bazaarOf, type SoldResource } from '../../x402/bazaar.ts'
import type { Offer } from '../../x402/model.ts'
import { readExtensions, readOffers } from '../../x402/offers.ts'
import type { Claim, Entry } from '../model.ts'
import { entryOf } from './entry.ts'

/** What the address has to confirm before this entry is listed. */
export function claimOf(entry: Entry, { resource }: Pick<SoldResource, 'resource'>): Claim {
  const { tool, network, scheme, payTo, type, accepts, extensions } = entry
  const { origin, hostname, pathname } = new URL((resource as { url: string }).url)
  const { method, bodyType } = (extensions['bazaar'] as { info: { input: Raw } }).info.input
  const hasBody = type === 'mcp' || bodyType !== undefined || BODY_METHODS.has(String(method))
  return {
    resource: entry.resource,
    tool,
    network,
    scheme,
    payTo,
    address: origin + pathname,
    host: hostname.replace(/\.$/, ''),
    method: hasBody ? 'POST' : 'GET',
    amount: accepts[0]?.amount ?? '',
  }
}

interface PaymentRequired {
  status: number
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

/**
 * The entry of an address in the words of its own 402. Null when it does not ask for what was claimed.
 * `recipients` are all that it asks for on this network.
 */
export function confirmedBy(
  claim: Claim,
  answer: PaymentRequired,
): { entry: Entry; recipients: Claim['payTo'][] } | null {
  if (answer.status !== 402) return null
  const offers = readOffers(answer).filter(({ network }) => networkOf(network)?.name === claim.network)
  const offer = offers.find((one) => isSame(claim, one))
  const network = networkOf(offer?.network ?? '')
  if (offer === undefined || offer.version === 'mpp' || network === null) return null
  const { name, version } = offer.domain ?? { name: null, version: null }
  const asset = network.usdc.address
  const required = { ...offer, payTo: claim.payTo, asset, domain: { name, version } }
  const { about, extensions } = offer.version === 2 ? ofSecond(offer, answer) : ofFirst(offer)
  const entry = entryOf({
    payment: { version: offer.version, network, required },
    timeoutSeconds: offer.timeoutSeconds,
    resource: { ...about, url: claim.address },
    extensions: { ...extensions, bazaar: fitting(extensions['bazaar'], claim.address) },
  })
  if ('rejected' in entry || entry.tool !== claim.tool) return null
  return { entry, recipients: offers.map(({ payTo }) => payTo.toLowerCase() as Claim['payTo']) }
}

function isSame(claim: Claim, { version, scheme, payTo, asset, amount }: Offer): boolean {
  return (
    version !== 'mpp' &&
    scheme === claim.scheme &&
    payTo.toLowerCase() === claim.payTo &&
    asset.toLowerCase() === NETWORKS[claim.network].usdc.address.toLowerCase() &&
    String(amount) === claim.amount
  )
}

function ofSecond({ resource }: Offer, answer: PaymentRequired): { about: Raw; extensions: Raw } {
  return { about: isRecord(resource) ? resource : {}, extensions: readExtensions(answer) }
}

function ofFirst({ raw }: Offer): { about: Raw; extensions: Raw } {
  const { description, mimeType, outputSchema } = raw
  return {
    about: { description, mimeType },
    extensions: { bazaar: isRecord(outputSchema) ? bazaarOf(outputSchema) : null },
  }
}

/** Without a template of another path: on a shared host that would be somebody else's. */
function fitting(bazaar: unknown, address: string): unknown {
  if (!isRecord(bazaar) || typeof bazaar['routeTemplate'] !== 'string') return bazaar
  const { routeTemplate, ...rest } = bazaar
  const parts = routeTemplate.split('/')
  const path = new URL(address).pathname.split('/')
  const last = parts.length - 1
  // The last parameter may stand for the rest of the path.
  const isFitting =
    (path.length === parts.length || (path.length > parts.length && parts[last]?.startsWith(':') === true)) &&
    parts.every((part, place) => (part.startsWith(':') ? path[place] !== '' : part === path[place]))
  return isFitting ? bazaar : rest
}
