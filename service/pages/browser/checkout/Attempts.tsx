import type { PaymentState } from '../../model.ts'
import { language, say, sayWith, time } from '../words/say.ts'
import { faultOf } from './faults.ts'

/** A seller who tests the checkout wants to see the result of each attempt, and when the next one comes. */
export function Attempts({ state: { delivery } }: { state: PaymentState }) {
  const history = delivery?.history ?? []
  if (delivery == null || history.every((attempt) => faultOf(attempt) === null)) return null
  const { attempts, nextAttemptAt, status } = delivery
  const first = Math.max(attempts, history.length) - history.length + 1
  return (
    <section class="attempts" aria-labelledby="attempts">
      <h3 id="attempts">
        {say('progress.attempts')}
        <span class="badge">{say('common.test')}</span>
      </h3>
      <ol class="facts" start={first}>
        {history.map((attempt, place) => (
          <li key={attempt.at}>
            <span>
              {sayWith('progress.attempt', { number: String(first + place), time: <Clock at={attempt.at} /> })}
            </span>
            <span>{faultOf(attempt) ?? say('progress.accepted', { status: String(attempt.status) })}</span>
          </li>
        ))}
      </ol>
      <p class="fine">
        {nextAttemptAt !== null && status === 'pending'
          ? sayWith('progress.nextAttempt', { time: <Clock at={nextAttemptAt} /> })
          : say(status === 'delivered' ? 'progress.delivered' : 'progress.noMoreAttempts')}
      </p>
    </section>
  )
}

function Clock({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString(language())}>
      {time(date)}
    </time>
  )
}
