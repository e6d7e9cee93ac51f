import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'

/** One resource for sale, as it is shown to buyers. */
export interface Entry {
  /** Origin and path; the route's template in place of the path where the seller has one. */
  resource: string
  /** The name of a tool of MCP. Empty for an HTTP request. */
  tool: string
  network: NetworkName
  scheme: string
  payTo: Address
  type: 'http' | 'mcp'
  x402Version: 1 | 2
  accepts: readonly Accepted[]
  description: string | null
  mimeType: string | null
  serviceName: string | null
  tags: string[]
  iconUrl: string | null
  extensions: Readonly<Record<string, unknown>>
  extensionKeys: string[]
}

/** The terms that were paid, in the seller's version. */
export interface Accepted {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: Readonly<Record<string, unknown>>
}

/** An entry of the catalogue, and what is known of its sales in the last thirty days. */
export interface Listed extends Omit<Entry, 'extensionKeys' | 'scheme' | 'network' | 'payTo'> {
  id: bigint
  payers: number
  calls: number
  lastAt: Date
  /** When the address itself asked for these terms. Null for entries from before addresses were asked. */
  verifiedAt: Date | null
}

/** What a payer says about another seller's address: it is listed when the address asks for the same. */
export interface Claim extends Pick<Entry, 'resource' | 'tool' | 'network' | 'scheme' | 'payTo'> {
  /** The address to ask, without its query. */
  address: string
  host: string
  /** How it is asked: what the seller declares may change something there, so nothing but these two. */
  method: 'GET' | 'POST'
  amount: string
}

export interface Check extends Claim {
  id: bigint
  /** How often it was asked, this time included. */
  attempts: number
}

export interface Filter {
  type: Entry['type'] | null
  payTo: Address | null
  scheme: string | null
  network: NetworkName | null
  /** The key of an extension that the entry must have. */
  extension: string | null
}

export interface Page {
  limit: number
  offset: number
}

/** The calls of one payer at one resource. */
export interface Patronage {
  resource: bigint
  payer: Address
  settled: number
  failed: number
  /** The time between the check of a payment and its settlement, summed over `timed` calls. */
  waitedMs: number
  timed: number
}

/** USDC went from one address to another: the origin of what a payer spends. */
export interface Transfer {
  from: Address
  to: Address
}

/** An address whose incoming transfers are looked for, backwards from the newest block. */
export interface Origin {
  network: NetworkName
  address: Address
  /** 1 for a payer, 2 for an address that sent money to a payer, and so on. */
  depth: number
  /** The newest block that was not searched yet. Null before the first search. */
  nextBlock: bigint | null
  /** Where the search ends. Null before the first search. */
  lastBlock: bigint | null
}
