import { loadCurve, loadKeccak } from '../../../service/chain/curve.ts'
import { createSignatures } from '../../../service/chain/eip712.ts'
import type { Hex } from '../../../service/chain/model.ts'
import { NETWORKS } from '../../../service/chain/networks.ts'
import { createChain } from '../../../service/chain/usdc.ts'
import { openDatabase } from '../../../service/database/client.ts'
import { createFacilitator } from '../../../service/facilitator/service/facilitator.ts'
import { createSettlementStore } from '../../../service/facilitator/store/settlements.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { createSchemes } from '../../../service/methods/registry.ts'
import { createLease } from '../../../service/queue/sweepers.ts'
import { toRequest } from '../../../service/x402/payload.ts'
import { paymentRequest } from '../../../service/x402/schema.ts'

export interface Order {
  database: string
  rpc: string
  key: Hex
  bodies: readonly unknown[]
  dieAt: string
}

/** A process that settles, and kills itself at the ordered place: no handler runs, nothing is flushed. */
process.once('message', (order: Order) => {
  void run(order)
})

async function run({ database, rpc, key, bodies, dieAt }: Order): Promise<void> {
  const { statements } = openDatabase({ url: database, poolMax: 4 })
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const network = NETWORKS['base-sepolia']
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const chain = createChain({ network, urls: [rpc], sender: null, curve, keccak, clock: systemClock, log })
  const schemeDeps = {
    store: createSettlementStore(statements),
    signatures: createSignatures(curve, keccak),
    chains: new Map([[network.name, chain]]),
    keys: [key],
    operators: [chain.addressOf(key)],
    signsElsewhere: false,
    clock: systemClock,
    settings: {
      waitMs: 20_000,
      confirmations: 3,
      valueMin: 100n,
      gasPerRecipientDay: null,
      gasPerCallerDay: null,
      gasReserve: 0,
      gasMax: 300_000n,
      walletFactories: new Set<Hex>(),
      deployGasMax: 400_000n,
      passkeyWallets: false,
      gasPerDay: null,
      gasPerPayerDay: null,
      lowBalance: 0n,
      bumpAfterMs: 12_000,
    },
  }
  const facilitator = createFacilitator({
    ...schemeDeps,
    schemes: createSchemes(schemeDeps),
    lease: (name) => createLease(statements, name, String(process.pid)),
    log,
    measures: { count: () => undefined },
    failpoints: {
      reach(at) {
        if (at === dieAt) process.kill(process.pid, 'SIGKILL')
      },
    },
  })
  facilitator.start()
  await Promise.all(
    bodies.map((body, place) =>
      facilitator.settle(toRequest(paymentRequest.parse(body)), {
        operation: `op_${String(place)}`,
        ownsResult: false,
      }),
    ),
  )
}
