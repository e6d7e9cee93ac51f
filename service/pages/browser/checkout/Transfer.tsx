import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PaymentState } from '../../model.ts'
import type { PaymentAddressView } from '../../../payment-addresses/service/addresses.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { dateTime, figure, language, say, sayWith, usdc } from '../words/say.ts'
import { sentenceOf } from '../words/reasons.ts'
import { Hint, Primary } from './Actions.tsx'
import { rawOf } from './draft.ts'
import { Outward, Spinner } from './Icons.tsx'
import { onThisHost } from './Result.tsx'
import { isAllBack, withoutCharge, type State, type TransferActs } from './state.ts'

/** What orders by a transfer from anywhere, in the form. The order has an address of its own, and a link that leads back. */
export function Transfer({ state, acts, leave }: { state: State; acts: TransferActs; leave: () => void }) {
  const { checkout } = state.page
  const box = useRef<HTMLDivElement>(null)
  const [isOpening, setOpening] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const open = async (): Promise<void> => {
    const form = box.current?.closest('form')
    if (form == null || isOpening) return
    setFault(null)
    setOpening(true)
    const order = await acts.order(rawOf(checkout.fields, form))
    const spoken = order?.email === undefined ? {} : { language: language() }
    const answer = order === null ? null : await ask(addressesOf(checkout.url), { body: { ...order, ...spoken } })
    setOpening(false)
    if (order === null) return
    const seen = addressIn(answer)
    if (seen === null) return setFault(withoutCharge(faultOf(answer)))
    const proof = { id: seen.id, token: String(answer?.body['token']) }
    history.replaceState(history.state, '', `${location.pathname}${location.search}#${HASH}${proof.id}.${proof.token}`)
    acts.begun(() => <Order url={checkout.url} bought={acts.bought} proof={proof} seen={seen} />)
  }
  return (
    <div class="transfer" ref={box}>
      <p class="quiet">{say('transfer.about', { network: networkName(checkout.chainId) })}</p>
      {needsWallet(state) && <Hint>{say('transfer.walletOnly')}</Hint>}
      <Primary type="button" busy={isOpening ? say('common.momentPlease') : null} onClick={() => void open()}>
        {say('transfer.open')}
      </Primary>
      <button type="button" class="link" onClick={leave}>
        {say('transfer.leave')}
      </button>
      <Fault fault={fault} />
    </div>
  )
}

/** Shows the order of the page's own link, whatever is sold here now. */
export function showOrder({ checkout }: State['page'], { begun, bought }: TransferActs): void {
  const proof = proofIn(location.hash)
  begun(() => <Order url={checkout.url} bought={bought} proof={proof} />)
}

/** The same where the checkout has ended, and its page with it. */
export function showAlone(): void {
  const root = document.getElementById('root')
  const proof = proofIn(location.hash)
  if (root === null) return
  document.title = say('transfer.order')
  const bought: Bought = (id, token) => location.assign(orderLink(location.pathname, { id, token }))
  render(
    <main class="verify">
      <h1>{say('transfer.order')}</h1>
      <Order url={location.pathname} bought={bought} proof={proof} />
    </main>,
    root,
  )
}

/** What arrives at an order's address, and what is left there. */
function Order({ url, bought, proof, seen = null }: OrderProps) {
  const { shown, isReturning, fault, giveBack } = useTransfer(url, { bought, proof, seen })
  if (proof === null) return <Fault fault={say('transfer.incomplete')} />
  return (
    <div class="transfer">
      {shown !== null ? (
        <>
          {/* Where its address is: what is sold here now may be paid on another network. */}
          {shown.missing > 0 && <WhereTo shown={shown} network={networkName(shown.chainId)} />}
          <Standing shown={shown} />
          {shown.payment !== null && (
            // Beside this page, which has what is left.
            <a class="button" href={orderLink(url, shown.payment)} target="_blank" rel="noreferrer noopener">
              {say('transfer.openOrder')} <Outward />
              <span class="unseen"> {say('pay.opensTab')}</span>
            </a>
          )}
          {shown.left > 0 && <GiveBack shown={shown} busy={isReturning} giveBack={(to) => void giveBack(to)} />}
          <Returns shown={shown} />
        </>
      ) : (
        fault === null && (
          <p class="wallet wallet-awaited">
            <Spinner /> {say('common.momentPlease')}
          </p>
        )
      )}
      <Fault fault={fault} />
    </div>
  )
}

interface OrderProps {
  /** The checkout's. */
  url: string
  bought: Bought
  /** Null where the link is not complete. */
  proof: Proof | null
  /** How it stood when it was ordered. */
  seen?: PaymentAddressView | null
}

type Bought = TransferActs['bought']

/** On the page of the payment: what was refunded is at the order's address again, and its buyer says where it goes. */
export function Collect({ page, state }: { page: State['page']; state: PaymentState }) {
  const { collect } = state.payment
  const first = collect === null ? null : { id: collect.addressId, token: collect.token }
  const { shown, isReturning, fault, giveBack } = useTransfer(page.checkout.url, { proof: first })
  return (
    <div class="transfer">
      <p class="quiet">{say(isAllBack(state) ? 'transfer.refunded' : 'transfer.refunding')}</p>
      {shown !== null && shown.left > 0 && (
        <GiveBack shown={shown} busy={isReturning} giveBack={(to) => void giveBack(to)} />
      )}
      {shown !== null && <Returns shown={shown} />}
      <Fault fault={fault} />
    </div>
  )
}

