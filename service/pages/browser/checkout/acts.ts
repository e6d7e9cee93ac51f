import type { Wallet } from '../pay/provider.ts'
import type { Raw } from './form.ts'

/** What a customer can do here. */
export interface Acts {
  pay(raw: Raw): void
  simulate(raw: Raw): void
  connect(wallet: Wallet): void
  switchNetwork(): void
  look(): void
  changeWallet(): void
  again(): void
  retry(): void
}
