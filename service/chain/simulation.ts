import { Batch } from '../kit/batch.ts'
import { authorizationWords } from './calldata.ts'
import { deploymentOf, isUndeployed } from './deployment.ts'
import { LENS, ONCE } from './lens/compiled.ts'
import type { Address, Block, Hex, Outcome, SignedAuthorization, Simulation } from './model.ts'
import type { Network } from './networks.ts'
import { isRefusal, isUnknownParameter, reasonOf } from './refusal.ts'
import { unavailable, type Rpc } from './rpc.ts'
import { addressWord, bytesTail, hex, numberWord, tailsWithOffsets, Words } from './words.ts'

export type Simulate = (items: readonly SignedAuthorization[]) => Promise<readonly Simulation[]>

export interface SimulationOptions {
  network: Network
  rpc: Rpc
  head(): Promise<Block>
  /**
   * The address that will send the transactions. A contract wallet can check it, so the simulation uses the same one.
   */
  sender: Address
  /** The gas that the transfer itself may use. A wallet that needs more counts as one that burns gas. */
  gasEach: bigint
  /** The gas that a factory may use beside it, to deploy the payer's wallet. */
  gasFactory: bigint
}

/** Items of the same moment go through the lens contract together, in one eth_call. */
export function createSimulation(options: SimulationOptions): Simulate {
  const { network, rpc, head, sender, gasEach, gasFactory } = options
  let overrides = true
  // Two batches alternate: while the RPC works on one, the next one is encoded and the one before is decoded.
  let batch = new Batch({ largest: ITEMS_MAX, run: judgeOrExplain })
  let next = new Batch({ largest: ITEMS_MAX, run: judgeOrExplain })

  async function judgeOrExplain(items: readonly SignedAuthorization[]): Promise<Judged[]> {
    try {
      const simulations = await judge(items)
      return simulations.map((simulation) => ({ simulation }))
    } catch (error) {
      // A thrown error would make the batch retry item by item, and wait for an unavailable RPC up to fifty times.
      return items.map(() => ({ error: isRefusal(error) ? unavailable('eth_call', error.message) : error }))
    }
  }

  function add(item: SignedAuthorization): Promise<Judged> {
    ;[batch, next] = [next, batch]
    return batch.add(item)
  }

  async function judge(items: readonly SignedAuthorization[]): Promise<readonly Simulation[]> {
    const verdicts: Simulation[] = []
    // A wallet that burns all of its gas leaves too little for the items behind it. Those are simulated again.
    while (verdicts.length < items.length) {
      const open = items.slice(verdicts.length)
      const judged = decode(await look(open), open.length)
      if (judged.length === 0) throw unavailable('eth_call', 'its gas limit is too low for one item')
      verdicts.push(...judged)
    }
    return verdicts
  }

  async function look(items: readonly SignedAuthorization[]): Promise<Hex> {
    const question = encode(network.usdc.address, { gasEach, gasFactory }, items)
    // With the gas price of the real transaction: some wallets behave differently when gas is free.
    const gasPrice = hex(2n * (await head()).baseFeePerGas + 1n)
    if (overrides) {
      const answer = await throughOverride(question, items, gasPrice)
      if (answer !== null) return answer
      overrides = false
    }
    const data: Hex = `${ONCE}${numberWord(32)}${bytesTail(question)}`
    const gas = hex(callGas(data, items) + items.length * DEPLOYLESS_GAS_EACH + DEPLOYLESS_GAS)
    return rpc.call<Hex>('eth_call', { from: sender, data, gas, gasPrice }, 'latest')
  }

  /**
   * Null when the RPC does not support overrides: it refuses the parameter, or calls the address as one without code.
   */
  async function throughOverride(
    question: Hex,
    items: readonly SignedAuthorization[],
    gasPrice: Hex,
  ): Promise<Hex | null> {
    const call = { from: sender, to: LENS_PLACE, data: question, gas: hex(callGas(question, items)), gasPrice }
    try {
      const answer = await rpc.call<Hex>('eth_call', call, 'latest', {
        [LENS_PLACE]: { code: LENS },
        [sender]: { balance: PLENTY },
      })
      return answer === '0x' ? null : answer
    } catch (error) {
      if (isRefusal(error) && isUnknownParameter(error)) return null
      throw error
    }
  }

  function callGas(data: Hex, items: readonly SignedAuthorization[]): number {
    const deployed = items.filter(({ signature }) => isUndeployed(signature)).length
    const inCalls = items.length * Number(gasEach) + deployed * Number(gasFactory)
    const wanted = inCalls * (1 + 1 / 32) + items.length * GAS_AROUND
    return Math.ceil(GAS_FIXED + data.length * GAS_PER_DIGIT + Math.min(wanted, GAS_MAX))
  }

  return async (items) => {
    const judged = await Promise.all(items.map(add))
    return judged.map((each) => {
      if ('error' in each) throw each.error
      return each.simulation
    })
  }
}

