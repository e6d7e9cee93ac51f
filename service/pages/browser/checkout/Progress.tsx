import type { FunctionComponent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CheckoutPage, PaymentState } from '../../model.ts'
import { AnswerPage } from '../answer/Answer.tsx'
import { say, type PlainKey } from '../words/say.ts'
import { Cross, Spinner, Tick, Warning } from './Icons.tsx'
import { PassCard } from './Ahead.tsx'
import { Documents } from './Invoice.tsx'
import { Problem } from './Problem.tsx'
import { Receipt, Refunds } from './Receipt.tsx'
import { Result } from './Result.tsx'
import { headlineOf, isOver, isPaid, stageOf, type Acts, type Progress as Way, type Stage } from './state.ts'

/** A payment in progress, and its result. */
export function Progress({
  page,
  progress,
  acts,
  isOrder,
  isFramed,
}: {
  page: CheckoutPage
  progress: Way
  acts: Acts | null
  /** Shown inside another site's page. */
  isFramed: boolean
  /** It was paid for an assistant's call. */
  isOrder: boolean
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // The button that had the focus is gone, so screen readers and keyboard users continue at the heading.
    heading.current?.focus()
  }, [])
  const stage = stageOf(progress)
  const { title, text } = headlineOf(progress, page)
  const payment = progress.state?.payment ?? null
  // Its refund is in no wallet.
  const collected = payment?.collect == null ? null : progress.state
  const answer = progress.state?.delivery?.answer ?? null
  return (
    <div class="outcome">
      <span class={`seal ${sealOf(stage, isPaid(progress))}`}>
        {stage === 'failed' ? (
          <Cross />
        ) : UNSURE.has(stage) ? (
          <Warning />
        ) : isPaid(progress) && stage !== 'refunding' ? (
          <Tick />
        ) : (
          <Spinner />
        )}
      </span>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {!(collected !== null && stage.startsWith('refund')) && <p class="quiet">{text}</p>}
      {stage === 'broken' && progress.state?.delivery?.failure != null && (
        <p class="notice">
          <span>{progress.state.delivery.failure}</span>
        </p>
      )}
      {isOrder && (isPaid(progress) || stage === 'failed') && (
        <p class="notice">
          <span>{say(stage === 'failed' ? 'progress.askAssistant' : 'progress.backToAssistant')}</span>
        </p>
      )}
      {payment !== null && <Refunds refunds={payment.refunds} />}
      {collected !== null && <Late load={loadCollect} page={page} state={collected} />}
      {progress.state?.requests?.[0] !== undefined && <Late load={loadRequests} page={page} state={progress.state} />}
      {!STEPLESS.has(stage) && <Steps page={page} progress={progress} />}
      <Work lines={progress.state?.delivery?.progress ?? []} />
      {stage === 'answered' && answer !== null && <AnswerPage text={answer} />}
      {progress.state?.result != null && (
        <Result result={progress.state.result} receiptUrl={progress.state.payment.receiptUrl} isFramed={isFramed} />
      )}
      {progress.state !== null && (progress.state.delivery?.history ?? []).length > 0 && (
        <Late load={loadAttempts} page={page} state={progress.state} />
      )}
      {progress.state !== null && payment?.escrow != null && !isPaid(progress) && (
        <Late load={loadEscrow} page={page} state={progress.state} />
      )}
      {payment?.pass != null && isPaid(progress) && (
        <PassCard pass={payment.pass} url={page.checkout.url} isFramed={isFramed} />
      )}
      {payment !== null && isPaid(progress) && <Receipt page={page} payment={payment} />}
      {stage === 'failed' && !isOrder && (
        <button type="button" class="button" onClick={acts?.again}>
          {say('common.tryAgain')}
        </button>
      )}
      {payment?.redirectUrl != null && isPaid(progress) && (
        <Onward
          url={payment.redirectUrl}
          isFramed={isFramed}
          byItself={!isOrder && !isFramed && progress.live && ['started', 'retrying'].includes(stage)}
        />
      )}
      {/* A frame has no address that a customer could open to start over. */}
      {isFramed && isPaid(progress) && (isOver(progress) || stage === 'retrying') && (
        <button type="button" class="button button-plain" onClick={acts?.again}>
          {say('progress.orderAgain')}
        </button>
      )}
      {payment !== null && isPaid(progress) && <Documents key={`${payment.id} documents`} payment={payment} />}
      {payment !== null && isPaid(progress) && <Problem key={payment.id} payment={payment} />}
    </div>
  )
}

/** Few sellers ask for more or use the escrow, few payments are tests, and few that were made by a transfer are refunded: what shows it is loaded then. */
function Late({ load, ...shown }: Shown & { load: () => Promise<FunctionComponent<Shown>> }) {
  const [Part, setPart] = useState<FunctionComponent<Shown> | null>(null)
  useEffect(() => {
    void load().then(
      (part) => setPart(() => part),
      // Without the script, of an earlier release for example, it is shown once the page is loaded again.
      () => undefined,
    )
  }, [])
  return Part === null ? null : <Part {...shown} />
}

interface Shown {
  page: CheckoutPage
  state: PaymentState
}

const loadAttempts = () => import('./Attempts.tsx').then(({ Attempts }) => Attempts)
const loadEscrow = () => import('./Escrow.tsx').then(({ Escrow }) => Escrow)
const loadRequests = () => import('./Requests.tsx').then(({ Requests: part }) => part)
const loadCollect = () => import('./Transfer.tsx').then(({ Collect }) => Collect)

