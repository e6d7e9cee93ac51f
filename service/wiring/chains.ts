import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { loadCurve, type Curve, loadKeccak, type Keccak } from '../chain/curve.ts'
import { addressOf, createSignatures } from '../chain/eip712.ts'
import type { Chain, Hex, Signatures } from '../chain/model.ts'
import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import { createChain } from '../chain/usdc.ts'

/** The networks that have an RPC, and the verifiers of signatures on all of them. */
export interface Chains {
  signatures: Signatures
  curve: Curve
  keccak: Keccak
  byNetwork: ReadonlyMap<NetworkName, Chain>
  close(): Promise<void>
}

export async function openChains({ config, clock, log }: { config: Config; clock: Clock; log: Log }): Promise<Chains> {
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const signatures = createSignatures(curve, keccak)
  log.info({ curve: signatures.kind }, 'signatures are recovered')
  const [first] = config.SPONSOR_PRIVATE_KEYS as Hex[]
  const sender = first === undefined ? null : addressOf(keccak, curve.publicKey(Buffer.from(first.slice(2), 'hex')))
  const urls = { base: config.BASE_RPC_URLS, 'base-sepolia': config.BASE_SEPOLIA_RPC_URLS }
  const gas = { gasEach: BigInt(config.SETTLE_GAS_MAX), gasFactory: BigInt(config.WALLET_DEPLOY_GAS_MAX) }
  const chains = Object.values(NETWORKS)
    .filter(({ name }) => urls[name].length > 0)
    .map((network) => createChain({ network, urls: urls[network.name], sender, curve, keccak, clock, log, ...gas }))
  return {
    signatures,
    curve,
    keccak,
    byNetwork: new Map(chains.map((chain) => [chain.network.name, chain])),
    async close() {
      await Promise.all(chains.map((chain) => chain.close()))
    },
  }
}
