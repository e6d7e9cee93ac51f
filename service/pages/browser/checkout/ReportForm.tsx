import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { say } from '../words/say.ts'
import { Warning } from './Icons.tsx'
import type { ApiResponse } from './api.ts'
import { knownIn, textOf, type Known } from './report.ts'

/** What was wrong, in the buyer's words. */
export function ReportForm({ send, reported, cancel, ifUnanswered }: FormProps) {
  const id = useId()
  const first = useRef<HTMLSelectElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [sending, setSending] = useState(false)
  useEffect(() => first.current?.focus(), [])
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const words = textOf(form, 'text').trim()
    setSending(true)
    const answer = await send({ reason: textOf(form, 'reason'), text: words === '' ? null : words })
    setSending(false)
    const known = answer !== null && answer.status < 300 ? knownIn(answer.body) : null
    if (known !== null) return reported(known)
    const error = answer?.body['error']
    setFault(typeof error === 'string' ? error : say('report.noAnswer'))
  }
  return (
    <form class="report" onSubmit={(event) => void submit(event)} aria-label={say('report.report')}>
      <div class="fields">
        <div class="field">
          <label for={`${id}-reason`}>{say('report.what')}</label>
          <div class="select">
            <select ref={first} id={`${id}-reason`} name="reason">
              {REASONS.map((value) => (
                <option key={value} value={value}>
                  {say(`report.${value}`)}
                </option>
              ))}
            </select>
          </div>
        </div>
        <div class="field">
          <label for={`${id}-text`}>
            {say('report.happened')}
            <span class="optional">{say('common.optional')}</span>
          </label>
          <p class="hint" id={`${id}-hint`}>
            {say('report.hint')}
            {ifUnanswered !== null &&
              ` ${say(ifUnanswered.outcome === 'refund' ? 'report.unansweredRefund' : 'report.unansweredClose', {
                days: say('ahead.days', { count: ifUnanswered.days }),
              })}`}
          </p>
          <textarea id={`${id}-text`} name="text" rows={4} maxLength={TEXT_MAX} aria-describedby={`${id}-hint`} />
        </div>
      </div>
      {fault !== null && (
        <p class="fault" role="alert">
          <Warning />
          {fault}
        </p>
      )}
      <button type="submit" class="button" disabled={sending}>
        {say('report.send')}
      </button>
      <button type="button" class="button button-plain" onClick={cancel}>
        {say('common.cancel')}
      </button>
    </form>
  )
}

interface FormProps {
  send: (body: object) => Promise<ApiResponse | null>
  reported: (known: Known) => void
  cancel: () => void
  ifUnanswered: Known['ifUnanswered']
}

const REASONS = [
  'service_not_delivered',
  'service_defective',
  'duplicate_payment',
  'overcharge',
  'customer_request',
  'other',
] as const
const TEXT_MAX = 1_000
