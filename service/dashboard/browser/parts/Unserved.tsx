import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import { useRead } from '../api/procedures.ts'
import { Notice } from './states.tsx'

const VARIABLES = { base: 'BASE_RPC_URLS', 'base-sepolia': 'BASE_SEPOLIA_RPC_URLS' } as const

/** Why buyers cannot pay for what its seller sees as active. */
export function Unserved({
  of,
  sold: { network, testMode, status },
}: {
  of: 'checkouts' | 'paywalls'
  sold: { network: keyof typeof NETWORK_NAMES; testMode: boolean; status: string }
}) {
  const { data } = useRead('settings.served', undefined)
  const isSold = status === 'active' && !testMode
  if (data === undefined || !isSold || data[of].includes(network)) return null
  return (
    <Notice tone="warn">
      Buyers cannot pay now: this server settles no payments on {NETWORK_NAMES[network]}. Ask its operator to set{' '}
      <code className="font-mono">{VARIABLES[network]}</code> and{' '}
      <code className="font-mono">SPONSOR_PRIVATE_KEYS</code>, and to give the sponsor gas. Until then, test mode takes
      simulated payments.
    </Notice>
  )
}
