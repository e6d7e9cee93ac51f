import type { Address, Hex, SignedAuthorization } from '../../chain/model.ts'
import { isRefusal, narrower, RpcRefusal, WIDEST, type RpcFault } from '../../chain/refusal.ts'
import type { Network } from '../../chain/networks.ts'
import { isOver, type ChainEvidence, type ChainVerifier } from '../../methods/remote/deps.ts'
import type { Clock } from '../../kit/clock.ts'
import { Recent } from '../../kit/recent.ts'

/** Reads the state of an authorization from the chain, through any JSON-RPC endpoint of that network. */
export function rpcVerifier(url: string, tell: Tell): ChainVerifier & { check(network: Network): Promise<void> } {
  /** Null, and told to the seller, where the node does not answer or is of another chain. */
  async function reading<Value>(network: Network, read: (call: RpcCall) => Promise<Value>): Promise<Value | null> {
    const call = callerOf(url)
    try {
      const chain = Number(await call<Hex>('eth_chainId'))
      if (chain !== network.chainId) throw new AnotherChain(chain, network)
      return await read(call)
    } catch (error) {
      tell(error, error instanceof AnotherChain ? ANOTHER_CHAIN : UNREADABLE)
      return null
    }
  }

  return {
    reads: () => true,

    payerHasCode: (network, { from }) =>
      reading(network, async (call) => (await call<Hex>('eth_getCode', from, 'latest')) !== '0x'),

    look: (network, authorization) =>
      reading(network, async (call) => {
        const { usdc } = network
        const { from, nonce } = authorization
        const data = `${AUTHORIZATION_STATE}${word(from)}${nonce.slice(2)}`
        const { number, timestamp } = await call<{ number: Hex; timestamp: Hex }>(
          'eth_getBlockByNumber',
          'latest',
          false,
        )
        if (BigInt(await call<Hex>('eth_call', { to: usdc.address, data }, number)) === 0n) {
          return { state: isOver(authorization, BigInt(timestamp)) ? 'over' : 'unused' }
        }
        try {
          return await useOf(call, { token: usdc.address, number: BigInt(number) }, authorization)
        } catch (error) {
          tell(error, NOT_SEARCHED)
          return { state: 'taken' }
        }
      }),

    async check(network) {
      await reading(network, () => Promise.resolve(true))
    },
  }
}

class AnotherChain extends Error {
  constructor(chain: number, { name, chainId }: Network) {
    super(`the node is of chain ${String(chain)}, and ${name} is chain ${String(chainId)}`)
  }
}

const ANOTHER_CHAIN = 'The node at "rpc" is of another chain than the paywall\'s network: no payment is taken.'
const UNREADABLE = 'The node at "rpc" cannot be read: no payment is taken.'
const NOT_SEARCHED = 'The node at "rpc" does not search events: payments stay pending.'

/** What the nonce was used for. */
async function useOf(
  call: RpcCall,
  { token, number }: { token: Address; number: bigint },
  { from, to, value, nonce }: SignedAuthorization,
): Promise<ChainEvidence> {
  const use = await newestLog(call, { address: token, topics: [[USED, CANCELLED], `0x${word(from)}`, nonce] }, number)
  if (use === null) return { state: 'taken' }
  if (use.topics[0] === CANCELLED) return { state: 'spent' }
  const receipt = await call<{ logs: Log[] } | null>('eth_getTransactionReceipt', use.transactionHash)
  if (receipt === null) return { state: 'taken' }
  // USDC marks the nonce and then moves the money, so the next transfer belongs to this authorization.
  const next = receipt.logs.find(
    (log) =>
      log.address.toLowerCase() === token && log.topics[0] === TRANSFER && Number(log.logIndex) > Number(use.logIndex),
  )
  const ours =
    next?.topics[1] === `0x${word(from)}` && next.topics[2] === `0x${word(to)}` && BigInt(next.data) === value
  return ours ? { state: 'used', txHash: use.transactionHash } : { state: 'spent' }
}

type RpcCall = <Result>(method: string, ...params: unknown[]) => Promise<Result>

/** All requests together have ten seconds. */
function callerOf(url: string): RpcCall {
  const signal = AbortSignal.timeout(10_000)
  return async <Result>(method: string, ...params: unknown[]): Promise<Result> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    })
    const { result, error } = (await response.json()) as { result?: Result; error?: RpcFault | null }
    if (error != null) throw new RpcRefusal(error)
    if (result === undefined) throw new Error(`${method} got no answer`)
    return result
  }
}

/**
 * The newest part first, because the money of a payment has just moved. Public nodes refuse to search many blocks at once, each
 * at another number.
 */
async function newestLog(
  call: RpcCall,
  filter: { address: string; topics: unknown },
  newest: bigint,
): Promise<Log | null> {
  const oldest = newest > LOOK_BACK ? newest - LOOK_BACK : 0n
  let width = WIDEST
  let to = newest
  while (to >= oldest) {
    const from = to - width + 1n > oldest ? to - width + 1n : oldest
    try {
      const [log] = await call<Log[]>('eth_getLogs', { ...filter, fromBlock: hex(from), toBlock: hex(to) })
      if (log !== undefined) return log
      to = from - 1n
    } catch (error) {
      const narrowed = isRefusal(error) ? narrower(error, width) : null
      if (narrowed === null) throw error
      width = narrowed
    }
  }
  return null
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

function hex(block: bigint): Hex {
  return `0x${block.toString(16)}`
}

const AUTHORIZATION_STATE = '0xe94a0102'
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const CANCELLED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** In blocks: half a day of the networks that make one every two seconds. */
const LOOK_BACK = 21_600n

export type Tell = (problem: unknown, sentence: string) => void

/** Reports each sentence at most once in ten minutes: every request meets what stops all sales. */
export function seldom(tell: Tell | undefined, clock: Clock): Tell {
  const reported = new Recent<string, true>(SENTENCES_MAX, { clock, forMs: AGAIN_MS })
  return (problem, sentence) => {
    if (reported.get(sentence) === true) return
    reported.put(sentence, true)
    try {
      tell?.(problem, sentence)
    } catch {
      // The seller's log may fail, and the buyer is answered all the same.
    }
  }
}

const SENTENCES_MAX = 100
const AGAIN_MS = 600_000
