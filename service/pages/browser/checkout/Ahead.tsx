import type { CheckoutPage, PassState } from '../../model.ts'
import { date, say, sayWith, usdc } from '../words/say.ts'
import { outsideOf } from './Result.tsx'
import type { KeptPass, State } from './state.ts'

/** The link to a pass ends with it, so that no log of a server contains the token. */
export const PASS_HASH = '#pass='

type Plan = NonNullable<CheckoutPage['checkout']['plans']>[number]

/** What can be paid for ahead, and what can be had without a payment. */
export function Ahead({ state, choose, use }: AheadProps) {
  const { page, ahead, account, doing, order } = state
  const { plans = [], trialRuns = 0, testMode } = page.checkout
  if (order !== null || (plans.length === 0 && trialRuns === 0)) return null
  const { pass } = ahead
  const hasRun = pass !== null && pass.runsLeft !== 0
  const trials = account === null ? 0 : (ahead.trialRunsLeft ?? 0)
  return (
    <>
      {plans.length > 0 && <Picker state={state} plans={plans} choose={choose} />}
      {/* The line is reserved, so that nothing moves when it is known what this customer has. */}
      <div class="ahead">
        {hasRun ? (
          <>
            <p>{leftOf(pass)}</p>
            <button
              type="button"
              class="button button-plain"
              aria-disabled={doing !== null}
              onClick={() => use?.('pass')}
            >
              {say('ahead.use')}
            </button>
          </>
        ) : trials > 0 ? (
          <button
            type="button"
            class="button button-plain"
            aria-disabled={doing !== null}
            onClick={() => use?.('trial')}
          >
            {say('ahead.tryFree', { count: trials })}
          </button>
        ) : (
          trialRuns > 0 && account === null && !testMode && <p class="fine">{say('ahead.tryHint')}</p>
        )}
      </div>
    </>
  )
}

interface AheadProps {
  state: State
  choose: ((plan: string | undefined) => void) | undefined
  use: ((how: 'pass' | 'trial') => void) | undefined
}

function Picker({ state, plans, choose }: { state: State; plans: readonly Plan[]; choose: AheadProps['choose'] }) {
  const { page, wish } = state
  const chosen = wish.choice.plan
  return (
    <fieldset class="plans">
      <legend>{say('ahead.whatToBuy')}</legend>
      <Option
        id="once"
        name={say('ahead.once')}
        text={usdc(page.checkout.price)}
        on={chosen === undefined}
        pick={() => choose?.(undefined)}
      />
      {plans.map((plan) => (
        <Option
          key={plan.id}
          id={plan.id}
          name={plan.name}
          text={say('ahead.plan', { price: usdc(plan.price), content: contentOf(plan) })}
          on={chosen === plan.id}
          pick={() => choose?.(plan.id)}
        />
      ))}
      <p class="fine">{say('ahead.note')}</p>
    </fieldset>
  )
}

// The radios have a name with a hyphen, which no field of a seller has.
export function Option({
  id,
  name,
  text,
  on,
  pick,
}: {
  id: string
  name: string
  text: string
  on: boolean
  pick: () => void
}) {
  return (
    <label class="plan">
      <input type="radio" name="plan-choice" value={id} checked={on} onChange={pick} />
      <span>
        <strong>{name}</strong>
        <span class="funds">{text}</span>
      </span>
    </label>
  )
}

function contentOf({ runs, days }: Plan & { days?: number }): string {
  const many = runs === null ? '' : say('ahead.runs', { count: runs })
  if (days === undefined) return many
  const time = say('ahead.days', { count: days })
  return runs === null ? time : say('ahead.daysWithRuns', { days: time, runs: many })
}

function leftOf({ name, runsLeft, until }: Pick<KeptPass, 'name' | 'runsLeft' | 'until'>): string {
  const runs = runsLeft === null ? null : say('ahead.runs', { count: runsLeft })
  if (until === null) return say('ahead.left', { runs: runs ?? '', name })
  const end = date(new Date(until))
  return runs === null ? say('ahead.until', { name, date: end }) : say('ahead.leftUntil', { runs, name, date: end })
}

/** After the payment: what was bought ahead, and how to use it elsewhere. */
export function PassCard({ pass, url, isFramed }: { pass: PassState; url: string; isFramed: boolean }) {
  return (
    <section class="receipt" aria-labelledby="pass">
      <h3 id="pass">{pass.plan.name}</h3>
      <p>{leftOf({ name: pass.plan.name, runsLeft: pass.runsLeft, until: pass.until })}</p>
      {pass.token !== null && (
        <p class="fine">
          {sayWith('ahead.keep', {
            link: (
              <a href={`${url}${PASS_HASH}${pass.token}`} {...outsideOf(isFramed)}>
                {say('ahead.link')}
              </a>
            ),
          })}
        </p>
      )}
    </section>
  )
}
