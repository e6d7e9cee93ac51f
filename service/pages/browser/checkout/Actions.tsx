import type { ComponentChildren } from 'preact'
import { onrampFor } from '../../../kit/onramp.ts'
import { FAUCET, isTestNetwork } from '../../../ui-kit/networks.ts'
import { say } from '../words/say.ts'
import { Outward, Spinner, Warning } from './Icons.tsx'
import { missingOf, type State } from './state.ts'

export function Hint({ tone, children }: { tone?: 'plain' | 'bad'; children: ComponentChildren }) {
  return (
    <p class={tone === 'bad' ? 'notice notice-bad' : 'notice'}>
      <Warning />
      <span>{children}</span>
    </p>
  )
}

/** Never disabled while it works, or it would lose the focus. */
export function Primary({
  busy,
  plain = false,
  children,
  ...rest
}: {
  busy: string | null
  /** Beside an action that comes first. */
  plain?: boolean
  /** For a button that does not submit the form. */
  type?: 'button'
  onClick?: (() => void) | undefined
  children: ComponentChildren
}) {
  return (
    <button type="submit" {...rest} class={plain ? 'button button-plain' : 'button'} aria-disabled={busy !== null}>
      {busy === null ? (
        children
      ) : (
        <>
          <Spinner /> {busy}
        </>
      )}
    </button>
  )
}

/** Where the USDC comes from: bought with money, or given away on a test network. Null where no place is known. */
export function wayToUsdc({ page, account, onramp }: State): string | null {
  if (isTestNetwork(page.checkout.chainId)) return FAUCET
  if (onramp === null) return null
  const needed = BigInt(page.paymentRequirements?.v2.amount ?? 0)
  const missing = account === null ? needed : (missingOf(page, account) ?? needed)
  const amount = (Number(missing) / 1_000_000).toFixed(missing % 10_000n === 0n ? 2 : 6)
  return onrampFor(onramp, { amount, address: account?.address ?? null, network: page.checkout.network })
}

export function GetUsdc({ state, plain = false }: { state: State; plain?: boolean }) {
  const href = wayToUsdc(state)
  if (href === null) return null
  return (
    <a class={plain ? 'button button-plain' : 'button'} href={href} target="_blank" rel="noreferrer noopener">
      {say(isTestNetwork(state.page.checkout.chainId) ? 'pay.getTestUsdc' : 'pay.buyUsdc')} <Outward />
      <span class="unseen"> {say('pay.opensTab')}</span>
    </a>
  )
}
