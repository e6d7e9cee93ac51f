import type { CheckoutPage, PaymentState, RefundState } from '../../model.ts'
import { shortly } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { dateTime, say, usdc } from '../words/say.ts'
import { Outward } from './Icons.tsx'

/** What was paid. */
export function Receipt({ page, payment }: { page: CheckoutPage; payment: PaymentState['payment'] }) {
  const { txHash, explorerUrl, testMode, signedReceipt, verifyUrl, free } = payment
  const at = new Date(payment.paidAt ?? payment.createdAt)
  return (
    <section class="receipt" aria-labelledby="receipt">
      <h3 id="receipt">{say('progress.receipt')}</h3>
      <dl class="facts">
        <Line name={say('progress.amount')}>
          {free === null ? usdc(payment.amount) : say(FREE[free])}
          {testMode && <span class="badge">{say('common.test')}</span>}
        </Line>
        {payment.lines.quantity > 1 && (
          <Line name={say('price.quantity')}>
            {payment.lines.quantity} × {usdc(payment.lines.unit)}
          </Line>
        )}
        {payment.lines.coupon !== null && (
          <Line name={say('price.discount')}>
            {say('price.discountWith', { amount: usdc(payment.lines.discount), code: payment.lines.coupon })}
          </Line>
        )}
        {payment.refunded > 0 && <Line name={say('progress.refunded')}>{usdc(payment.refunded)}</Line>}
        {free !== null && payment.pass?.until != null && (
          <Line name={say('progress.until')}>
            <time dateTime={payment.pass.until}>{dateTime(new Date(payment.pass.until))}</time>
          </Line>
        )}
        <Line name={say('progress.date')}>
          <time dateTime={at.toISOString()}>{dateTime(at)}</time>
        </Line>
        {!testMode && (
          <Line name={say('progress.from')}>
            <span class="mono" title={payment.payer}>
              {shortly(payment.payer)}
            </span>
          </Line>
        )}
        <Line name={say('terms.network')}>{networkName(page.checkout.chainId)}</Line>
        <Line name={say('progress.paymentNumber')}>
          <span class="mono whole">{payment.id}</span>
        </Line>
        {/* A free run has a mark of its own instead of a transaction, and what an account paid has none. */}
        {txHash !== null && free === null && (explorerUrl !== null || testMode) && (
          <Line name={say('progress.transaction')}>
            {explorerUrl === null ? (
              <span class="mono">{say('progress.simulated')}</span>
            ) : (
              <a class="mono" href={explorerUrl} target="_blank" rel="noreferrer noopener" title={txHash}>
                {shortly(txHash)} <Outward />
                <span class="unseen"> {say('common.opensExplorer')}</span>
              </a>
            )}
          </Line>
        )}
        {signedReceipt !== null && verifyUrl !== null && (
          <Line name={say('progress.signedReceipt')}>
            <a href={verifyUrl} target="_blank" rel="noreferrer">
              {say('progress.verify')}
            </a>
            {', '}
            <a href={`data:text/plain,${signedReceipt}`} download="receipt.jws">
              {say('common.download')}
            </a>
          </Line>
        )}
      </dl>
    </section>
  )
}

/** What took the place of the money. */
const FREE = {
  trial: 'progress.freeTrial',
  pass: 'progress.freePass',
  coupon: 'progress.freeCoupon',
} as const satisfies Record<NonNullable<PaymentState['payment']['free']>, string>

export function Line({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What went back, or did not: the same below a payment and on a receipt. */
export function Refunds({ refunds }: { refunds: readonly RefundState[] }) {
  if (refunds.length === 0) return null
  return (
    <ul class="refunds" aria-label={say('refund.title')}>
      {refunds.map(({ id, state, amount, txHash, explorerUrl }) => (
        <li key={id} class={state === 'failed' ? 'notice notice-bad' : 'notice'}>
          <span>
            {say(REFUNDS[state], { amount: usdc(amount) })}{' '}
            {explorerUrl !== null && txHash !== null && <Explored href={explorerUrl} text={txHash} />}
          </span>
        </li>
      ))}
    </ul>
  )
}

const REFUNDS = {
  requested: 'refund.underWay',
  funded: 'refund.underWay',
  sent: 'refund.underWay',
  confirmed: 'refund.confirmed',
  failed: 'refund.failed',
} as const satisfies Record<RefundState['state'], string>

/** An address or a transaction, with the explorer's page of it. */
export function Explored({ href, text }: { href: string; text: string }) {
  return (
    <a class="mono" href={href} target="_blank" rel="noreferrer noopener" title={text}>
      {shortly(text)} <Outward />
      <span class="unseen"> {say('common.opensExplorer')}</span>
    </a>
  )
}
