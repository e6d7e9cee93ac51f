import { useEffect, useRef, useState } from 'preact/hooks'
import type { CheckoutPage, PaymentState } from '../../model.ts'
import { inUsdc, short } from '../pay/amounts.ts'
import { networkName } from '../pay/networks.ts'
import type { Acts } from './acts.ts'
import { Cross, Outward, Spinner, Tick } from './Icons.tsx'
import { headlineOf, isPaid, stageOf, type Progress as Way } from './state.ts'

/** A payment on its way, and what it came to. */
export function Progress({ page, progress, acts }: { page: CheckoutPage; progress: Way; acts: Acts | null }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // The button that had the focus is gone: whoever listens or types goes on from here.
    heading.current?.focus()
  }, [])
  const stage = stageOf(progress)
  const { title, text } = headlineOf(progress, page)
  const payment = progress.state?.payment ?? null
  const answer = progress.state?.delivery?.answer ?? null
  return (
    <div class="outcome">
      <span class={`seal ${stage === 'failed' ? 'seal-bad' : isPaid(progress) ? 'seal-good' : 'seal-wait'}`}>
        {stage === 'failed' ? <Cross /> : isPaid(progress) ? <Tick /> : <Spinner />}
      </span>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p class="quiet">{text}</p>
      {stage !== 'failed' && <Steps page={page} progress={progress} />}
      {stage === 'answered' && answer !== null && (
        <section class="answer" aria-labelledby="answer">
          <h3 id="answer">Answer</h3>
          {/* Whatever the workflow said is shown as text: never as a page of ours. */}
          <pre tabIndex={0}>{readable(answer)}</pre>
        </section>
      )}
      {payment !== null && isPaid(progress) && <Receipt page={page} payment={payment} />}
      {stage === 'failed' && (
        <button type="button" class="button" onClick={acts?.again}>
          Try again
        </button>
      )}
      {payment?.redirectUrl != null && isPaid(progress) && (
        <Onward url={payment.redirectUrl} byItself={progress.live && ['started', 'held', 'retrying'].includes(stage)} />
      )}
    </div>
  )
}

type Mark = 'done' | 'now' | 'next'

function Steps({ page, progress }: { page: CheckoutPage; progress: Way }) {
  const stage = stageOf(progress)
  const paid = isPaid(progress)
  const run: Mark = ['started', 'answered'].includes(stage) ? 'done' : paid ? 'now' : 'next'
  return (
    <ol class="steps">
      <Step mark="done">{page.checkout.testMode ? 'Form sent' : 'Authorization signed'}</Step>
      <Step mark={paid ? 'done' : 'now'}>
        {paid ? 'Paid' : page.checkout.testMode ? 'Simulating payment' : 'Confirming payment'}
      </Step>
      <Step mark={run}>
        {stage === 'answered'
          ? 'Workflow finished'
          : run === 'done'
            ? 'Workflow started'
            : stage === 'held'
              ? 'Workflow not confirmed'
              : 'Starting workflow'}
      </Step>
    </ol>
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
  const { txHash, explorerUrl, testMode } = payment
  const at = new Date(payment.paidAt ?? payment.createdAt)
  return (
    <section class="receipt" aria-labelledby="receipt">
      <h3 id="receipt">Receipt</h3>
      <dl class="facts">
        <Line name="Amount">
          {inUsdc(payment.amount)} USDC{testMode && <span class="badge">Test</span>}
        </Line>
        <Line name="Date">
          <time dateTime={at.toISOString()}>
            {at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
          </time>
        </Line>
        {!testMode && (
          <Line name="From">
            <span class="mono" title={payment.payer}>
              {short(payment.payer)}
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
              <span class="mono">{testMode ? 'Simulated' : short(txHash)}</span>
            ) : (
              <a class="mono" href={explorerUrl} target="_blank" rel="noreferrer noopener" title={txHash}>
                {short(txHash)} <Outward />
                <span class="unseen"> (opens the block explorer)</span>
              </a>
            )}
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
 * Back to the seller: by itself after a moment, unless the customer wants to stay. A page that is merely looked at
 * again stays, or nobody who came back could ever read it.
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
    const timer = setTimeout(() => {
      setLeft(left - 1)
    }, 1_000)
    return () => {
      clearTimeout(timer)
    }
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
          Continuing by itself in {left} s.{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              setLeft(null)
            }}
          >
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

/** JSON with its lines, anything else as it came. */
function readable(answer: string): string {
  try {
    const value: unknown = JSON.parse(answer)
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  } catch {
    return answer
  }
}
