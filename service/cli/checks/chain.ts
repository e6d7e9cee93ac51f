import { addressOf } from '../../chain/eip712.ts'
import { loadCurve, loadKeccak } from '../../chain/curve.ts'
import { openEndpoint } from '../../chain/endpoint.ts'
import type { Address } from '../../chain/model.ts'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import type { Config } from '../../config.ts'
import { fault, fine, reasonOf, warning, type Finding, type CheckContext } from './model.ts'

/** Each RPC by itself, all of one network against each other, and whether the sponsors can pay for gas. */
export async function checkChains({ config, now }: CheckContext): Promise<readonly Finding[]> {
  const urls = { base: config.BASE_RPC_URLS, 'base-sepolia': config.BASE_SEPOLIA_RPC_URLS }
  const asked = Object.values(NETWORKS).map((network) => checkNetwork(network, urls[network.name], config, now))
  return (await Promise.all(asked)).flat()
}

async function checkNetwork(
  network: Network,
  urls: readonly string[],
  config: Config,
  now: () => number,
): Promise<Finding[]> {
  const check = `chain ${network.name}`
  if (urls.length === 0) {
    const name = network.live ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS'
    const says = `${name} is not set: nothing is settled on ${network.name}.`
    return config.LIVE && network.live ? [warning(check, says), ...sponsors(network, [], config)] : [fine(check, says)]
  }
  const nodes = await Promise.all(urls.map((url) => ask(url, network, config)))
  const single = nodes.map((node) => judge(node, check, network, now()))
  const heads = nodes.flatMap((node) => ('head' in node ? [node.head.number] : []))
  const spread = heads.length === 0 ? 0 : Math.max(...heads) - Math.min(...heads)
  return [
    ...single,
    ...(nodes.length === 1 && config.LIVE
      ? [warning(check, 'There is only one RPC. Add a second one that takes over when the first is down.')]
      : []),
    ...(spread > SPREAD_MAX
      ? [fault(check, `The RPCs are ${String(spread)} blocks apart: the slower ones return outdated data.`)]
      : []),
    ...sponsors(network, nodes, config),
  ]
}

interface Node {
  name: string
  chainId: number
  head: { number: number; seconds: number }
  balances: readonly { sponsor: string; wei: bigint }[]
}

async function ask(url: string, network: Network, config: Config): Promise<Node | { name: string; away: string }> {
  const endpoint = openEndpoint(url)
  try {
    const addresses = await sponsorsOf(config)
    const [id, block, ...balances] = await endpoint.ask(
      [
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        ...addresses.map((address) => ({ method: 'eth_getBalance', params: [address, 'latest'] })),
      ],
      5_000,
    )
    const head = result(block) as { number: string; timestamp: string }
    return {
      name: endpoint.name,
      chainId: Number(result(id)),
      head: { number: Number(head.number), seconds: Number(head.timestamp) },
      balances: balances.map((balance, place) => ({
        sponsor: addresses[place] ?? network.name,
        wei: BigInt(String(result(balance))),
      })),
    }
  } catch (error) {
    return { name: endpoint.name, away: reasonOf(error) }
  } finally {
    await endpoint.close()
  }
}

/** Also those whose keys other processes have. */
export async function sponsorsOf({ SPONSOR_PRIVATE_KEYS: keys, SPONSOR_ADDRESSES: named }: Config): Promise<Address[]> {
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const own = keys.map((key) => addressOf(keccak, curve.publicKey(Buffer.from(key.slice(2), 'hex'))))
  return [...new Set([...own, ...(named as Address[])])]
}

function result(answer: unknown): unknown {
  const { result: found, refusal, outage } = answer as { result?: unknown; refusal?: Error; outage?: string }
  if (found === undefined || found === null)
    throw new Error(refusal?.message ?? outage ?? 'a response without a result')
  return found
}

function judge(node: Awaited<ReturnType<typeof ask>>, check: string, network: Network, nowMs: number): Finding {
  if ('away' in node) return fault(check, `${node.name} does not answer: ${node.away}.`)
  if (node.chainId !== network.chainId) {
    return fault(
      check,
      `${node.name} is chain ${String(node.chainId)}, and ${network.name} is ${String(network.chainId)}.`,
    )
  }
  const age = Math.round(nowMs / 1_000 - node.head.seconds)
  return age > HEAD_AGE_MAX
    ? fault(
        check,
        `The newest block of ${node.name} is ${String(age)} s old: the node is stuck, or this machine's clock is wrong.`,
      )
    : fine(check, `${node.name} is at block ${String(node.head.number)}, ${String(Math.max(0, age))} s old.`)
}

function sponsors(network: Network, nodes: readonly Awaited<ReturnType<typeof ask>>[], config: Config): Finding[] {
  const check = `gas ${network.name}`
  if (config.ROLES.includes('facilitator') && config.SPONSOR_PRIVATE_KEYS.length === 0) {
    const says = 'SPONSOR_PRIVATE_KEYS is not set: payments are verified but not settled.'
    return [config.LIVE ? fault(check, says) : warning(check, says)]
  }
  if (config.SPONSOR_PRIVATE_KEYS.length + config.SPONSOR_ADDRESSES.length === 0) {
    const says = "SPONSOR_ADDRESSES is not set, so the sponsors' ETH for gas was not checked. Set it in every process."
    return [config.LIVE ? fault(check, says) : warning(check, says)]
  }
  const answered = nodes.find((node): node is Node => 'head' in node && node.chainId === network.chainId)
  if (answered === undefined) return []
  return answered.balances.map(({ sponsor, wei }) => {
    const has = `${sponsor} has ${ether(wei)} ETH`
    if (wei === 0n) return fault(check, `${has}: it cannot pay for gas. Send ETH to it.`)
    return wei < config.SPONSOR_LOW_BALANCE
      ? warning(check, `${has}, below SPONSOR_LOW_BALANCE (${ether(config.SPONSOR_LOW_BALANCE)}).`)
      : fine(check, `${has}.`)
  })
}

function ether(wei: bigint): string {
  return `${String(wei / 10n ** 18n)}.${String(wei % 10n ** 18n)
    .padStart(18, '0')
    .slice(0, 6)}`
}

const HEAD_AGE_MAX = 60
/** Base makes a block in two seconds; nodes of one provider are a few apart at any moment. */
const SPREAD_MAX = 15