/** Nothing is under way any more, and nothing was. */
const STEPLESS: ReadonlySet<Stage> = new Set(['failed', 'returning', 'refunding', 'refunded', 'ready'])

/** Paid, but the delivery failed or is unconfirmed. */
const UNSURE: ReadonlySet<Stage> = new Set(['held', 'broken', 'undelivered'])

function sealOf(stage: Stage, paid: boolean): string {
  if (stage === 'failed') return 'seal-bad'
  return paid && !UNSURE.has(stage) && stage !== 'refunding' ? 'seal-good' : 'seal-wait'
}

type Mark = 'done' | 'now' | 'next'

function Steps({ page, progress }: { page: CheckoutPage; progress: Way }) {
  const stage = stageOf(progress)
  const paid = isPaid(progress)
  const capture = progress.state?.payment.capture
  const isLate = capture !== undefined && capture !== 'onPayment'
  const run: Mark = ['started', 'answered'].includes(stage) ? 'done' : paid ? 'now' : 'next'
  if (isLate) return <LateSteps stage={stage} paid={paid} escrow={progress.state?.payment.escrow?.state ?? null} />
  const runs = RUNS[stage] ?? (run === 'done' ? 'progress.stepStarted' : 'progress.stepStarting')
  // A free run has no payment.
  const isFree = (progress.state?.payment.free ?? null) !== null
  return (
    <ol class="steps">
      <Step mark="done">{say(page.checkout.testMode || isFree ? 'progress.stepSent' : 'progress.stepSigned')}</Step>
      {!isFree && (
        <Step mark={paid ? 'done' : 'now'}>
          {say(paid ? 'progress.stepPaid' : page.checkout.testMode ? 'progress.simulating' : 'progress.stepConfirming')}
        </Step>
      )}
      <Step mark={run}>{say(runs)}</Step>
    </ol>
  )
}

/** Charged after the success: the work comes before the payment. */
function LateSteps({ stage, paid, escrow }: { stage: Stage; paid: boolean; escrow: string | null }) {
  const works = stage === 'ordered'
  if (escrow === 'authorizing') {
    return (
      <ol class="steps">
        <Step mark="now">{say('progress.stepPayingIn')}</Step>
        <Step mark="next">{say('progress.stepPreparing')}</Step>
        <Step mark="next">{say('progress.stepToSeller')}</Step>
      </ol>
    )
  }
  return (
    <ol class="steps">
      <Step mark="done">{say(escrow === null ? 'progress.stepOrdered' : 'progress.stepPaidIn')}</Step>
      <Step mark={works ? 'now' : 'done'}>{say(works ? 'progress.stepPreparing' : 'progress.stepCompleted')}</Step>
      <Step mark={paid ? 'done' : works ? 'next' : 'now'}>
        {say(paid ? 'progress.stepPaid' : 'progress.stepPayment')}
      </Step>
    </ol>
  )
}

const RUNS: Partial<Record<Stage, PlainKey>> = {
  answered: 'progress.stepCompleted',
  working: 'progress.stepRunning',
  held: 'progress.stepHeld',
  broken: 'progress.stepBroken',
  undelivered: 'progress.stepNotReached',
}

/** What the workflow writes while it works, the newest first. */
function Work({ lines }: { lines: NonNullable<PaymentState['delivery']>['progress'] }) {
  if (lines.length === 0) return null
  const newest = [...lines].reverse()
  const percent = newest.find((line) => line.percent !== null)?.percent ?? null
  return (
    <section class="work" aria-labelledby="work">
      <h3 id="work">{say('progress.work')}</h3>
      {percent !== null && <progress max={100} value={percent} aria-labelledby="work" />}
      <div role="log" tabIndex={0} aria-labelledby="work">
        {newest.map(({ text, at }, place) => (
          <p key={`${at} ${text} ${String(lines.length - place)}`}>{text}</p>
        ))}
      </div>
    </section>
  )
}

function Step({ mark, children }: { mark: Mark; children: string }) {
  return (
    <li class={`step step-${mark}`} {...(mark === 'now' ? { 'aria-current': 'step' as const } : {})}>
      <span class="dot">{mark === 'done' && <Tick />}</span>
      {children}
      {mark === 'done' && <span class="unseen"> {say('progress.done')}</span>}
    </li>
  )
}

/**
 * Returns to the seller automatically after a moment, unless the customer wants to stay. A reopened page does not
 * redirect, so that a customer who comes back can read it.
 */
function Onward({ url, isFramed, byItself }: { url: string; isFramed: boolean; byItself: boolean }) {
  const [left, setLeft] = useState<number | null>(null)
  useEffect(() => {
    if (byItself) setLeft(SECONDS)
  }, [byItself])
  useEffect(() => {
    if (left === null) return
    if (left === 0) {
      location.assign(url)
      return
    }
    const timer = setTimeout(() => setLeft(left - 1), 1_000)
    return () => clearTimeout(timer)
  }, [left])
  const host = hostOf(url)
  if (host === null) return null
  return (
    <div class="onward">
      <a class="button" href={url} rel="noreferrer" target={isFramed ? '_top' : undefined}>
        {say('progress.continueTo', { host })}
      </a>
      {left !== null && (
        <p class="fine">
          {say('progress.continuing', { count: left })}{' '}
          <button type="button" class="link" onClick={() => setLeft(null)}>
            {say('progress.stay')}
          </button>
        </p>
      )}
    </div>
  )
}

const SECONDS = 6

function hostOf(url: string): string | null {
  try {
    const { protocol, host } = new URL(url)
    return protocol === 'https:' || protocol === 'http:' ? host : null
  } catch {
    return null
  }
}
