import type { Hex } from '../../chain/model.ts'
import { isOver, type ChainVerifier } from '../../methods/remote/deps.ts'

/** Reads the state of an authorization from the chain, through any JSON-RPC endpoint of that network. */
export function rpcVerifier(url: string): ChainVerifier {
  async function ask<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(10_000),
    })
    const { result } = (await response.json()) as { result?: Result }
    if (result === undefined) throw new Error(`${method} got no answer`)
    return result
  }

  return {
    reads: () => true,

    async payerHasCode({ chainId }, { from }) {
      try {
        const [chain, code] = await Promise.all([ask<Hex>('eth_chainId'), ask<Hex>('eth_getCode', from, 'latest')])
        return Number(chain) === chainId ? code !== '0x' : null
      } catch {
        return null
      }
    },

    async look({ usdc, chainId }, authorization) {
      const { from, to, value, nonce } = authorization
      try {
        if (Number(await ask<Hex>('eth_chainId')) !== chainId) return null
        const data = `${AUTHORIZATION_STATE}${word(from)}${nonce.slice(2)}`
        const { number, timestamp } = await ask<{ number: Hex; timestamp: Hex }>(
          'eth_getBlockByNumber',
          'latest',
          false,
        )
        if (BigInt(await ask<Hex>('eth_call', { to: usdc.address, data }, number)) === 0n) {
          return { state: isOver(authorization, BigInt(timestamp)) ? 'over' : 'unused' }
        }
        const since = BigInt(number) > LOOK_BACK ? BigInt(number) - LOOK_BACK : 0n
        const topics = [[USED, CANCELLED], `0x${word(from)}`, nonce]
        const filter = { address: usdc.address, topics, fromBlock: `0x${since.toString(16)}`, toBlock: 'latest' }
        const [use] = await ask<Log[]>('eth_getLogs', filter)
        if (use === undefined) return null
        if (use.topics[0] === CANCELLED) return { state: 'spent' }
        const receipt = await ask<{ logs: Log[] } | null>('eth_getTransactionReceipt', use.transactionHash)
        if (receipt === null) return null
        // USDC marks the nonce and then moves the money, so the next transfer belongs to this authorization.
        const next = receipt.logs.find(
          (log) =>
            log.address.toLowerCase() === usdc.address &&
            log.topics[0] === TRANSFER &&
            Number(log.logIndex) > Number(use.logIndex),
        )
        const ours =
          next?.topics[1] === `0x${word(from)}` && next.topics[2] === `0x${word(to)}` && BigInt(next.data) === value
        return ours ? { state: 'used', txHash: use.transactionHash } : { state: 'spent' }
      } catch {
        // The state is unknown.
        return null
      }
    },
  }
}

interface Log {
  address: string
  topics: Hex[]
  data: Hex
  logIndex: Hex
  transactionHash: Hex
}

function word(address: Hex): string {
  return address.slice(2).padStart(64, '0')
}

const AUTHORIZATION_STATE = '0xe94a0102'
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const CANCELLED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const LOOK_BACK = 21_600n
