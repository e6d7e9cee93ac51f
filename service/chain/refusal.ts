import type { BroadcastFault } from './model.ts'

/** What an RPC answered instead of a result, about the call itself: another RPC would say the same. */
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
 * Whether it speaks of the node rather than of the call, so that another one should be asked. The codes are
 * from EIP-1474 and from what the large providers send; -32000 means anything, and there the words decide.
 */
export function isOutage({ code, message }: RpcFault): boolean {
  return OUTAGE_CODES.has(code) || OUTAGE_WORDS.test(message)
}

/** EIP-1474 gives transactions one code for all refusals: the words of geth, reth, Nethermind, Besu, Erigon and anvil. */
export function broadcastFault(message: string): BroadcastFault | 'known' {
  return BROADCAST_WORDS.find(([, words]) => words.test(message))?.[0] ?? 'transaction_refused'
}

/** Whether an RPC does not know the parameter that puts code at an address for the time of a call. */
export function isUnknownParameter(refusal: RpcRefusal): boolean {
  return refusal.code === -32602 || /too many arguments|state ?override/i.test(refusal.message)
}

/** An RPC that wants fewer blocks in one search for events. */
export function isTooWide(refusal: RpcRefusal): boolean {
  return refusal.code === -32005 || /range|limit|too many|more than|size exceed/i.test(refusal.message)
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

// The first that fits: "replacement transaction underpriced" is also "underpriced".
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

/** Some nodes put the data one level deeper. */
function dataOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  const inner = (data as { data?: unknown } | null | undefined)?.data
  return typeof inner === 'string' ? inner : undefined
}

/** What a contract said when it reverted, where it said it in words. */
export function reasonOf(answer: Buffer): string | null {
  if (answer.length < 4) return null
  const selector = answer.toString('hex', 0, 4)
  if (selector === PANIC) return `Panic(0x${answer.toString('hex', answer.length - 1)})`
  if (selector !== ERROR || answer.length < TEXT_AT) return null
  const length = answer.readUInt32BE(TEXT_AT - 4)
  // A contract can claim any length; what is there is what it said.
  return answer.toString('utf8', TEXT_AT, Math.min(answer.length, TEXT_AT + length))
}

const ERROR = '08c379a0' // Error(string)
const PANIC = '4e487b71' // Panic(uint256)
/** Behind the selector, the offset and the length. */
const TEXT_AT = 4 + 2 * 32
