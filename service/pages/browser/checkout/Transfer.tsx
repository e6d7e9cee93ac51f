import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PaymentState } from '../../model.ts'
import type { PaymentAddressView } from '../../../payment-addresses/service/addresses.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { language, say } from '../words/say.ts'
import { Hint, Primary } from './Actions.tsx'
import { GiveBack, Returns, Standing, WhereTo } from './Arrivals.tsx'
import { ask } from './api.ts'
import { Copied } from './Copied.tsx'
import { rawOf } from './draft.ts'
import { homeOf, linkOf, moveTo } from './found.ts'
import { Outward, Spinner } from './Icons.tsx'
import { onThisHost } from './Result.tsx'
import { isAllBack, withoutCharge, type State, type TransferActs } from './state.ts'
import { addressesOf, addressIn, faultOf, hashOf, orderLink, proofIn, type Proof } from './transfers.ts'

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
    moveTo(state, `${location.pathname}${location.search}${hashOf(proof)}`)
    begin(checkout.url, acts, { proof, seen })
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
export function showOrder({ checkout }: State['page'], acts: TransferActs): void {
  begin(checkout.url, acts, { proof: proofIn(location.hash) })
}

function begin(url: string, { begun, bought }: TransferActs, order: Pick<OrderProps, 'proof' | 'seen'>): void {
  const leave = (state: State, isWaiting: boolean): void => {
    const home = homeOf(new URL(url).pathname)
    // Money may be on its way to what waits: a reload shows it again.
    if (isWaiting) history.replaceState(history.state, '', home)
    else moveTo(state, home)
    begun(null)
  }
  begun(({ state }) => {
    // A frame has no address that a customer could open to start over.
    const inFrame = state.embed?.tab === false ? { leave: (isWaiting: boolean) => leave(state, isWaiting) } : {}
    return <Order url={url} bought={bought} {...order} {...inFrame} />
  })
}

/** The same where the checkout has ended, and its page with it. */
export function showAlone(): void {
  const root = document.getElementById('root')
  const proof = proofIn(location.hash)
  if (root === null) return
  document.title = say('transfer.order')
  const bought: Bought = (id, token) => location.assign(linkOf(homeOf(location.pathname), id, token))
  render(
    <main class="verify">
      <h1>{say('transfer.order')}</h1>
      <Order url={location.pathname} bought={bought} proof={proof} />
    </main>,
    root,
  )
}

/** What arrives at an order's address, and what is left there. */
function Order({ url, bought, proof, seen = null, leave }: OrderProps) {
  const { shown, isReturning, fault, giveBack } = useTransfer(url, { bought, proof, seen })
  if (proof === null) return <Fault fault={say('transfer.incomplete')} />
  const link = location.origin + onThisHost(url) + hashOf(proof)
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
          <Copied label={say('transfer.link')} text={link}>
            {leave !== undefined && (
              <a class="link" href={link} target="_blank" rel="noreferrer noopener">
                {say('pay.inTab')}
              </a>
            )}
          </Copied>
        </>
      ) : (
        fault === null && (
          <p class="wallet wallet-awaited">
            <Spinner /> {say('common.momentPlease')}
          </p>
        )
      )}
      <Fault fault={fault} />
      {leave !== undefined && (shown === null ? fault !== null : isAtRest(shown)) && (
        <button type="button" class="link" onClick={() => leave(shown?.status === 'waiting')}>
          {say(shown?.status === 'waiting' ? 'transfer.leave' : 'progress.orderAgain')}
        </button>
      )}
    </div>
  )
}

/** No money is at the order or on its way back. */
function isAtRest({ status, left, returnMinimum, returns }: PaymentAddressView): boolean {
  if (['partly_paid', 'paying'].includes(status) || returns.some((one) => one.status === 'returning')) return false
  return left < returnMinimum
}

/** Only money that is sent once more can change it. */
function isOver(view: PaymentAddressView): boolean {
  return view.status !== 'waiting' && isAtRest(view)
}

interface OrderProps {
  /** The checkout's. */
  url: string
  bought: Bought
  /** Null where the link is not complete. */
  proof: Proof | null
  /** How it stood when it was ordered. */
  seen?: PaymentAddressView | null
  /** In a frame: shows the form again. */
  leave?: (isWaiting: boolean) => void
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
    let isGone = false
    let isLooking = false
    const look = async (): Promise<void> => {
      isLooking = true
      const answer = await ask(`${at}/${proof.id}`, { headers: { 'x-payment-token': proof.token } })
      isLooking = false
      if (isGone) return
      const view = addressIn(answer)
      if (view !== null) setShown(view)
      // Any other answer leaves open how the order stands.
      else if (answer?.body['code'] === 'payment_address_not_found') return setFault(faultOf(answer))
      const isQuick = document.visibilityState === 'visible' && (view === null || !isOver(view))
      timer = setTimeout(() => void look(), isQuick ? POLL_MS : POLL_MS * 5)
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
      isGone = true
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

const POLL_MS = 3_000
