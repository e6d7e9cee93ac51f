import type { SimulatedOutcome } from '../../model.ts'
import type { Wallet } from '../../../ui-kit/provider.ts'
import type { Raw } from './form.ts'

/** What a customer can do here. */
export interface WalletActs {
  pay(raw: Raw): void
  connect(wallet: Wallet): void
  switchNetwork(): void
  look(): void
  changeWallet(): void
  again(): void
  retry(): void
}

/** At a checkout. */
export interface Acts extends WalletActs {
  simulate(raw: Raw, outcome: SimulatedOutcome): void
}

/** At a gate: in test mode its owner's token stands for a payment. */
export interface GateActs extends WalletActs {
  simulate(testToken: string): void
}
