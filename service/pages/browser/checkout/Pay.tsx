import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Wallet } from '../../../ui-kit/provider.ts'
import type { SimulatedOutcome } from '../../model.ts'
import { shortly } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { microUsdc, say, sayWith, type PlainKey } from '../words/say.ts'
import { GetUsdc, Hint, Primary, wayToUsdc } from './Actions.tsx'
import { Chevron, Spinner, WalletGlyph } from './Icons.tsx'
import type * as Help from './NoWallet.tsx'
import type * as Transfers from './Transfer.tsx'
import { hurdleOf, isFree, missingOf, priceOf, type Account, type State, type WalletActs } from './state.ts'

/** The end of the form: the wallet, and the next action. */
export function Pay({ state, acts }: { state: State; acts: WalletActs | null }) {
  const { page, account, doing, notice } = state
  if (isFree(page)) {
    return (
      <div class="pay">
        <Notice state={state} />
        <Primary busy={doing === 'sending' ? say('common.momentPlease') : null}>{say('pay.free')}</Primary>
        <p class="fine">{say('pay.noWalletNeeded')}</p>
      </div>
    )
  }
  if (page.checkout.testMode) {
    return (
      <div class="pay">
        <Outcomes />
        <Notice state={state} />
        <Primary busy={doing === 'sending' ? say('pay.simulating') : null}>{say('pay.simulate')}</Primary>
        <p class="fine">{say('pay.noWalletNeeded')}</p>
      </div>
    )
  }
  if (account === null) {
    return (
      <div class="pay">
        <h2 id="pay-with">{say('pay.payWith')}</h2>
        {notice !== null && <Notice state={state} />}
        <Ways state={state} acts={acts} />
      </div>
    )
  }
  const hurdle = hurdleOf(state)
  return (
    <div class="pay">
      <h2 id="pay-with">{say('pay.payWith')}</h2>
      <Chosen account={account} change={acts?.changeWallet} />
      <Notice state={state} />
      {account.wallet.note?.({ state }) as VNode | undefined}
      {hurdle === 'wrong-network' ? (
        <>
          <Hint>
            {sayWith('pay.otherNetwork', {
              wallet: account.wallet.name,
              product: page.checkout.product.name,
              network: <strong>{networkName(page.checkout.chainId)}</strong>,
            })}
          </Hint>
          <Primary
            type="button"
            busy={doing === 'switching' ? say('pay.switching') : null}
            onClick={acts?.switchNetwork}
          >
            {say('pay.switchTo', { network: networkName(page.checkout.chainId) })}
          </Primary>
        </>
      ) : hurdle === 'too-little' ? (
        <>
          <Hint>
            {sayWith('pay.tooLittle', {
              missing: <strong>{microUsdc(missingOf(page, account) ?? 0n)}</strong>,
              network: networkName(page.checkout.chainId),
              balance: microUsdc(account.balance ?? 0n),
            })}
          </Hint>
          <GetUsdc state={state} />
          <Primary
            type="button"
            plain={wayToUsdc(state) !== null}
            busy={doing === 'looking' ? say('pay.looking') : null}
            onClick={acts?.look}
          >
            {say('pay.checkAgain')}
          </Primary>
        </>
      ) : (
        <>
          <Primary
            busy={doing === 'signing' ? say('pay.confirmInWallet') : doing === 'sending' ? say('pay.sending') : null}
          >
            {say('pay.pay', { price: priceOf(page) })}
          </Primary>
          <p class="fine">{say('pay.signOnce')}</p>
        </>
      )}
    </div>
  )
}

/** The field has no `name`, because names belong to the seller's fields. */
function Outcomes() {
  return (
    <div class="field">
      <label for={OUTCOME}>{say('pay.outcome')}</label>
      <div class="select">
        <select id={OUTCOME}>
          {OUTCOMES.map(([outcome, label]) => (
            <option key={outcome} value={outcome}>
              {say(label)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

const OUTCOME = 'simulated-outcome'
const OUTCOMES: readonly (readonly [SimulatedOutcome, PlainKey])[] = [
  ['paid', 'pay.outcomePaid'],
  ['declined', 'pay.outcomeDeclined'],
  ['insufficient_funds', 'pay.outcomeTooLittle'],
  ['slow', 'pay.outcomeSlow'],
  ['delivery_failed', 'pay.outcomeUndelivered'],
]

export function outcomeIn(form: HTMLElement): SimulatedOutcome {
  const chosen = form.querySelector<HTMLSelectElement>(`#${OUTCOME}`)?.value
  return OUTCOMES.find(([outcome]) => outcome === chosen)?.[0] ?? 'paid'
}

/** A wallet, or a transfer from anywhere, whose script only those load who want it. */
function Ways({ state, acts }: { state: State; acts: WalletActs | null }) {
  const [way, setWay] = useState<typeof Transfers | null>(null)
  const load = (): void => void import('./Transfer.tsx').then(setWay, () => location.reload())
  const transfer = state.page.checkout.transfers === true && state.order === null ? acts?.transfer : undefined
  if (transfer !== undefined && way !== null) {
    return <way.Transfer state={state} acts={transfer} leave={() => setWay(null)} />
  }
  return (
    <>
      <Wallets state={state} acts={acts} />
      {transfer !== undefined && (
        <button type="button" class="link" onClick={load}>
          {say('pay.byTransfer')}
        </button>
      )}
    </>
  )
}

function Wallets({ state, acts }: { state: State; acts: WalletActs | null }) {
  const { wallets, doing } = state
  const [help, setHelp] = useState<typeof Help | null>(null)
  const lacks = wallets?.every((wallet) => wallet.note !== undefined) === true
  useEffect(() => {
    // Most people have a wallet, and never load this. The script of an earlier release may be gone.
    if (lacks) void import('./NoWallet.tsx').then(setHelp, () => location.reload())
  }, [lacks])
  if (wallets === null || (lacks && help === null)) {
    return (
      <div class="wallet wallet-awaited">
        <Spinner /> {say('pay.lookingForWallet')}
      </div>
    )
  }
  return (
    <>
      {wallets.length > 0 && (
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
      )}
      {lacks && help !== null && <help.NoWallet state={state} handOver={acts?.handOver} />}
    </>
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
        <span class="funds">{account.balance !== null && microUsdc(account.balance)}</span>
        <button type="button" class="link" aria-label={say('pay.changeWallet')} onClick={change}>
          {say('pay.change')}
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
