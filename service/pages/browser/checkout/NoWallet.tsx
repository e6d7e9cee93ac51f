import { useEffect, useRef, useState } from 'preact/hooks'
import { FAUCET, isTestNetwork, networkName } from '../../../ui-kit/networks.ts'
import { say, sayWith, time } from '../words/say.ts'
import { rawOf } from './draft.ts'
import { openInTab } from './embedded.ts'
import { GetUsdc, Hint, Primary, wayToUsdc } from './Actions.tsx'
import type { Handover, State, WalletActs } from './state.ts'

/** For people without a wallet in this browser: what USDC is, where it comes from, and how to pay elsewhere. */
export function NoWallet({ state, handOver }: { state: State; handOver: WalletActs['handOver'] }) {
  const { page, embed } = state
  if (embed?.tab === false) return <InTab />
  const network = networkName(page.checkout.chainId)
  return (
    <div class="no-wallet">
      {state.wallets?.length === 0 && (
        <Hint>
          <strong>{say('pay.noWallet')}</strong> {say('pay.noWalletHint')}
        </Hint>
      )}
      <Elsewhere page={page} handOver={handOver} />
      <p class="quiet">
        {isTestNetwork(page.checkout.chainId)
          ? sayWith('pay.whatIsTestUsdc', { faucet: new URL(FAUCET).host, network })
          : say('pay.whatIsUsdc', { network })}
      </p>
      {wayToUsdc(state) !== null && <GetUsdc state={state} plain />}
    </div>
  )
}

/** Wallets put themselves into whole pages only, never into frames. */
function InTab() {
  return (
    <>
      <Hint>{say('pay.inTabHint')}</Hint>
      <Primary type="button" busy={null} onClick={openInTab}>
        {say('pay.inTab')}
      </Primary>
    </>
  )
}

/** On a phone: in the browser of a wallet's app. Elsewhere: on the phone, by a QR code. Both have the form as it is now. */
function Elsewhere({ page, handOver }: Pick<State, 'page'> & { handOver: WalletActs['handOver'] }) {
  const [handover, setHandover] = useState<Handover | 'busy' | 'failed' | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const isPhone = PHONE.test(navigator.userAgent)
  useEffect(() => {
    const form = box.current?.closest('form')
    // What was stored is not what the form has now.
    const forget = (): void => setHandover(null)
    form?.addEventListener('input', forget)
    return () => form?.removeEventListener('input', forget)
  }, [])
  useEffect(() => {
    // The button that had the focus is gone.
    if (typeof handover === 'object') box.current?.querySelector<HTMLElement>('a, [tabindex]')?.focus()
  }, [handover])
  if (handOver === undefined) return isPhone ? <Apps url={location.href} /> : null
  const begin = async (): Promise<void> => {
    const form = box.current?.closest('form')
    if (form == null || handover === 'busy') return
    setHandover('busy')
    setHandover((await handOver(rawOf(page.checkout.fields, form))) ?? 'failed')
  }
  return (
    <div class="elsewhere" ref={box}>
      {handover === null || handover === 'busy' || handover === 'failed' ? (
        <>
          {handover === 'failed' && <Hint tone="bad">{say('pay.noCode')}</Hint>}
          <Primary
            type="button"
            busy={handover === 'busy' ? say('common.momentPlease') : null}
            onClick={() => void begin()}
          >
            {say(isPhone ? 'pay.inApp' : 'pay.otherDevice')}
          </Primary>
        </>
      ) : isPhone ? (
        <Apps url={handover.url} />
      ) : (
        <Code {...handover} />
      )}
    </div>
  )
}

function Code({ qr, expiresAt }: Handover) {
  return (
    <>
      <img class="code" src={`data:image/svg+xml,${encodeURIComponent(qr)}`} alt={say('pay.code')} />
      <p tabIndex={-1} class="fine">
        {say('pay.scan', { time: time(new Date(expiresAt)) })}
      </p>
    </>
  )
}

function Apps({ url }: { url: string }) {
  return (
    <ul class="wallets">
      {APPS.map(([wallet, linkTo]) => (
        <li key={wallet}>
          <a class="button button-plain" href={linkTo(url)} rel="noreferrer">
            {say('pay.openIn', { wallet })}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** As the wallets document them: each opens an address in the browser of its app. */
const APPS: readonly (readonly [wallet: string, linkTo: (url: string) => string])[] = [
  ['MetaMask', (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Coinbase Wallet', (url) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(url)}`],
  ['Trust Wallet', (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(url)}`],
]

const PHONE = /Android|iPhone|iPad|iPod/i
