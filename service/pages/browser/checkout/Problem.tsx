import { useEffect, useRef, useState } from 'preact/hooks'
import type { PaymentState } from '../../model.ts'
import { date, say, sayCode } from '../words/say.ts'
import { ask, knownIn, type Known } from './report.ts'
import type { ReportForm } from './ReportForm.tsx'

/** A quiet way to say that what was paid for did not come; afterwards, what became of the report. */
export function Problem({ payment }: { payment: PaymentState['payment'] }) {
  const { token, receiptUrl } = payment
  const [known, setKnown] = useState<Known | null>(null)
  const [form, setForm] = useState<{ Form: typeof ReportForm } | null>(null)
  const text = useRef<HTMLParagraphElement>(null)
  // Only the path, since the page may be open under another host than its public one.
  const at = token === null || receiptUrl === null ? null : `${new URL(receiptUrl).pathname}/dispute`
  useEffect(() => {
    if (at === null || token === null) return
    void ask(at, token).then((answer) => setKnown(knownIn(answer?.body)))
  }, [at, token, payment.refunded])
  if (at === null || token === null) return null
  const reported = (now: Known): void => {
    setForm(null)
    setKnown(now)
    // The form that had the focus is gone.
    setTimeout(() => text.current?.focus())
  }
  // Few report anything: the form is loaded for those who do. The script of an earlier release may be gone.
  const open = (): void =>
    void import('./ReportForm.tsx').then(
      ({ ReportForm }) => setForm({ Form: ReportForm }),
      () => location.reload(),
    )
  // Its height is there before the answer, so that nothing moves.
  return (
    <div class="problem">
      {known?.dispute != null ? (
        <p ref={text} tabIndex={-1} class="fine" role="status">
          {sentenceOf(known.dispute)}
          {known.dispute.answer !== null && ` ${say('report.sellerWrites', { answer: known.dispute.answer })}`}
        </p>
      ) : form !== null ? (
        <form.Form
          send={(body) => ask(at, token, body)}
          reported={reported}
          cancel={() => setForm(null)}
          ifUnanswered={known?.ifUnanswered ?? null}
        />
      ) : known !== null && known.reportUntil !== null ? (
        <p class="fine">
          <button type="button" class="link" onClick={open}>
            {say('report.report')}
          </button>
        </p>
      ) : null}
    </div>
  )
}

function sentenceOf({ state, answerBy }: { state: string; answerBy: string }): string {
  if (state === 'open') return say('report.open', { date: date(new Date(answerBy)) })
  return sayCode('report', state) ?? say('report.closed')
}
