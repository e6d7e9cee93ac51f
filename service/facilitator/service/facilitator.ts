import { setTimeout as pause } from 'node:timers/promises'
import type { Address, Hex } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { outOfGas, settlementMissing } from '../errors.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Purchase, Settlement, Verification } from '../model.ts'
import { Arrivals, Endings, Signal } from './signal.ts'
import { createGasWatch } from './gas.ts'
import { SponsorWorker } from './sponsor-worker.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'
import type { Examined } from '../ports.ts'
import { identify, type Signed } from './identity.ts'
import { reconcile } from './follow.ts'
import { createSettling, examineFor } from './settle.ts'

/** Verifies and settles: over HTTP for everyone, by direct calls for checkouts and paywalls. */
export function createFacilitator(deps: FacilitatorDeps) {
  const signals = { claimed: new Signal(), ended: new Endings(), arrivals: new Arrivals() }
  const gas = createGasWatch(deps)
  const { settle, carryOut } = createSettling(deps, gas, signals)
  const workers = [...deps.chains.values()].flatMap((chain) =>
    deps.keys.map((key) => new SponsorWorker(deps, chain, key, { gas, signals })),
  )
  let running: Promise<unknown> | null = null
  let stopped = false

  async function run(worker: SponsorWorker): Promise<void> {
    while (!stopped) {
      try {
        await worker.turn()
        await worker.rest()
      } catch (error) {
        deps.log.warn(
          { err: error, network: worker.network, sponsor: worker.sponsor },
          'sponsor iteration failed; retrying',
        )
        await pause(PACE.recheckMs)
      }
    }
    // An error here changes nothing: the lease ends by itself.
    await worker.release().catch(() => undefined)
  }

  async function isOperatorEmpty({ network, operation }: Examined): Promise<boolean> {
    if (operation === null) return false
    await gas.pays(network.name)
    return gas.isEmpty(network.name, operation.operator)
  }

  return {
    /**
     * Moves nothing and writes nothing. Throws `unavailable` when the chain cannot be asked and, for our own sellers,
     * when the gas cannot be paid. External callers get the latter as the refusal's reason.
     */
    async verify(payment: PaymentRequest, isExternal = false): Promise<Verification> {
      const examined = examineFor(deps.schemes, payment, { step: 'verify', isExternal })
      const { network, payer } = payment
      // An operator without gas cannot even be simulated, and the payment would be refused for no clear reason.
      const isEmpty = typeof examined !== 'string' && (await isOperatorEmpty(examined))
      const simulated =
        typeof examined === 'string' || isEmpty
          ? { refusal: typeof examined === 'string' ? examined : null, payerDecides: false, balance: null }
          : await examined.simulate(false)
      const { refusal } = simulated
      const payerHasCode = refusal === null && simulated.payerDecides
      const balance = refusal === null ? simulated.balance : null
      if (refusal !== null || network === null || (!isEmpty && (await gas.pays(network.name))))
        return { payer, refusal, payerHasCode, balance }
      if (!isExternal) throw outOfGas(network.name)
      return { payer, refusal: 'facilitator_out_of_gas', payerHasCode, balance }
    },

    /** Makes the transfer once, and hands out its success once. `SettleRequester` says who gets it. */
    settle,
    carryOut,

    purchases: {
      /** Identifies the authorization. Null when the payment is not one of USDC on a known network. */
      digestOf: (signed: Signed): Hex | null => identify(deps, signed)?.digest ?? null,
      /**
       * Runs in the sale's transaction. Returns the id of the purchase that has the authorization and settles it under
       * that id. No other caller gets the success from then on. Null where it can buy nothing: the escrow has it for a
       * signer of messages.
       */
      claim: (inside: Statements, purchase: Purchase): Promise<string | null> =>
        deps.store.buy(inside, purchase, deps.clock.now()),
      /**
       * For an authorization that only proves who the caller is. From then on it proves this and buys nothing. False
       * when it has bought something else, or was submitted to a chain, where it is public.
       */
      async prove(inside: Statements, purchase: Purchase): Promise<boolean> {
        if (await deps.store.isSubmitted(inside, purchase.digest)) return false
        return (await deps.store.buy(inside, purchase, deps.clock.now())) === purchase.purchaseId
      },
      /** The digest of an authorization that was submitted here, found by what its payer knows of it. */
      async digestBy(network: NetworkName, payer: Address, nonce: Hex): Promise<Hex | null> {
        return (await deps.store.findByNonce(network, payer, nonce))?.digest ?? null
      },
    },

    /** Whether payments on this network can be settled, as far as this process knows. */
    serves: (network: NetworkName): boolean =>
      deps.chains.has(network) && (deps.keys.length > 0 || deps.signsElsewhere) && gas.seemsToPay(network),

    /** Confirms that the caller received the success, or withdraws the offer so that the next caller gets it. */
    async delivered(digest: Hex, operation: string, arrived: boolean): Promise<void> {
      if (arrived) await deps.store.confirm(digest, operation, deps.clock.now())
      else await deps.store.withdraw(digest, operation)
      signals.ended.notify(digest)
    },

    async find(network: NetworkName, payer: Address, nonce: Hex): Promise<Settlement> {
      const found = await deps.store.findByNonce(network, payer, nonce)
      if (found === null) throw settlementMissing()
      return found
    },

    schemes: deps.schemes,
    networks: Object.values(NETWORKS),
    /** The addresses that pay the gas. */
    sponsors: (): readonly Address[] => deps.operators,
    gas: gas.known,

    reconcile: (now: Date): Promise<void> => reconcile(deps, now),
    /** From now on this process signs for each sponsor whose lease is free. */
    start(): void {
      running ??= Promise.all(workers.map(run))
    },
    async stop(): Promise<void> {
      stopped = true
      signals.claimed.notify()
      await running
    },
  }
}

export type Facilitator = ReturnType<typeof createFacilitator>
