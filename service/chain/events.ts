import type {
  Address,
  AuthorizationEvent,
  EscrowEvent,
  Hex,
  PermitNonce,
  Receipt,
  TransferEvent,
  Use,
} from './model.ts'
import { DomainError } from '../kit/errors.ts'
import { least } from '../kit/money.ts'
import { ESCROW, UPTO } from './networks.ts'
import { isRefusal, narrower, WIDEST } from './refusal.ts'
import { unavailable, type Rpc } from './rpc.ts'
import { addressOfWord, addressWord, hex, numberWord, Words } from './words.ts'

/** A mined transaction with USDC's events in it. Null while it is in no block. */
export async function readReceipt(rpc: Rpc, usdc: Address, hash: Hex): Promise<Receipt | null> {
  const raw = await rpc.read<RawReceipt | null>('eth_getTransactionReceipt', hash)
  return raw === null ? null : toReceipt(raw, usdc)
}

/** See `Chain.findUse`. */
export async function findUse(
  rpc: Rpc,
  usdc: Address,
  search: { payer: Address; nonce: Hex; from: bigint; newest: bigint },
): Promise<Use | null> {
  const topics = [[USED, CANCELLED], `0x${addressWord(search.payer)}`, search.nonce]
  return await firstUse(rpc, { address: usdc, topics }, search, (log) =>
    BigInt(log.blockNumber) < search.from ? Promise.resolve(null) : useOf(rpc, usdc, log),
  )
}

/** The transaction that captured a payment of the escrow. */
export async function findCapture(
  rpc: Rpc,
  usdc: Address,
  search: { paymentHash: Hex; from: bigint; newest: bigint },
): Promise<Use | null> {
  const topics = [CAPTURED, search.paymentHash]
  return await firstUse(rpc, { address: ESCROW.address, topics }, search, async (log) => {
    const receipt = await readReceipt(rpc, usdc, log.transactionHash)
    if (receipt === null) return null
    const { hash, blockNumber, blockHash } = receipt
    return { hash, blockNumber, blockHash, cancelled: false, transfer: null }
  })
}

/**
 * The transaction of a payer's permit to be taken as much as was used (scheme `upto`): the transfer to the seller whose
 * transaction carries the permit.
 */
export async function findPermitUse(
  rpc: Rpc,
  usdc: Address,
  search: PermitNonce & { from: bigint; newest: bigint },
): Promise<Use | null> {
  const { payer, to, nonce, deadline } = search
  const topics = [TRANSFER, `0x${addressWord(payer)}`, `0x${addressWord(to)}`]
  const words = numberWord(nonce) + numberWord(deadline)
  return await firstUse(rpc, { address: usdc, topics }, search, async (log) => {
    if (BigInt(log.blockNumber) < search.from) return 'another'
    const sent = await rpc.read<RawTransaction | null>('eth_getTransactionByHash', log.transactionHash)
    if (sent?.to?.toLowerCase() !== UPTO.proxy || !sent.input.includes(words)) return 'another'
    const receipt = await readReceipt(rpc, usdc, log.transactionHash)
    // A reorganization removed its block in the meantime. The next call reads the new state.
    if (receipt === null) return null
    const { hash, blockNumber, blockHash } = receipt
    const transfer = receipt.transfers.find(({ logIndex }) => logIndex === Number(log.logIndex)) ?? null
    return { hash, blockNumber, blockHash, cancelled: false, transfer }
  })
}

interface RawTransaction {
  to: Address | null
  input: Hex
}

/** What the first of these events that is not `another` one shows, from a block on. */
async function firstUse(
  rpc: Rpc,
  filtered: { address: Address; topics: unknown },
  search: { from: bigint; newest: bigint },
  read: (log: RawLog) => Promise<Use | null | 'another'>,
): Promise<Use | null> {
  let width = WIDEST
  // An RPC refuses to search from a block that it does not have yet, and `newest` may be slightly out of date.
  let from = search.from < search.newest ? search.from : search.newest
  for (;;) {
    const to = from + width - 1n
    // What was mined since then belongs to the last part.
    const toBlock = to >= search.newest ? 'latest' : hex(to)
    try {
      const filter = { ...filtered, fromBlock: hex(from), toBlock }
      for (const log of await rpc.call<RawLog[]>('eth_getLogs', filter)) {
        const use = await read(log)
        if (use !== 'another') return use
      }
    } catch (error) {
      width = narrowedBy(error, width, search.newest - from)
      continue
    }
    if (toBlock === 'latest') return null
    from = to + 1n
  }
}

