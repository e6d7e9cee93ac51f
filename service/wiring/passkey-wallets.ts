import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { Pages } from '../pages/pages.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import type { Chains } from './chains.ts'
import type { Part, Platform } from './platform.ts'
import { passkeyWalletRoutes } from '../passkey-wallets/http.ts'
import { createPasskeyWallets } from '../passkey-wallets/service.ts'

/** The wallets of people who pay with a passkey, where the operator has switched them on. */
export function openPasskeyWallets({ config }: Platform, { chains, facilitator, pages, recipients }: Others): Part {
  if (config.PASSKEY_WALLETS !== true) return {}
  const { byNetwork, signatures } = chains
  const wallets = createPasskeyWallets({ chains: byNetwork, facilitator, signatures, recipients })
  return { routes: [{ surface: 'pay', routes: passkeyWalletRoutes(wallets, pages) }] }
}

interface Others {
  chains: Chains
  facilitator: Facilitator
  pages: Pages
  recipients: Wallets['recipients']
}
