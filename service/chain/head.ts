import type { Clock } from '../kit/clock.ts'
import type { Block, Hex } from './model.ts'
import type { Rpc } from './rpc.ts'

/** The newest block, asked for once in `maxAgeMs` however many want to know. */
export function createHead(rpc: Rpc, clock: Clock, maxAgeMs: number): () => Promise<Block> {
  let known: { block: Promise<Block>; at: number } | null = null

  return () => {
    const now = clock.now().getTime()
    if (known === null || now - known.at >= maxAgeMs) {
      const asked = { block: readHead(rpc), at: now }
      known = asked
      // A failure is told to whoever waits for it and to nobody after.
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