type Judged = { simulation: Simulation } | { error: unknown }

function encode(
  usdc: Address,
  { gasEach, gasFactory }: Pick<SimulationOptions, 'gasEach' | 'gasFactory'>,
  items: readonly SignedAuthorization[],
): Hex {
  const tuples = items.map((item) => {
    const deployment = deploymentOf(item.signature)
    const signature = bytesTail(deployment?.signature ?? item.signature)
    const factory = addressWord(deployment?.factory ?? '0x') + numberWord(deployment === null ? 0 : gasFactory)
    // Ten words, and behind them the two byte strings.
    const offsets = [10 * 32, 10 * 32 + signature.length / 2] as const
    const head = authorizationWords(item) + numberWord(offsets[0]) + factory + numberWord(offsets[1])
    return head + signature + bytesTail(deployment?.data ?? '0x')
  })
  const head = addressWord(usdc) + numberWord(gasEach) + numberWord(3 * 32)
  return `${JUDGE}${head}${numberWord(items.length)}${tailsWithOffsets(tuples)}`
}

/** The verdicts, up to the first item that had no gas left. */
function decode(answer: Hex, count: number): Simulation[] {
  const words = new Words(answer)
  const table = words.size(0) + 32
  if (words.size(table - 32) !== count) throw new Error('the lens answered with another number of items')
  const simulations: Simulation[] = []
  for (let place = 0; place < count; place++) {
    const at = table + words.size(table + place * 32)
    if (!words.flag(at)) break
    simulations.push({
      used: words.flag(at + 2 * 32),
      payerBlacklisted: words.flag(at + 3 * 32),
      payeeBlacklisted: words.flag(at + 4 * 32),
      paused: words.flag(at + 5 * 32),
      payerCode: CODES[words.size(at + 6 * 32)] ?? 'contract',
      balance: words.number(at + 7 * 32),
      outcome: outcomeOf(words, at),
    })
  }
  return simulations
}

function outcomeOf(words: Words, at: number): Outcome {
  if (words.flag(at + 32)) return { succeeds: true, gas: words.number(at + 8 * 32) }
  return { succeeds: false, reason: reasonOf(words.bytes(at + words.size(at + 9 * 32))) }
}

const CODES = ['none', 'delegation', 'contract', 'undeployed'] as const

/** judge(address,uint256,(address,address,uint256,uint256,uint256,bytes32,bytes,address,uint256,bytes)[]) */
const JUDGE = '0xc96e5115'
/** An address at which no contract is deployed. */
const LENS_PLACE = '0xc015007000000000000000000000000000001e45'
/**
 * One ether, more than any simulated transaction needs: the simulation must not depend on the sender's real balance.
 */
const PLENTY = '0xde0b6b3a7640000'
/** As creation code, 64 items with signatures of ordinary length would pass the limit of EIP-3860. */
const ITEMS_MAX = 50
/** Below the providers' limit for an eth_call, and below the limit of a transaction (EIP-7825). */
const GAS_MAX = 14_000_000
const GAS_FIXED = 200_000
/** For calldata: at least 40 for each byte (EIP-7623). */
const GAS_PER_DIGIT = 20
/** The same as `AROUND` in the lens, and the cost of copying its answer. */
const GAS_AROUND = 90_000
/** The gas to create the lens, and to "store" its answer as code, which costs 200 for each byte. */
const DEPLOYLESS_GAS = 1_500_000
const DEPLOYLESS_GAS_EACH = 512 * 200
