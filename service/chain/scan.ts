import { encodeAuthorizationState, encodeBalanceOf } from './calldata.ts'
import { TRANSFER, type RawLog } from './events.ts'
import { toBlock, type RawBlock } from './head.ts'
import type { Address, Block, Call, Hex, TransferScan, TransferSearch } from './model.ts'
import { isRefusal, isTooWide } from './refusal.ts'
import { unavailable, type Rpc } from './rpc.ts'
import { addressOfWord, addressWord, hex } from './words.ts'
import { DomainError } from '../kit/errors.ts'

/** See `Chain.transfersTo`. */
export async function scanTransfers(rpc: Rpc, usdc: Address, search: TransferSearch): Promise<TransferScan> {
  const { to, from, upTo, mark } = search
  const range = { address: usdc, fromBlock: hex(from), toBlock: hex(upTo) }
  const groups = inGroups(to, ADDRESSES_MAX).map((group) => group.map((address) => `0x${addressWord(address)}`))
  const blocks = mark === undefined ? [upTo] : [upTo, mark]
  const questions = [
    ...blocks.map((number) => ({ method: 'eth_getBlockByNumber', params: [hex(number), false] })),
    ...groups.map((group) => ({ method: 'eth_getLogs', params: [{ ...range, topics: [TRANSFER, null, group] }] })),
  ]
  const results = await askNode(rpc, questions, ([last]) =>
    last === null ? `it does not have block ${upTo} yet` : null,
  )
  const [last, marked] = results as [RawBlock, RawBlock | null | undefined]
  const logs = inOrder(results.slice(blocks.length).flat() as RawLog[])
  return {
    transactions: transactionsOf(logs),
    transfers: logs.map(({ topics: [, sender = '0x', recipient = '0x'], data, blockNumber }) => ({
      from: addressOfWord(sender),
      to: addressOfWord(recipient),
      value: BigInt(data),
      block: BigInt(blockNumber),
    })),
    blockHash: last.hash,
    markHash: mark === undefined ? null : (marked?.hash ?? null),
  }
}

/** See `Chain.transfersFrom`. */
export async function scanSpending(
  rpc: Rpc,
  usdc: Address,
  { by, from, upTo }: { by: Address; from: bigint; upTo: bigint },
): Promise<readonly Hex[]> {
  const topics = [TRANSFER, `0x${addressWord(by)}`]
  const questions = [
    { method: 'eth_getBlockByNumber', params: [hex(upTo), false] },
    { method: 'eth_getLogs', params: [{ address: usdc, fromBlock: hex(from), toBlock: hex(upTo), topics }] },
  ]
  const [, logs] = await askNode(rpc, questions, ([last]) =>
    last === null ? `it does not have block ${upTo} yet` : null,
  )
  return transactionsOf(inOrder(logs as RawLog[])).map(({ hash }) => hash)
}

/** See `Chain.balancesAt`. */
export async function readBalances(
  rpc: Rpc,
  usdc: Address,
  addresses: readonly Address[],
  block: bigint,
): Promise<readonly bigint[]> {
  const balances: bigint[] = []
  for (const group of inGroups(addresses, CALLS_MAX)) {
    const questions = group.map((address) => ({
      method: 'eth_call',
      params: [{ to: usdc, data: encodeBalanceOf(address) }, hex(block)],
    }))
    const words = (await askNode(rpc, questions, (found) =>
      found.includes('0x') ? `there is no USDC at ${usdc}` : null,
    )) as Hex[]
    balances.push(...words.map(BigInt))
  }
  return balances
}

/** See `Chain.authorizationAt`. */
export async function readAuthorization(
  rpc: Rpc,
  usdc: Address,
  authorization: { payer: Address; nonce: Hex },
  at: bigint | 'latest',
): Promise<{ used: boolean; block: Block }> {
  const data = encodeAuthorizationState(authorization.payer, authorization.nonce)
  const [block, word] = await readAt(rpc, { to: usdc, data }, at, `there is no USDC at ${usdc}`)
  return { used: BigInt(word) !== 0n, block }
}

/** A contract's answer at a block, and that block, by one node. `none`: what it means that nothing is there. */
export async function readAt(
  rpc: Rpc,
  call: Call,
  at: bigint | 'latest',
  none: string | null = null,
): Promise<[Block, Hex]> {
  const block = at === 'latest' ? at : hex(at)
  const [found, answer] = (await askNode(
    rpc,
    [
      // The block is read first, so the state is at least as new as it.
      { method: 'eth_getBlockByNumber', params: [block, false] },
      { method: 'eth_call', params: [call, block] },
    ],
    ([has, state]) => (has === null ? 'it does not have the block' : state === '0x' ? none : null),
  )) as [RawBlock, Hex]
  return [toBlock(found), answer]
}

/** An RPC that refuses these questions is treated as unavailable, unless it says that the search is too wide. */
async function askNode(rpc: Rpc, ...[questions, lacks]: Parameters<Rpc['together']>): Promise<unknown[]> {
  try {
    return await rpc.together(questions, lacks)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!isTooWide(error)) throw unavailable(questions[0]?.method ?? '', error.message)
    throw new DomainError(
      'unavailable',
      'search_too_wide',
      'The block range is too large for this RPC: search in smaller steps.',
    ).causedBy(error)
  }
}

/** Of transfers of more than 0. */
function inOrder(logs: readonly RawLog[]): RawLog[] {
  return logs
    .filter(({ data }) => BigInt(data) > 0n)
    .sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
}

function transactionsOf(logs: readonly RawLog[]): { hash: Hex; transfers: number }[] {
  const transfers = new Map<Hex, number>()
  for (const { transactionHash } of logs) transfers.set(transactionHash, (transfers.get(transactionHash) ?? 0) + 1)
  return [...transfers].map(([hash, count]) => ({ hash, transfers: count }))
}

function inGroups<Item>(items: readonly Item[], largest: number): Item[][] {
  const groups: Item[][] = []
  for (let at = 0; at < items.length; at += largest) groups.push(items.slice(at, at + largest))
  return groups
}

/** Addresses in one filter: providers accept a thousand and more. */
const ADDRESSES_MAX = 1_000
/** Calls in one request: some providers accept no more. */
const CALLS_MAX = 100
