import type { CheckoutPage, PaymentState } from '../../model.ts'
import { dateTime, say } from '../words/say.ts'
import { Explored, Line } from './Receipt.tsx'

/** Where the money is that waits in the escrow, and how its payer takes it back without anyone's help. */
export function Escrow({ page, state: { payment } }: { page: CheckoutPage; state: PaymentState }) {
  if (payment.escrow === null || payment.escrow.state === 'none') return null
  const { contract, captureBy, state, authorizedTx, voidedTx } = payment.escrow
  const { explorer } = page.checkout
  return (
    <section class="receipt" aria-labelledby="waiting">
      <h3 id="waiting">{say('progress.money')}</h3>
      <dl class="facts">
        <Line name={say('progress.contract')}>
          <Explored href={`${explorer}/address/${contract}`} text={contract} />
        </Line>
        {authorizedTx !== null && (
          <Line name={say('progress.paidIn')}>
            <Explored href={`${explorer}/tx/${authorizedTx}`} text={authorizedTx} />
          </Line>
        )}
        {voidedTx === null && state !== 'voided' && (
          <Line name={say('progress.yoursAgain')}>
            <time dateTime={captureBy}>{dateTime(new Date(captureBy))}</time>
          </Line>
        )}
        {voidedTx !== null && (
          <Line name={say('progress.paidBack')}>
            <Explored href={`${explorer}/tx/${voidedTx}`} text={voidedTx} />
          </Line>
        )}
      </dl>
      {voidedTx === null && state !== 'voided' && <p class="fine">{say('progress.reclaimHint')}</p>}
    </section>
  )
}
