import { encodeFunctionData, parseAbi } from 'viem'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import type { Authorization, Call, Chain, Hex, Receipt, Signatures } from '../../service/chain/model.ts'
import type { Network } from '../../service/chain/networks.ts'
import { createChain, type ChainOptions } from '../../service/chain/usdc.ts'
import type { Log } from '../../service/kit/log.ts'
import { TestClock } from '../harness/clock.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { until } from '../harness/until.ts'

export interface World {
  local: TestChain
  chain: Chain
  signatures: Signatures
  clock: TestClock
  sponsor: TestAccount
  /** Another adapter to the same chain, with other options. */
  adapter(options: Partial<ChainOptions>): Chain
  /** Signs, sends and waits until it is in a block. */
  send(call: Call, from?: TestAccount): Promise<Receipt>
  stop(): Promise<void>
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** A chain of its own and the adapter to it, which reads the newest block anew each time. */
export async function openWorld(options: Parameters<typeof startChain>[0] = {}): Promise<World> {
  const local = await startChain(options)
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const clock = new TestClock()
  const sponsor = local.accounts[0]!
  const opened: Chain[] = []
  const adapter: World['adapter'] = (other) => {
    const { network, url } = local
    const all = { network, urls: [url], sender: sponsor.address, curve, keccak, clock, log: silent, headMaxAgeMs: 0 }
    const chain = createChain({ ...all, ...other })
    opened.push(chain)
    return chain
  }
  const chain = adapter({})
  return {
    local,
    chain,
    signatures: createSignatures(curve, keccak),
    clock,
    sponsor,
    adapter,
    async send(call, from = sponsor) {
      const nonce = await chain.nonceOf(from.address, 'pending')
      const fees = await chain.fees()
      const signed = chain.signTransaction({ key: from.privateKey, nonce, gas: 6_000_000n, fees, ...call })
      await chain.broadcast(signed.raw)
      // Anvil responds to a broadcast before the block with it exists.
      return until(() => chain.receipt(signed.hash))
    },
    async stop() {
      await Promise.all(opened.map((each) => each.close()))
      await local.stop()
    },
  }
}

export { until }

/** The call with which a payer cancels an authorization. */
export function cancelCall(
  network: Network,
  authorization: Pick<Authorization, 'from' | 'nonce'>,
  signature: Hex,
): Call {
  const abi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)'])
  return {
    to: network.usdc.address,
    data: encodeFunctionData({ abi, args: [authorization.from, authorization.nonce, signature] }),
  }
}
