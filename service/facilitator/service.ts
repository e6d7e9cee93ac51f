import type { Address, Hex } from '../chain/model.ts'
import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import { outOfGas, settlementMissing } from './errors.ts'
import type { Statements } from '../kit/transaction.ts'
import type { PaymentRequest } from '../x402/model.ts'
import type { Answer, Asker, Purchase, Settlement, Verdict } from './model.ts'
import { createBell } from './service/bell.ts'
import { examine, identify, simulate, type Signed } from './service/examine.ts'
import { createGasWatch } from './service/gas.ts'
import { createLane, type Lane } from './service/lane.ts'
import { PACE, type FacilitatorDeps } from './service/parts.ts'
import { reconcile } from './service/reconcile.ts'
import { createSettling } from './service/settle.ts'

/** Verifies and settles. Over HTTP for everybody; checkouts and paywalls call it directly. */
export function createFacilitator(deps: FacilitatorDeps) {
  const bells = { claimed: createBell(), ended: createBell() }
  const gas = createGasWatch(deps)
  const settling = createSettling(deps, gas, bells)
  const lanes = [...deps.chains.values()].flatMap((chain) =>
    deps.keys.map((key) => createLane(deps, chain, key, gas, bells)),
  )
  const anyChain = [...deps.chains.values()][0]
  let running: Promise<unknown> | null = null
  let stopped = false

  async function run(lane: Lane): Promise<void> {
    while (!stopped) {
      try {
        await lane.turn()
      } catch (error) {
        deps.log.warn({ err: error, network: lane.network, sponsor: lane.sponsor }, 'a sponsor skips a turn')
        await pause(PACE.recheckMs)
      }
      if (lane.busy()) await pause(PACE.turnMs)
      else await bells.claimed.wait(PACE.turnMs)
      await pause(PACE.gatherMs)
    }
    // Not worth an error on the way out: the lease ends by itself.
    await lane.release().catch(() => undefined)
  }

  return {
    /**
     * Moves nothing and writes nothing. Throws `unavailable` where the chain cannot be asked, and, to those who sell
     * here, where the gas cannot be paid; strangers are told that as the reason.
     */
    async verify(payment: PaymentRequest, stranger = false): Promise<Verdict> {
      const examined = examine(deps, payment)
      const simulated = typeof examined === 'string' ? { refusal: examined } : await simulate(deps, examined)
      const { refusal } = simulated
      const payerHasCode = refusal === null && simulated.payerHasCode
      const { network, payer } = payment
      if (refusal !== null || network === null || (await gas.pays(network.name)))
        return { payer, refusal, payerHasCode }
      if (!stranger) throw outOfGas(network.name)
      return { payer, refusal: 'facilitator_out_of_gas', payerHasCode }
    },

    /** Makes the transfer happen, once, and tells of its success once. See `Asker` about who is told. */
    settle: (payment: PaymentRequest, asker: Asker): Promise<Answer & { digest: Hex | null }> =>
      settling.settle(payment, asker),

    purchases: {
      /** What identifies the authorization; null where the payment is not one of USDC on a network that is known. */
      digestOf: (signed: Signed): Hex | null => identify(deps, signed)?.digest ?? null,
      /**
       * In the transaction of what is sold. Who is answered has the authorization, and settles it under that very
       * name; from now on nobody else is told of its success.
       */
      claim: (inside: Statements, purchase: Purchase): Promise<string> =>
        deps.store.buy(inside, purchase, deps.clock.now()),
      /**
       * An authorization that only proves who is asking; from now on it proves this and buys nothing. False where it
       * has bought something else, or was given to a chain: then everybody may have it.
       */
      async prove(inside: Statements, purchase: Purchase): Promise<boolean> {
        if (await deps.store.isSubmitted(inside, purchase.digest)) return false
        return (await deps.store.buy(inside, purchase, deps.clock.now())) === purchase.buys
      },
      /** Of an authorization that was submitted here, by what its payer knows of it. */
      async digestBy(network: NetworkName, payer: Address, nonce: Hex): Promise<Hex | null> {
        return (await deps.store.findByNonce(network, payer, nonce))?.digest ?? null
      },
    },

    /** Whether payments on this network can be settled, as far as this process knows. */
    serves: (network: NetworkName): boolean =>
      deps.chains.has(network) && (deps.keys.length > 0 || deps.signsElsewhere) && gas.seemsToPay(network),

    /** The caller who was offered the success has it, or never will: then the next one gets it. */
    async delivered(digest: Hex, operation: string, arrived: boolean): Promise<void> {
      if (arrived) await deps.store.confirm(digest, operation, deps.clock.now())
      else await deps.store.withdraw(digest, operation)
      bells.ended.ring()
    },

    async find(network: NetworkName, payer: Address, nonce: Hex): Promise<Settlement> {
      const found = await deps.store.findByNonce(network, payer, nonce)
      if (found === null) throw settlementMissing()
      return found
    },

    networks: Object.values(NETWORKS),
    /** Who pays the gas. */
    sponsors: (): readonly Address[] => (anyChain === undefined ? [] : deps.keys.map((key) => anyChain.addressOf(key))),
    gas: gas.known,

    reconcile: (now: Date): Promise<void> => reconcile(deps, now),
    /** From now on this process is a writer for whatever sponsor is free. */
    start(): void {
      running ??= Promise.all(lanes.map(run))
    },
    async stop(): Promise<void> {
      stopped = true
      bells.claimed.ring()
      await running
    },
  }
}

export type Facilitator = ReturnType<typeof createFacilitator>

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
