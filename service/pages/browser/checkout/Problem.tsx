import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { PaymentState } from '../../model.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { Warning } from './Icons.tsx'

/** A quiet way to say that what was paid for did not come; afterwards, what became of the report. */
export function Problem({ payment }: { payment: PaymentState['payment'] }) {
  const { token, receiptUrl } = payment
  const [known, setKnown] = useState<Known | null>(null)
  const [open, setOpen] = useState(false)
  const text = useRef<HTMLParagraphElement>(null)
  // Only the path, since the page may be open under another host than its public one.
  const at = token === null || receiptUrl === null ? null : `${new URL(receiptUrl).pathname}/dispute`
  useEffect(() => {
    if (at === null || token === null) return
    void ask(at, token).then((answer) => setKnown(knownIn(answer?.body)))
  }, [at, token, payment.refunded])
  if (at === null || token === null) return null
  const reported = (now: Known): void => {
    setOpen(false)
    setKnown(now)
    // The form that had the focus is gone.
    setTimeout(() => text.current?.focus())
  }
  // Its height is there before the answer, so that nothing moves.
  return (
    <div class="problem">
      {known?.dispute != null ? (
        <p ref={text} tabIndex={-1} class="fine" role="status">
          {sentenceOf(known.dispute)}
          {known.dispute.answer !== null && ` The seller writes: “${known.dispute.answer}”`}
        </p>
      ) : open ? (
        <ReportForm send={(body) => ask(at, token, body)} reported={reported} cancel={() => setOpen(false)} />
      ) : known !== null && known.reportUntil !== null ? (
        <p class="fine">
          <button type="button" class="link" onClick={() => setOpen(true)}>
            Report a problem
          </button>
        </p>
      ) : null}
    </div>
  )
}

function ReportForm({ send, reported, cancel }: FormProps) {
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
    setFault(typeof error === 'string' ? error : 'No answer came. Try again: it is reported only once.')
  }
  return (
    <form class="report" onSubmit={(event) => void submit(event)} aria-label="Report a problem">
      <div class="fields">
        <div class="field">
          <label for={`${id}-reason`}>What is wrong?</label>
          <div class="select">
            <select ref={first} id={`${id}-reason`} name="reason">
              {REASONS.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        </div>
        <div class="field">
          <label for={`${id}-text`}>
            What happened?<span class="optional">Optional</span>
          </label>
          <p class="hint" id={`${id}-hint`}>
            The seller reads this, and can refund you.
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
        Report problem
      </button>
      <button type="button" class="button button-plain" onClick={cancel}>
        Cancel
      </button>
    </form>
  )
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

interface FormProps {
  send: (body: object) => Promise<ReportResponse | null>
  reported: (known: Known) => void
  cancel: () => void
}

const REASONS = [
  ['service_not_delivered', 'I did not get what I paid for'],
  ['service_defective', 'What I got does not work'],
  ['duplicate_payment', 'I paid twice'],
  ['overcharge', 'I paid too much'],
  ['customer_request', 'I changed my mind'],
  ['other', 'Something else'],
] as const
const TEXT_MAX = 1_000

interface Known {
  dispute: { state: string; answer: string | null; answerBy: string } | null
  reportUntil: string | null
}

interface ReportResponse {
  status: number
  body: Record<string, unknown>
}

async function ask(at: string, token: string, body?: object): Promise<ReportResponse | null> {
  const headers = { accept: 'application/json', 'x-payment-token': token }
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  try {
    const response = await fetch(at, { ...sent, cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const answer: unknown = await response.json()
    return { status: response.status, body: isRecord(answer) ? answer : {} }
  } catch {
    return null
  }
}

const TIMEOUT_MS = 20_000

function knownIn(body: Record<string, unknown> | undefined): Known | null {
  const dispute = body?.['dispute']
  if (dispute === undefined) return null
  const until = body?.['reportUntil']
  const reportUntil = typeof until === 'string' ? until : null
  if (!isRecord(dispute)) return { dispute: null, reportUntil }
  const { state, answer, answerBy } = dispute
  return {
    dispute: {
      state: String(state),
      answer: typeof answer === 'string' ? answer : null,
      answerBy: String(answerBy),
    },
    reportUntil,
  }
}

function sentenceOf({ state, answerBy }: { state: string; answerBy: string }): string {
  switch (state) {
    case 'open': {
      const until = new Date(answerBy).toLocaleDateString(undefined, { dateStyle: 'medium' })
      return `You reported a problem. The seller can answer until ${until}.`
    }
    case 'refunding':
      return 'You reported a problem. A refund is on its way.'
    case 'refunded':
      return 'You reported a problem, and you were refunded.'
    case 'declined':
      return 'You reported a problem. The seller declined a refund.'
    default:
      return 'You reported a problem. It was closed without an answer.'
  }
}
