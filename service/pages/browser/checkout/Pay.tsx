import type { ComponentChildren } from 'preact'
import type { Wallet } from '../../../ui-kit/provider.ts'
import type { SimulatedOutcome } from '../../model.ts'
import { microInUsdc, shortly } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { Chevron, Spinner, WalletGlyph, Warning } from './Icons.tsx'
import { hurdleOf, missingOf, priceOf, type Account, type State, type WalletActs } from './state.ts'

/** The end of the form: the wallet, and the next action. */
export function Pay({ state, acts }: { state: State; acts: WalletActs | null }) {
  const { page, account, doing, notice } = state
  if (page.checkout.testMode) {
    return (
      <div class="pay">
        <Outcomes />
        <Notice state={state} />
        <Primary busy={doing === 'sending' ? 'Simulating…' : null}>Simulate payment</Primary>
        <p class="fine">You need no wallet. Nothing is charged.</p>
      </div>
    )
  }
  if (account === null) {
    return (
      <div class="pay">
        <h2 id="pay-with">Pay with</h2>
        {notice !== null && <Notice state={state} />}
        <Wallets state={state} acts={acts} />
      </div>
    )
  }
  const hurdle = hurdleOf(state)
  return (
    <div class="pay">
      <h2 id="pay-with">Pay with</h2>
      <Chosen account={account} change={acts?.changeWallet} />
      <Notice state={state} />
      {hurdle === 'wrong-network' ? (
        <>
          <Hint>
            {account.wallet.name} is on another network. {page.checkout.product.name} is paid on{' '}
            <strong>{networkName(page.checkout.chainId)}</strong>.
          </Hint>
          <Primary
            type="button"
            busy={doing === 'switching' ? 'Switch in your wallet…' : null}
            onClick={acts?.switchNetwork}
          >
            Switch to {networkName(page.checkout.chainId)}
          </Primary>
        </>
      ) : hurdle === 'too-little' ? (
        <>
          <Hint>
            You need <strong>{microInUsdc(missingOf(page, account) ?? 0n)} USDC</strong> more on{' '}
            {networkName(page.checkout.chainId)}. Your wallet has {microInUsdc(account.balance ?? 0n)} USDC.
          </Hint>
          <Primary type="button" busy={doing === 'looking' ? 'Looking…' : null} onClick={acts?.look}>
            Check again
          </Primary>
        </>
      ) : (
        <>
          <Primary busy={doing === 'signing' ? 'Confirm in your wallet…' : doing === 'sending' ? 'Sending…' : null}>
            Pay {priceOf(page)}
          </Primary>
          <p class="fine">You sign once. The seller gets exactly this amount, and you pay no network fee.</p>
        </>
      )}
    </div>
  )
}

/** The field has no `name`, because names belong to the seller's fields. */
function Outcomes() {
  return (
    <div class="field">
      <label for={OUTCOME}>Outcome</label>
      <div class="select">
        <select id={OUTCOME}>
          {OUTCOMES.map(([outcome, label]) => (
            <option key={outcome} value={outcome}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

const OUTCOME = 'simulated-outcome'
const OUTCOMES: readonly (readonly [SimulatedOutcome, string])[] = [
  ['paid', 'Payment succeeds'],
  ['declined', 'Payment is declined'],
  ['insufficient_funds', 'Balance is too low'],
  ['slow', 'Payment takes a few seconds'],
  ['delivery_failed', 'Delivery fails'],
]

export function outcomeIn(form: HTMLFormElement): SimulatedOutcome {
  const chosen = form.querySelector<HTMLSelectElement>(`#${OUTCOME}`)?.value
  return OUTCOMES.find(([outcome]) => outcome === chosen)?.[0] ?? 'paid'
}

function Wallets({ state: { wallets, doing }, acts }: { state: State; acts: WalletActs | null }) {
  if (wallets === null) {
    return (
      <div class="wallet wallet-awaited">
        <Spinner /> Looking for your wallet…
      </div>
    )
  }
  if (wallets.length === 0) {
    return (
      <Hint>
        <strong>There is no wallet in this browser.</strong> Open this page in the browser of your wallet’s app, or
        install a wallet extension and reload the page.
      </Hint>
    )
  }
  return (
    <ul class="wallets" aria-labelledby="pay-with">
      {wallets.map((wallet) => (
        <li key={wallet.id}>
          <button type="button" class="wallet" aria-disabled={doing !== null} onClick={() => acts?.connect(wallet)}>
            <Face wallet={wallet} />
            <span class="wallet-name">{wallet.name}</span>
            {doing === 'connecting' ? <Spinner /> : <Chevron />}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Chosen({ account, change }: { account: Account; change: (() => void) | undefined }) {
  return (
    <div class="wallet wallet-chosen">
      <Face wallet={account.wallet} />
      <span class="wallet-name">
        {account.wallet.name}
        <span class="funds mono" title={account.address}>
          {shortly(account.address)}
        </span>
      </span>
      <span class="worth">
        {/* The line is reserved before the balance is known, so that nothing moves when it appears. */}
        <span class="funds">{account.balance !== null && `${microInUsdc(account.balance)} USDC`}</span>
        <button type="button" class="link" onClick={change}>
          Change<span class="unseen"> wallet</span>
        </button>
      </span>
    </div>
  )
}

function Face({ wallet: { icon } }: { wallet: Wallet }) {
  return <span class="face">{icon === null ? <WalletGlyph /> : <img src={icon} alt="" width={24} height={24} />}</span>
}

export function Notice({ state: { notice } }: { state: State }) {
  return notice === null ? null : <Hint tone={notice.tone}>{notice.text}</Hint>
}

function Hint({ tone, children }: { tone?: 'plain' | 'bad'; children: ComponentChildren }) {
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
  children,
  ...rest
}: {
  busy: string | null
  /** For a button that does not submit the form. */
  type?: 'button'
  onClick?: (() => void) | undefined
  children: ComponentChildren
}) {
  return (
    <button type="submit" {...rest} class="button" aria-disabled={busy !== null}>
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
