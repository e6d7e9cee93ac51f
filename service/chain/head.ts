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
  const block = await rpc.read<{ number: Hex; hash: Hex; timestamp: Hex; baseFeePerGas?: Hex }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  )
  return {
    number: BigInt(block.number),
    hash: block.hash,
    timestamp: BigInt(block.timestamp),
    baseFeePerGas: BigInt(block.baseFeePerGas ?? 0),
  }
}
