import { useEffect, useRef, useState } from 'preact/hooks'
import type { CheckoutPage, PaymentState } from '../../model.ts'
import { AnswerPage } from '../answer/Answer.tsx'
import { inUsdc, shortly } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { Cross, Outward, Spinner, Tick, Warning } from './Icons.tsx'
import { Problem } from './Problem.tsx'
import { faultOf, headlineOf, isPaid, stageOf, type Acts, type Progress as Way, type Stage } from './state.ts'

/** A payment in progress, and its result. */
export function Progress({
  page,
  progress,
  acts,
  isOrder,
}: {
  page: CheckoutPage
  progress: Way
  acts: Acts | null
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
  const answer = progress.state?.delivery?.answer ?? null
  return (
    <div class="outcome">
      <span class={`seal ${sealOf(stage, isPaid(progress))}`}>
        {stage === 'failed' ? <Cross /> : UNSURE.has(stage) ? <Warning /> : isPaid(progress) ? <Tick /> : <Spinner />}
      </span>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p class="quiet">{text}</p>
      {isOrder && (isPaid(progress) || stage === 'failed') && (
        <p class="notice">
          <span>
            {stage === 'failed'
              ? 'Ask your assistant to call the tool again.'
              : 'You can go back to your assistant. It gets the answer by itself.'}
          </span>
        </p>
      )}
      {stage !== 'failed' && stage !== 'returning' && <Steps page={page} progress={progress} />}
      {stage === 'answered' && answer !== null && <AnswerPage text={answer} />}
      <Attempts delivery={progress.state?.delivery ?? null} />
      {payment?.escrow != null && !isPaid(progress) && <Waiting escrow={payment.escrow} page={page} />}
      {payment !== null && isPaid(progress) && <Receipt page={page} payment={payment} />}
      {stage === 'failed' && !isOrder && (
        <button type="button" class="button" onClick={acts?.again}>
          Try again
        </button>
      )}
      {payment?.redirectUrl != null && isPaid(progress) && (
        <Onward
          url={payment.redirectUrl}
          byItself={!isOrder && progress.live && ['started', 'retrying'].includes(stage)}
        />
      )}
      {payment !== null && isPaid(progress) && <Problem key={payment.id} payment={payment} />}
    </div>
  )
}

/** Paid, but the delivery failed or is unconfirmed. */
const UNSURE: ReadonlySet<Stage> = new Set(['held', 'broken', 'undelivered'])

function sealOf(stage: Stage, paid: boolean): string {
  if (stage === 'failed') return 'seal-bad'
  return paid && !UNSURE.has(stage) ? 'seal-good' : 'seal-wait'
}

type Mark = 'done' | 'now' | 'next'

function Steps({ page, progress }: { page: CheckoutPage; progress: Way }) {
  const stage = stageOf(progress)
  const paid = isPaid(progress)
  const capture = progress.state?.payment.capture
  const isLate = capture !== undefined && capture !== 'onPayment'
  const run: Mark = ['started', 'answered'].includes(stage) ? 'done' : paid ? 'now' : 'next'
  if (isLate) return <LateSteps stage={stage} paid={paid} escrow={progress.state?.payment.escrow?.state ?? null} />
  const runs = RUNS[stage] ?? (run === 'done' ? 'Workflow started' : 'Starting workflow')
  return (
    <ol class="steps">
      <Step mark="done">{page.checkout.testMode ? 'Form sent' : 'Authorization signed'}</Step>
      <Step mark={paid ? 'done' : 'now'}>
        {paid ? 'Paid' : page.checkout.testMode ? 'Simulating payment' : 'Confirming payment'}
      </Step>
      <Step mark={run}>{runs}</Step>
    </ol>
  )
}

/** Where the money is that waits in the escrow, and how its payer takes it back without anyone's help. */
function Waiting({ escrow, page }: { escrow: NonNullable<PaymentState['payment']['escrow']>; page: CheckoutPage }) {
  const { contract, captureBy, state, authorizedTx, voidedTx } = escrow
  if (state === 'none') return null
  const { explorer } = page.checkout
  const until = new Date(captureBy)
  return (
    <section class="receipt" aria-labelledby="waiting">
      <h3 id="waiting">Your money</h3>
      <dl class="facts">
        <Line name="Contract">
          <Explored href={`${explorer}/address/${contract}`} text={contract} />
        </Line>
        {authorizedTx !== null && (
          <Line name="Paid in">
            <Explored href={`${explorer}/tx/${authorizedTx}`} text={authorizedTx} />
          </Line>
        )}
        {voidedTx === null ? (
          <Line name="Yours again after">
            <time dateTime={captureBy}>
              {until.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
            </time>
          </Line>
        ) : (
          <Line name="Paid back">
            <Explored href={`${explorer}/tx/${voidedTx}`} text={voidedTx} />
          </Line>
        )}
      </dl>
      {voidedTx === null && (
        <p class="fine">
          If the seller was not paid by then, take it back with the call <code>reclaim</code> of the contract, from the
          wallet that paid. You need no one’s help for it.
        </p>
      )}
    </section>
  )
}

function Explored({ href, text }: { href: string; text: string }) {
  return (
    <a class="mono" href={href} target="_blank" rel="noreferrer noopener" title={text}>
      {shortly(text)} <Outward />
      <span class="unseen"> (opens the block explorer)</span>
    </a>
  )
}

/** Charged after the success: the work comes before the payment. */
function LateSteps({ stage, paid, escrow }: { stage: Stage; paid: boolean; escrow: string | null }) {
  const works = stage === 'ordered'
  if (escrow === 'authorizing') {
    return (
      <ol class="steps">
        <Step mark="now">Paying into the contract</Step>
        <Step mark="next">Preparing your order</Step>
        <Step mark="next">Payment to the seller</Step>
      </ol>
    )
  }
  return (
    <ol class="steps">
      <Step mark="done">{escrow === null ? 'Order sent' : 'Paid into the contract'}</Step>
      <Step mark={works ? 'now' : 'done'}>{works ? 'Preparing your order' : 'Order completed'}</Step>
      <Step mark={paid ? 'done' : works ? 'next' : 'now'}>{paid ? 'Paid' : 'Payment'}</Step>
    </ol>
  )
}

const RUNS: Partial<Record<Stage, string>> = {
  answered: 'Workflow finished',
  working: 'Workflow running',
  held: 'Workflow not confirmed',
  broken: 'Workflow failed',
  undelivered: 'Workflow not reached',
}

/** A seller who tests the checkout wants to see the result of each attempt, and when the next one comes. */
function Attempts({ delivery }: { delivery: PaymentState['delivery'] }) {
  const history = delivery?.history ?? []
  if (delivery == null || history.every((attempt) => faultOf(attempt) === null)) return null
  const { attempts, nextAttemptAt, status } = delivery
  const first = Math.max(attempts, history.length) - history.length + 1
  return (
    <section class="attempts" aria-labelledby="attempts">
      <h3 id="attempts">
        Delivery attempts<span class="badge">Test</span>
      </h3>
      <ol class="facts" start={first}>
        {history.map((attempt, place) => (
          <li key={attempt.at}>
            <span>
              Attempt {first + place}, <Clock at={attempt.at} />
            </span>
            <span>{faultOf(attempt) ?? `HTTP ${String(attempt.status)}: accepted.`}</span>
          </li>
        ))}
      </ol>
      <p class="fine">
        {nextAttemptAt !== null && status === 'pending' ? (
          <>
            Next attempt: <Clock at={nextAttemptAt} />.
          </>
        ) : status === 'delivered' ? (
          'Delivered.'
        ) : (
          'There are no more automatic attempts. The seller can redeliver it.'
        )}
      </p>
    </section>
  )
}

function Clock({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {date.toLocaleTimeString(undefined, { timeStyle: 'medium' })}
    </time>
  )
}

function Step({ mark, children }: { mark: Mark; children: string }) {
  return (
    <li class={`step step-${mark}`} {...(mark === 'now' ? { 'aria-current': 'step' as const } : {})}>
      <span class="dot">{mark === 'done' && <Tick />}</span>
      {children}
      {mark === 'done' && <span class="unseen"> (done)</span>}
    </li>
  )
}

function Receipt({ page, payment }: { page: CheckoutPage; payment: PaymentState['payment'] }) {
  const { txHash, explorerUrl, testMode, signedReceipt, verifyUrl } = payment
  const at = new Date(payment.paidAt ?? payment.createdAt)
  return (
    <section class="receipt" aria-labelledby="receipt">
      <h3 id="receipt">Receipt</h3>
      <dl class="facts">
        <Line name="Amount">
          {inUsdc(payment.amount)} USDC{testMode && <span class="badge">Test</span>}
        </Line>
        {payment.refunded > 0 && <Line name="Refunded">{inUsdc(payment.refunded)} USDC</Line>}
        <Line name="Date">
          <time dateTime={at.toISOString()}>
            {at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
          </time>
        </Line>
        {!testMode && (
          <Line name="From">
            <span class="mono" title={payment.payer}>
              {shortly(payment.payer)}
            </span>
          </Line>
        )}
        <Line name="Network">{networkName(page.checkout.chainId)}</Line>
        <Line name="Payment number">
          <span class="mono whole">{payment.id}</span>
        </Line>
        {txHash !== null && (
          <Line name="Transaction">
            {explorerUrl === null ? (
              <span class="mono">{testMode ? 'Simulated' : shortly(txHash)}</span>
            ) : (
              <a class="mono" href={explorerUrl} target="_blank" rel="noreferrer noopener" title={txHash}>
                {shortly(txHash)} <Outward />
                <span class="unseen"> (opens the block explorer)</span>
              </a>
            )}
          </Line>
        )}
        {signedReceipt !== null && verifyUrl !== null && (
          <Line name="Signed receipt">
            <a href={verifyUrl} target="_blank" rel="noreferrer">
              Verify
            </a>
            {', '}
            <a href={`data:text/plain,${signedReceipt}`} download="receipt.jws">
              download
            </a>
          </Line>
        )}
      </dl>
    </section>
  )
}

function Line({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/**
 * Returns to the seller automatically after a moment, unless the customer wants to stay. A reopened page does not
 * redirect, so that a customer who comes back can read it.
 */
function Onward({ url, byItself }: { url: string; byItself: boolean }) {
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
      <a class="button" href={url} rel="noreferrer">
        Continue to {host}
      </a>
      {left !== null && (
        <p class="fine">
          Continuing automatically in {left} s.{' '}
          <button type="button" class="link" onClick={() => setLeft(null)}>
            Stay here
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
