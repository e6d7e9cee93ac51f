import { useState } from 'preact/hooks'
import type { CheckoutPage, PaymentState, RequestState } from '../../model.ts'
import { dateTime, say, usdc } from '../words/say.ts'
import { onThisHost } from './Result.tsx'

/** Further amounts that the seller asks for within this order. Each is paid on a page of its own. */
export function Requests({ page, state }: { page: CheckoutPage; state: PaymentState }) {
  const { payment, requests = [] } = state
  const at = `${onThisHost(page.checkout.url)}/payments/${payment.id}/requests`
  return (
    <section class="receipt" aria-labelledby="requests">
      <h3 id="requests">{say('request.title')}</h3>
      {requests.map((request) => (
        <Request key={request.id} request={request} at={at} token={payment.token} />
      ))}
    </section>
  )
}

function Request({ request, at, token }: { request: RequestState; at: string; token: string | null }) {
  const { id, amount, note, url, expiresAt } = request
  const [status, setStatus] = useState<RequestState['status'] | null>(null)
  const [hasFailed, setFailed] = useState(false)
  // Refused here, before the page has heard of it.
  const shown = request.status === 'open' && status !== null ? status : request.status

  async function refuse(): Promise<void> {
    setFailed(false)
    const answer = await fetch(`${at}/${id}/refuse`, {
      method: 'POST',
      headers: { accept: 'application/json', 'x-payment-token': token ?? '' },
    }).catch(() => null)
    if (answer?.ok === true) setStatus('refused')
    else setFailed(true)
  }

  return (
    <>
      <p>
        {note} · <b>{usdc(amount)}</b>
      </p>
      {shown !== 'open' ? (
        <p class="notice" role="status">
          <span>{say(ENDS[shown])}</span>
        </p>
      ) : (
        <>
          <a class="button" href={onThisHost(url)} target="_blank" rel="noreferrer noopener">
            {say('pay.pay', { price: usdc(amount) })}
          </a>
          {token !== null && (
            <button type="button" class="link" onClick={() => void refuse()}>
              {say('request.refuse')}
            </button>
          )}
          <p class="fine">{say('request.until', { time: dateTime(new Date(expiresAt)) })}</p>
          {hasFailed && (
            <p class="notice notice-bad" role="alert">
              <span>{say('request.trouble')}</span>
            </p>
          )}
        </>
      )}
    </>
  )
}

const ENDS = {
  paying: 'request.paying',
  paid: 'request.paid',
  refused: 'request.refused',
  expired: 'request.expired',
} as const satisfies Record<Exclude<RequestState['status'], 'open'>, string>
