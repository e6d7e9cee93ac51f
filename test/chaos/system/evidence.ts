import { decodeEventLog, parseAbi, type Hex } from 'viem'
import type { TestChain } from '../../harness/chain.ts'
import type { Act } from './journal.ts'
import type { Theft } from './thieves/book.ts'
import type { World } from './world.ts'

/** Evidence that does not come from the service itself: the chain, the receivers and the clients. */
export interface Evidence {
  acts: readonly Act[]
  /** Transfers of USDC that were not reorganised away, in order. */
  transfers: readonly Transfer[]
  /** By payer and nonce: the transaction in which an authorization was used. */
  used: ReadonlyMap<string, Hex>
  usdc: ReadonlyMap<string, bigint>
  /** The deliveries that receivers accepted, by webhook-id. */
  accepted: ReadonlyMap<string, readonly unknown[]>
  /** The paths for which sellers report a payment. */
  sold: ReadonlySet<string>
  deposits: ReadonlySet<string>
  payers: ReadonlyMap<string, bigint>
  agents: World['agents']
  recipient: string
  thefts: readonly Theft[]
  /** By name: the secrets in the responses of the servers behind tools, assets and gates. */
  served: ReadonlyMap<string, readonly string[]>
  thief: string
  /** The accounts whose money may leave. */
  accounts: readonly string[]
}

export interface Transfer {
  hash: Hex
  from: string
  to: string
  value: bigint
}

export async function gather(world: World, acts: readonly Act[], thefts: readonly Theft[]): Promise<Evidence> {
  const { chain, payers: honest, thief, lagging, receiver, seller, buyers, owner } = world
  const payers = [...honest, ...thief.payers]
  const [transfers, used] = await Promise.all([transfersOf(chain), usesOf(chain)])
  const withdrawals = acts.flatMap(({ kind, request }) =>
    kind === 'withdraw' && request.address !== null ? [request.address] : [],
  )
  const watched = [...payers.map(({ address }) => address), ...withdrawals]
  const balances = await Promise.all(watched.map((address) => usdcOf(chain, address as Hex)))
  return {
    acts,
    transfers,
    used,
    usdc: new Map(watched.map((address, place) => [address, balances[place] ?? 0n])),
    accepted: receiver.accepted,
    sold: new Set([...seller.payments].filter(([, { sold }]) => sold).map(([path]) => path)),
    deposits: new Set([owner, thief, lagging, ...buyers].map(({ deposit }) => deposit)),
    payers: new Map(payers.map(({ address }) => [address, world.purse])),
    agents: world.agents,
    recipient: world.recipient,
    thefts,
    served: world.echo.served,
    thief: thief.userId,
    accounts: [thief, lagging, ...buyers].map(({ userId }) => userId),
  }
}

export function useOf(payer: string, nonce: string): string {
  return `${payer.toLowerCase()} ${nonce.toLowerCase()}`
}

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

interface Log {
  transactionHash: Hex
  topics: [Hex, ...Hex[]]
  data: Hex
}

async function transfersOf(chain: TestChain): Promise<Transfer[]> {
  return (await logsOf(chain, TRANSFER)).map(({ transactionHash, topics, data }) => {
    const { args } = decodeEventLog({ abi: ABI, eventName: 'Transfer', topics, data })
    return { hash: transactionHash, from: args.from.toLowerCase(), to: args.to.toLowerCase(), value: args.value }
  })
}

export async function usesOf(chain: TestChain): Promise<Map<string, Hex>> {
  const logs = await logsOf(chain, USED)
  return new Map(
    logs.map(({ transactionHash, topics, data }) => {
      const { args } = decodeEventLog({ abi: ABI, eventName: 'AuthorizationUsed', topics, data })
      return [useOf(args.authorizer, args.nonce), transactionHash]
    }),
  )
}

async function logsOf(chain: TestChain, topic: Hex): Promise<Log[]> {
  const filter = { address: chain.network.usdc.address, fromBlock: '0x0', toBlock: 'latest', topics: [topic] }
  return (await chain.call('eth_getLogs', filter)) as Log[]
}

async function usdcOf(chain: TestChain, address: Hex): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
  return BigInt((await chain.call('eth_call', { to: chain.network.usdc.address, data }, 'latest')) as string)
}
