import { useEffect, useState } from 'preact/hooks'
import { networkName } from '../../../ui-kit/networks.ts'
import type { Hex, Provider } from '../../../ui-kit/provider.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { Copied } from '../checkout/Copied.tsx'
import { hurdleOf, type PageWallet, type State } from '../checkout/state.ts'
import { say } from '../words/say.ts'
import { hasPasskeys, keptPasskey } from './device.ts'
import { withChecksum } from '../../../kit/keccak.ts'
import { holdingsOf, openProvider, type Holding, type Way } from './provider.ts'

/**
 * The passkeys that can pay here, beside the browser's wallets. Not in a frame: the window that asks the person says
 * neither amount nor seller, so the whole page must be theirs to see.
 */
export async function offered(store: Watched<State>): Promise<PageWallet[]> {
  const { page, embed } = store.read()
  if (embed?.tab === false || page.paymentRequirements?.v2.scheme !== 'exact') return []
  if (!(await hasPasskeys())) return []
  const { chainId, url } = page.checkout
  const at = new URL('wallet', url).pathname
  const wallet = (way: Way, name: string): PageWallet => {
    const own: PageWallet = {
      id: `passkey ${way}`,
      name,
      icon: null,
      provider: named(openProvider({ way, chainId, at }), () => (own.name = say('passkey.wallet'))),
      note: ({ state }) => <Note state={state} at={at} />,
    }
    return own
  }
  return keptPasskey() === null
    ? [wallet('new', say('passkey.new')), wallet('other', say('passkey.existing'))]
    : [wallet('kept', say('passkey.wallet')), wallet('other', say('passkey.other'))]
}

/** Once it is chosen, how it was found no longer matters. */
function named(provider: Provider, chosen: () => void): Provider {
  return {
    async request(call) {
      const answer = await provider.request(call)
      if (call.method === 'eth_requestAccounts') chosen()
      return answer
    },
  }
}

/** What a passkey's wallet is for, and where USDC is sent for it. */
function Note({ state, at }: { state: State; at: string }) {
  const { account, page } = state
  const isShort = hurdleOf(state) === 'too-little'
  const [holding, setHolding] = useState<Holding | null>(null)
  const address = account?.address
  useEffect(() => {
    if (!isShort || address === undefined) return
    const { chainId } = page.checkout
    void holdingsOf(at, address).then(
      (all) => setHolding(all.find((one) => one.chainId === chainId) ?? null),
      () => undefined,
    )
  }, [isShort, address])
  return (
    <>
      {isShort && address !== undefined && (
        <TopUp holding={holding} address={address} network={networkName(page.checkout.chainId)} />
      )}
      <p class="fine">
        {say('passkey.about', { host: location.hostname })} <a href={at}>{say('passkey.open')}</a>
      </p>
    </>
  )
}

export function TopUp({ holding, address, network }: { holding: Holding | null; address: Hex; network: string }) {
  return (
    <div class="transfer">
      <p>{say('passkey.topUp', { network })}</p>
      {holding !== null && (
        <img class="code" src={`data:image/svg+xml,${encodeURIComponent(holding.qr)}`} alt={say('transfer.code')} />
      )}
      <Copied label={say('transfer.address')} text={withChecksum(address)} />
    </div>
  )
}