/** Fewer blocks for the next attempt, or throws why none helps. `left`: how many blocks are to be searched. */
function narrowedBy(error: unknown, width: bigint, left: bigint): bigint {
  if (isRefusal(error)) {
    const narrowed = narrower(error, width)
    if (narrowed === null) throw unavailable('eth_getLogs', error.message)
    return narrowed
  }
  // A node may take too long for many blocks. A search of so few needs no time: there it is an outage.
  const mayBeTooWide = error instanceof DomainError && error.kind === 'unavailable' && least(width, left) > QUICK
  if (!mayBeTooWide) throw error
  return least(width, left) / 4n + 1n
}

const QUICK = 1_000n

async function useOf(rpc: Rpc, usdc: Address, log: RawLog): Promise<Use | null> {
  const receipt = await readReceipt(rpc, usdc, log.transactionHash)
  // A reorganization removed its block in the meantime. The next call reads the new state.
  if (receipt === null) return null
  const { hash, blockNumber, blockHash } = receipt
  const cancelled = log.topics[0] === CANCELLED
  return { hash, blockNumber, blockHash, cancelled, transfer: cancelled ? null : transferOf(receipt, log) }
}

/**
 * USDC first marks the nonce as used and then moves the money, so the next `Transfer` belongs to this authorization,
 * unless it is another payer's.
 */
function transferOf(receipt: Receipt, log: RawLog): TransferEvent | null {
  const place = Number(log.logIndex)
  const next = receipt.transfers.find((transfer) => transfer.logIndex > place)
  return next?.from === addressOfWord(log.topics[1] ?? '0x') ? next : null
}

function toReceipt(raw: RawReceipt, usdc: Address): Receipt {
  const transfers: TransferEvent[] = []
  const used: AuthorizationEvent[] = []
  const cancelled: AuthorizationEvent[] = []
  const escrow: EscrowEvent[] = []
  for (const { address, topics, data, logIndex } of raw.logs) {
    const [event, first, second] = topics
    if (address.toLowerCase() === ESCROW.address) escrow.push(...escrowEvent(topics, data))
    if (address.toLowerCase() !== usdc || first === undefined || second === undefined) continue
    const place = Number(logIndex)
    if (event === TRANSFER) {
      transfers.push({ from: addressOfWord(first), to: addressOfWord(second), value: BigInt(data), logIndex: place })
    } else if (event === USED || event === CANCELLED) {
      const list = event === USED ? used : cancelled
      list.push({ authorizer: addressOfWord(first), nonce: second, logIndex: place })
    }
  }
  const gasUsed = BigInt(raw.gasUsed)
  const effectiveGasPrice = BigInt(raw.effectiveGasPrice)
  return {
    hash: raw.transactionHash,
    status: raw.status === '0x1' ? 'success' : 'reverted',
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    gasUsed,
    effectiveGasPrice,
    cost: gasUsed * effectiveGasPrice + BigInt(raw.l1Fee ?? 0),
    transfers,
    used,
    cancelled,
    escrow,
  }
}

function escrowEvent([event, paymentHash]: readonly Hex[], data: Hex): EscrowEvent[] {
  const type = event === CAPTURED ? 'capture' : event === VOIDED ? 'void' : null
  return type === null || paymentHash === undefined ? [] : [{ type, paymentHash, amount: new Words(data).number(0) }]
}

export interface RawLog {
  address: Hex
  topics: readonly Hex[]
  data: Hex
  logIndex: Hex
  transactionHash: Hex
  blockNumber: Hex
}

interface RawReceipt {
  transactionHash: Hex
  status: Hex
  blockNumber: Hex
  blockHash: Hex
  gasUsed: Hex
  effectiveGasPrice: Hex
  l1Fee?: Hex
  logs: readonly RawLog[]
}

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5' // AuthorizationUsed
const CANCELLED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81' // AuthorizationCanceled
const CAPTURED = '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e' // PaymentCaptured
const VOIDED = '0xcadce8c3acb008e3e1c64ca7f60d22a3c87069183182b7dbb9e4d8cfb3a15842' // PaymentVoided
