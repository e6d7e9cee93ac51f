import type { BroadcastFault } from './model.ts'

/** An RPC's error about the call itself. Another RPC would give the same error. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  /** What a contract reverted with. */
  readonly data: string | undefined

  constructor(fault: RpcFault) {
    super(fault.message)
    this.code = fault.code
    this.data = dataOf(fault.data)
  }
}

export interface RpcFault {
  code: number
  message: string
  data?: unknown
}

/** `instanceof` would fail between two copies of this module. */
export function isRefusal(error: unknown): error is RpcRefusal {
  return (error as { name?: unknown } | null)?.name === 'RpcRefusal'
}

/**
 * Whether the error is about the node and not about the call, so that another node should be asked. The codes are from
 * EIP-1474 and from the large providers. -32000 can mean anything, so there the message decides.
 */
export function isOutage({ code, message }: RpcFault): boolean {
  return OUTAGE_CODES.has(code) || OUTAGE_WORDS.test(message)
}

/**
 * EIP-1474 has one code for every refused transaction, so the message decides: the texts are those of geth, reth,
 * Nethermind, Besu, Erigon and anvil.
 */
export function broadcastFault(message: string): BroadcastFault | 'known' {
  return BROADCAST_WORDS.find(([, words]) => words.test(message))?.[0] ?? 'transaction_refused'
}

/** Whether the RPC does not support the parameter that places code at an address during a call. */
export function isUnknownParameter(refusal: RpcRefusal): boolean {
  return refusal.code === -32602 || /too many arguments|state ?override/i.test(refusal.message)
}

/** Whether the RPC wants fewer blocks in one event search. */
export function isTooWide({ code, message }: RpcFault): boolean {
  return (code === -32005 || /range|limit|too many|more than|size exceed/i.test(message)) && !OUTAGE_WORDS.test(message)
}

/** Blocks in one event search: most providers allow ten thousand, some less. */
export const WIDEST = 10_000n

/** In how many blocks to search instead; null where the RPC refuses for another reason. */
export function narrower(refusal: RpcFault, width: bigint): bigint | null {
  return isTooWide(refusal) && width > 1n ? width / 4n + 1n : null
}

const OUTAGE_CODES = new Set([
  429, // asked too often (Alchemy, QuickNode)
  -32005, // limit exceeded
  -32007, // asked too often (QuickNode)
  -32016, // asked too often (Base's own)
  -32601, // it does not offer the method
  -32603, // internal error
])
const OUTAGE_WORDS =
  /header not found|missing trie node|rate limit|too many requests|txpool is full|timed? ?out|unavailable|not synced/i

// The first match counts: "replacement transaction underpriced" also matches "underpriced".
const BROADCAST_WORDS: readonly (readonly [BroadcastFault | 'known', RegExp])[] = [
  ['known', /already (known|imported|exists)|known transaction|AlreadyKnown/i],
  ['replacement_underpriced', /replacement|could not replace|ReplacementNotAllowed/i],
  ['nonce_too_low', /nonce (is )?too low|NonceTooLow|OldNonce|invalid nonce; got \d+, expected/i],
  ['insufficient_funds', /insufficient (funds|balance)|InsufficientFunds|upfront cost/i],
  [
    'fee_too_low',
    /underpriced|fee too low|FeeTooLow|less than (the )?block base fee|gas price (is )?too low|below (the )?(minimum|base)/i,
  ],
]

/** Some nodes nest the data one level deeper. */
function dataOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  const inner = (data as { data?: unknown } | null | undefined)?.data
  return typeof inner === 'string' ? inner : undefined
}

/** The contract's revert message, when it gave one as text. */
export function reasonOf(answer: Buffer): string | null {
  if (answer.length < 4) return null
  const selector = answer.toString('hex', 0, 4)
  if (selector === PANIC) return `Panic(0x${answer.toString('hex', answer.length - 1)})`
  if (selector !== ERROR || answer.length < TEXT_AT) return null
  const length = answer.readUInt32BE(TEXT_AT - 4)
  // A contract can claim any length. Only the bytes that are there are read.
  return answer.toString('utf8', TEXT_AT, Math.min(answer.length, TEXT_AT + length))
}

const ERROR = '08c379a0' // Error(string)
const PANIC = '4e487b71' // Panic(uint256)
/** Behind the selector, the offset and the length. */
const TEXT_AT = 4 + 2 * 32