function Fault({ fault }: { fault: string | null }) {
  if (fault === null) return null
  return (
    <div role="alert">
      <Hint tone="bad">{fault}</Hint>
    </div>
  )
}

/** What is chosen or offered here that belongs to a wallet. The server alone knows what a code counts for. */
function needsWallet({ page, wish }: State): boolean {
  return wish.choice.plan !== undefined || (page.checkout.trialRuns ?? 0) > 0
}

/** What arrives at the address of an order. `bought`: calls it once the order is paid and nothing is left. */
function useTransfer(
  url: string,
  { bought, proof, seen = null }: Omit<OrderProps, 'url' | 'bought'> & { bought?: Bought },
) {
  const at = addressesOf(url)
  const [shown, setShown] = useState<PaymentAddressView | null>(seen)
  const [isReturning, setReturning] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  useEffect(() => {
    if (proof === null) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    let isLooking = false
    const look = async (): Promise<void> => {
      isLooking = true
      const answer = await ask(`${at}/${proof.id}`, { headers: { 'x-payment-token': proof.token } })
      isLooking = false
      if (isOver) return
      const view = addressIn(answer)
      if (view !== null) setShown(view)
      else if (answer?.status === 404) setFault(faultOf(answer))
      timer = setTimeout(() => void look(), document.visibilityState === 'visible' ? POLL_MS : POLL_MS * 5)
    }
    // A buyer who returns from their exchange sees at once whether the transfer has arrived.
    const back = (): void => {
      if (isLooking || document.visibilityState !== 'visible') return
      clearTimeout(timer)
      void look()
    }
    document.addEventListener('visibilitychange', back)
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', back)
    }
  }, [proof?.id, proof?.token])

  const paid = shown?.payment ?? null
  // Whoever comes back to a paid order may have sent the price once more, which the server sees a moment later.
  const wasPaid = useRef<boolean | null>(null)
  if (shown !== null) wasPaid.current ??= paid !== null
  useEffect(() => {
    // What is left is shown first: the page of the order has no place for it.
    if (paid !== null && shown?.left === 0 && wasPaid.current === false) bought?.(paid.id, paid.token)
  }, [paid?.id, shown?.left])

  async function giveBack(to: string): Promise<void> {
    if (proof === null || isReturning) return
    setFault(null)
    setReturning(true)
    const answer = await ask(`${at}/${proof.id}/return`, { body: { to }, headers: { 'x-payment-token': proof.token } })
    setReturning(false)
    const view = addressIn(answer)
    if (view !== null) setShown(view)
    else setFault(faultOf(answer))
  }

  return { shown, isReturning, fault, giveBack }
}

function addressesOf(url: string): string {
  return `${onThisHost(url)}/addresses`
}

function orderLink(url: string, { id, token }: { id: string; token: string | null }): string {
  return `${onThisHost(url)}?${new URLSearchParams({ payment: id, token: token ?? '' }).toString()}`
}

function WhereTo({ shown, network }: { shown: PaymentAddressView; network: string }) {
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

function Standing({ shown }: { shown: PaymentAddressView }) {
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
function GiveBack({
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

function Returns({ shown: { returns } }: { shown: PaymentAddressView }) {
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

interface Proof {
  id: string
  token: string
}

/** After it, in the address: which order this is, and the token that shows whose it is. A server never sees it. */
const HASH = 'transfer='

function proofIn(hash: string): Proof | null {
  const [, id, token] = /^#transfer=(adr_[0-9a-z]{26})[.](tok_[A-Za-z0-9_-]{43})$/.exec(hash) ?? []
  return id === undefined || token === undefined ? null : { id, token }
}

interface Answered {
  status: number
  body: Record<string, unknown>
}

async function ask(
  url: string,
  { body, headers = {} }: { body?: object; headers?: Readonly<Record<string, string>> },
): Promise<Answered | null> {
  try {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const types = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const response = await fetch(url, { ...sent, headers: { ...types, ...headers }, cache: 'no-store' })
    const read: unknown = await response.json()
    return { status: response.status, body: isRecord(read) ? read : {} }
  } catch {
    return null
  }
}

function addressIn(answer: Answered | null): PaymentAddressView | null {
  if (answer === null || answer.status >= 300 || !isRecord(answer.body['address'])) return null
  return answer.body['address'] as unknown as PaymentAddressView
}

/** In the reader's language where the page knows the fault. */
function faultOf(answer: Answered | null): string {
  const { code = '', error, details } = answer?.body ?? {}
  if (code === 'nothing_to_return') return say('transfer.notYet')
  if (code === 'invalid_input' && isRecord(details)) {
    if ('to' in details) return say('transfer.wrongAddress')
    if ('choice.plan' in details || 'choice.coupon' in details) return say('transfer.walletOnly')
  }
  return sentenceOf({ code: String(code), sentence: typeof error === 'string' ? error : say('error.impossible') })
}

const POLL_MS = 3_000

/** A text to be copied as it is. */
export function Copied({ label, text, copied = text }: { label: string; text: string; copied?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(copied).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div class="copied">
      <span class="hint">{label}</span>
      <code class="mono">{text}</code>
      <button
        type="button"
        class="link"
        aria-label={say('transfer.copyNamed', { name: label })}
        onClick={() => void copy()}
      >
        {say(isCopied ? 'transfer.copied' : 'transfer.copy')}
      </button>
    </div>
  )
}
