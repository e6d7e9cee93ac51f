import type { Clock } from '../kit/clock.ts'
import type { Block, Hex, Fees } from './model.ts'
import type { Rpc } from './rpc.ts'
import { DomainError } from '../kit/errors.ts'

/** The newest block. Callers within `maxAgeMs` share one request. */
export function createHead(rpc: Rpc, clock: Clock, maxAgeMs: number): () => Promise<Block> {
  let known: { block: Promise<Block>; at: number } | null = null

  return () => {
    const now = clock.now().getTime()
    if (known === null || now - known.at >= maxAgeMs) {
      const asked = { block: readHead(rpc), at: now }
      known = asked
      // Only the callers that already wait get the failure. The next caller asks the RPC again.
      asked.block.catch(() => {
        if (known === asked) known = null
      })
    }
    return known.block
  }
}

async function readHead(rpc: Rpc): Promise<Block> {
  return toBlock(await rpc.read<RawBlock>('eth_getBlockByNumber', 'latest', false))
}

export function toBlock(block: RawBlock): Block {
  return {
    number: BigInt(block.number),
    hash: block.hash,
    timestamp: BigInt(block.timestamp),
    baseFeePerGas: BigInt(block.baseFeePerGas ?? 0),
  }
}

export interface RawBlock {
  number: Hex
  hash: Hex
  timestamp: Hex
  baseFeePerGas?: Hex
}

/** The gas fees to offer now: the base fee may double, within the cap. Read once per block. */
export function createFees(parts: { rpc: Rpc; head(): Promise<Block>; cap: bigint }): () => Promise<Fees> {
  const { rpc, head, cap } = parts
  let known: { block: Hex; fees: Promise<Fees> } | null = null

  return async () => {
    const block = await head()
    if (known?.block !== block.hash) {
      const asked = { block: block.hash, fees: suggest(rpc, block.baseFeePerGas, cap) }
      known = asked
      asked.fees.catch(() => {
        if (known === asked) known = null
      })
    }
    return known.fees
  }
}

async function suggest(rpc: Rpc, baseFee: bigint, cap: bigint): Promise<Fees> {
  if (baseFee > cap) {
    const sentence = 'Gas costs more at the moment than this service pays. Try again later.'
    throw new DomainError('unavailable', 'gas_too_dear', sentence, { retryAfterSeconds: 60 })
  }
  const tip = BigInt(await rpc.read<Hex>('eth_maxPriorityFeePerGas'))
  const maxFeePerGas = lesser(cap, 2n * baseFee + tip)
  return { maxFeePerGas, maxPriorityFeePerGas: lesser(tip, maxFeePerGas - baseFee) }
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
