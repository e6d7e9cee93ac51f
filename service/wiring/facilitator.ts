import type { Address, Hex } from '../chain/model.ts'
import { createRateLimit } from '../api/limits.ts'
import { facilitatorRoutes } from '../facilitator/http.ts'
import { createFacilitator, type Facilitator } from '../facilitator/service/facilitator.ts'
import { createSettlementStore } from '../facilitator/store/settlements.ts'
import type { AuthCapture } from '../methods/auth-capture/scheme.ts'
import { createSchemes } from '../methods/registry.ts'
import type { Chains } from './chains.ts'
import type { Listing } from '../x402/bazaar.ts'
import type { PermitOffer } from '../methods/upto/scheme.ts'
import type { Platform, Part } from './platform.ts'

/** Verifies and settles on the networks that have an RPC, and refuses on the others. */
export function openFacilitator(
  platform: Platform,
  chains: Chains,
  listing: Listing,
): { facilitator: Facilitator; authCapture: AuthCapture; permits: PermitOffer; part: Part } {
  const { config, database, clock, log, metrics, redis } = platform
  const keys = config.SPONSOR_PRIVATE_KEYS as Hex[]
  const [anyChain] = chains.byNetwork.values()
  const schemeDeps = {
    store: createSettlementStore(database.statements),
    signatures: chains.signatures,
    chains: chains.byNetwork,
    keys,
    operators: [
      ...new Set([
        ...(anyChain === undefined ? [] : keys.map((key) => anyChain.addressOf(key))),
        ...(config.SPONSOR_ADDRESSES as Address[]),
      ]),
    ],
    signsElsewhere: !config.ROLES.includes('facilitator'),
    clock,
    settings: {
      waitMs: config.SETTLE_WAIT_MS,
      confirmations: config.SETTLE_CONFIRMATIONS,
      valueMin: BigInt(config.SETTLE_VALUE_MIN),
      gasMax: BigInt(config.SETTLE_GAS_MAX),
      walletFactories: new Set(config.WALLET_FACTORIES as Address[]),
      passkeyWallets: config.PASSKEY_WALLETS === true,
      deployGasMax: BigInt(config.WALLET_DEPLOY_GAS_MAX),
      gasPerDay: config.GAS_BUDGET_PER_DAY === 0n ? null : config.GAS_BUDGET_PER_DAY,
      gasPerPayerDay: config.GAS_BUDGET_PER_PAYER_DAY === 0n ? null : config.GAS_BUDGET_PER_PAYER_DAY,
      gasPerRecipientDay: config.GAS_BUDGET_PER_RECIPIENT_DAY === 0n ? null : config.GAS_BUDGET_PER_RECIPIENT_DAY,
      gasPerCallerDay: config.GAS_BUDGET_PER_CALLER_DAY === 0n ? null : config.GAS_BUDGET_PER_CALLER_DAY,
      gasReserve: config.GAS_RESERVE_PERCENT,
      lowBalance: config.SPONSOR_LOW_BALANCE,
      bumpAfterMs: config.SETTLE_BUMP_AFTER_MS,
    },
  }
  const schemes = createSchemes(schemeDeps)
  const facilitator = createFacilitator({
    ...schemeDeps,
    schemes,
    lease: (name) => platform.lease(name),
    log,
    measures: metrics,
    failpoints: platform.failpoints,
  })
  metrics.watch(
    'coinslot_sponsors_low_on_gas',
    'Sponsors whose balance is below SPONSOR_LOW_BALANCE',
    () => facilitator.gas().filter(({ low }) => low).length,
  )
  return {
    facilitator,
    authCapture: schemes.authCapture,
    permits: schemes.permits,
    part: {
      routes: [{ surface: 'facilitator', routes: facilitatorRoutes(facilitator, listing) }],
      limits: {
        verify: createRateLimit('verify', config.RATE_VERIFY_PER_MINUTE, redis),
        settle: createRateLimit('settle', config.RATE_SETTLE_PER_MINUTE, redis),
      },
      sweepers: [{ name: 'facilitator.reconcile', everyMs: 5_000, run: (now) => facilitator.reconcile(now) }],
      health: {
        sponsors: () => facilitator.gas().map((gas) => ({ ...gas, wei: gas.wei === null ? null : String(gas.wei) })),
      },
      start() {
        if (config.ROLES.includes('facilitator')) facilitator.start()
      },
      stop: () => facilitator.stop(),
    },
  }
}
