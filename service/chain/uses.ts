import { DomainError } from '../kit/errors.ts'
import { findUse } from './events.ts'
import type { Address, AgreedUse, Block, Hex, Use, UseSearch } from './model.ts'
import { isRefusal } from './refusal.ts'
import type { Rpc } from './rpc.ts'
import { readAuthorization } from './scan.ts'

/** How a nonce of one kind is read from a node. */
export interface NonceReader {
  stateAt(node: Rpc, at: bigint | 'latest'): Promise<{ used: boolean; block: Block }>
  findUse(node: Rpc, blocks: { from: bigint; newest: bigint }): Promise<Use | null>
}

/** The nonce of an authorization (EIP-3009). */
export function authorizationNonce(usdc: Address, authorization: { payer: Address; nonce: Hex }): NonceReader {
  return {
    stateAt: (node, at) => readAuthorization(node, usdc, authorization, at),
    findUse: (node, blocks) => findUse(node, usdc, { ...authorization, ...blocks }),
  }
}

/** What one node answers about a nonce: its state at the node's newest block, and the events up to that block. */
interface View {
  used: boolean
  use: Use | null
  head: Block
}

/**
 * See `Chain.agreedUse`. Nodes lag behind each other, also those behind one address. So each node is asked for the
 * state at a block that it named itself: a node that does not have the block fails instead of answering from an older
 * one.
 */
export async function agreeOnUse(
  nodes: readonly Rpc[],
  nonce: NonceReader,
  search: Pick<UseSearch, 'from' | 'past'>,
): Promise<AgreedUse> {
  const views = (await Promise.all(nodes.map((node) => viewOf(node, nonce, search)))).filter((view) => view !== null)
  const [first, ...others] = views
  if (first === undefined) return { known: false }
  const agreed = others.every(({ used, use }) => used === first.used && use?.hash === first.use?.hash)
  const enough = nodes.length === 1 || others.length > 0 || isLongPast(first.head, search.past)
  return agreed && enough ? { known: true, used: first.used, use: first.use } : { known: false }
}

/** Null when the node's answer does not count: the node is unavailable, or its newest block is older than `past`. */
async function viewOf(
  node: Rpc,
  nonce: NonceReader,
  { from, past }: Pick<UseSearch, 'from' | 'past'>,
): Promise<View | null> {
  try {
    const newest = await nonce.stateAt(node, 'latest')
    const head = newest.block
    const { used } = await nonce.stateAt(node, head.number)
    const use = await nonce.findUse(node, { from, newest: head.number })
    if (use !== null) return { used: true, use, head }
    return past !== null && head.timestamp < past ? null : { used: used || newest.used, use, head }
  } catch (error) {
    if (error instanceof DomainError || isRefusal(error)) return null
    throw error
  }
}

/** So that a second node that is unavailable or stuck does not block the decision for ever. */
function isLongPast(head: Block, past: bigint | null): boolean {
  return past !== null && head.timestamp >= past + ALONE_AFTER_SECONDS
}

const ALONE_AFTER_SECONDS = 600n
