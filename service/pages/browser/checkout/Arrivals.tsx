import { useState } from 'preact/hooks'
import type { PaymentAddressView } from '../../../payment-addresses/service/addresses.ts'
import { dateTime, figure, say, sayWith, usdc } from '../words/say.ts'
import { Hint, Primary } from './Actions.tsx'
import { Copied } from './Copied.tsx'
import { Outward, Spinner } from './Icons.tsx'

/** Where an order by transfer is paid to. */
export function WhereTo({ shown, network }: { shown: PaymentAddressView; network: string }) {
  const { address, missing, qr, link } = shown
  return (
    <>
      <p>
        {sayWith('transfer.send', { amount: <strong>{usdc(missing)}</strong>, network: <strong>{network}</strong> })}
      </p>
      {qr !== null && (
        <img class="code" src={`data:image/svg+xml,${encodeURIComponent(qr)}`} alt={say('transfer.code')} />
      )}
      <Copied label={say('transfer.address')} text={address} />
      <Copied
        label={say('transfer.amount')}
        text={figure(missing).replaceAll(/[^0-9.,]/g, '')}
        copied={String(missing)}
      />
      {link !== null && (
        <a class="button button-plain" href={link}>
          {say('transfer.inWallet')}
        </a>
      )}
      <Hint>{say('transfer.only', { network })}</Hint>
    </>
  )
}

export function Standing({ shown }: { shown: PaymentAddressView }) {
  const { status, received, amount, reason, expiresAt } = shown
  const until = dateTime(new Date(expiresAt))
  return (
    <div role="status">
      {status === 'waiting' ? (
        <p class="quiet">
          <Spinner /> {say('transfer.waiting', { time: until })}
        </p>
      ) : status === 'partly_paid' ? (
        <Hint>{say('transfer.partly', { received: usdc(received), amount: usdc(amount), time: until })}</Hint>
      ) : status === 'paying' ? (
        <p class="quiet">
          <Spinner /> {say(reason === null ? 'transfer.paying' : 'transfer.payingSlowly')}
        </p>
      ) : status === 'paid' ? (
        <p>
          <strong>{say('transfer.paid')}</strong>
        </p>
      ) : (
        <Hint tone="bad">{say(status === 'expired' ? 'transfer.expired' : 'transfer.failed')}</Hint>
      )}
    </div>
  )
}

/** What is left is the buyer's. Where it came from is no address to return to: an exchange sends for many. */
export function GiveBack({
  shown,
  busy,
  giveBack,
}: {
  shown: PaymentAddressView
  busy: boolean
  giveBack: (to: string) => void
}) {
  const { left, status, returnMinimum, returns } = shown
  const [to, setTo] = useState('')
  const [isAsked, setAsked] = useState(status !== 'partly_paid')
  if (returns.some((one) => one.status === 'returning')) return null
  if (left < returnMinimum)
    return <p class="fine">{say('transfer.dust', { left: usdc(left), minimum: usdc(returnMinimum) })}</p>
  if (!isAsked && status === 'partly_paid') {
    return (
      <button type="button" class="link" onClick={() => setAsked(true)}>
        {say('transfer.wantBack')}
      </button>
    )
  }
  return (
    <div class="field give-back">
      <label for="return-to">{say('transfer.returnTo')}</label>
      <p class="hint" id="return-to-hint">
        {say(status === 'partly_paid' ? 'transfer.returnEnds' : 'transfer.returnHint')}
      </p>
      <input
        id="return-to"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="0x…"
        aria-describedby="return-to-hint"
        value={to}
        onInput={(event) => setTo(event.currentTarget.value)}
      />
      <Primary type="button" plain busy={busy ? say('common.momentPlease') : null} onClick={() => giveBack(to.trim())}>
        {say('transfer.return', { left: usdc(left) })}
      </Primary>
    </div>
  )
}

export function Returns({ shown: { returns } }: { shown: PaymentAddressView }) {
  if (returns.length === 0) return null
  return (
    <ul class="fine returns">
      {returns.map(({ amount, status, explorerUrl, to }, place) => (
        <li key={place}>
          {say(RETURNS[status], { amount: usdc(amount), to: `${to.slice(0, 6)}…${to.slice(-4)}` })}{' '}
          {explorerUrl !== null && (
            <a href={explorerUrl} target="_blank" rel="noreferrer noopener">
              {say('transfer.transaction')} <Outward />
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

const RETURNS = {
  returning: 'transfer.returning',
  returned: 'transfer.returned',
  failed: 'transfer.returnFailed',
} as const
