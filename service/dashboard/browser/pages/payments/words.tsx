import { shortly } from '../../../../ui-kit/format.ts'
import type { Output } from '../../api/procedures.ts'
import { Badge, StateBadge } from '../../parts/Badge.tsx'
import { Id } from '../../parts/values.tsx'

type Line = Pick<Output<'payments.list'>['payments'][number], 'product' | 'state' | 'name' | 'test'>

/** What can be sold for payments of one's own; the platform sells its own tools. */
export const PRODUCTS = [
  ['checkout', 'Checkout'],
  ['gate', 'Paywall'],
  ['asset', 'Asset'],
] as const

export const STATES = [
  ['paid', 'Paid'],
  ['settling', 'On its way'],
  ['created', 'Accepted'],
  ['refunded', 'Refunded'],
  ['failed', 'Not paid'],
  ['released', 'Not charged'],
] as const

export function PaymentState({ payment: { state, test } }: { payment: Pick<Line, 'state' | 'test'> }) {
  return (
    <span className="inline-flex flex-wrap gap-1">
      <StateBadge state={state}>{wordOf(STATES, state)}</StateBadge>
      {test && <Badge tone="warn">test</Badge>}
    </span>
  )
}

export function productWord(product: Line['product']): string {
  return wordOf(PRODUCTS, product)
}

/** What was bought, by the seller's name for it. */
export function boughtName({ name, product }: Pick<Line, 'name' | 'product'>): string {
  return name ?? productWord(product)
}

type Buyer = Pick<Output<'payments.list'>['payments'][number], 'email' | 'payer' | 'byTransfer' | 'sentFrom'>

/** By the e-mail address for the receipt; without one, by the wallet that paid. */
export function CustomerName({ of, whole = false }: { of: Buyer; whole?: boolean }) {
  const { email, payer, byTransfer, sentFrom } = of
  if (email !== null) return <span className="block truncate">{email}</span>
  // The payer is an order's own address, to which the customer sent it.
  if (byTransfer) {
    const [sender] = sentFrom
    return sender === undefined ? (
      <span className="text-quiet">By transfer, no e-mail</span>
    ) : (
      <span className="inline-flex flex-wrap gap-x-1.5">
        <span className="text-quiet">By transfer from</span> <Id value={sender} whole={whole} />
      </span>
    )
  }
  return payer === NO_WALLET ? <span className="text-quiet">No wallet</span> : <Id value={payer} whole={whole} />
}

/** The same as a text, for titles and links. */
export function customerName({ email, payer, byTransfer, sentFrom: [sender] }: Buyer): string {
  if (email !== null) return email
  if (payer === NO_WALLET) return 'No wallet'
  if (!byTransfer) return shortly(payer)
  return sender === undefined ? `By transfer (${shortly(payer)})` : `By transfer from ${shortly(sender)}`
}

/** Where a transfer came from, and why that may not be the customer's own address. */
export function sentFromFact({ byTransfer, sentFrom }: Pick<Buyer, 'byTransfer' | 'sentFrom'>) {
  if (!byTransfer || sentFrom.length === 0) return null
  return [
    'Sent from',
    <span key="senders">
      {sentFrom.map((sender) => (
        <span key={sender} className="block">
          <Id value={sender} whole />
        </span>
      ))}
      <span className="block text-[0.8125rem] text-quiet">
        This may be an exchange’s address, which sends for many people. A refund goes to the order’s address, where the
        customer collects it.
      </span>
    </span>,
  ] as const
}

/** Stands for the wallet where none was needed: a test payment, a coupon for the whole price. */
export const NO_WALLET = `0x${'0'.repeat(40)}`

function wordOf(words: readonly (readonly [string, string])[], name: string): string {
  return words.find(([each]) => each === name)?.[1] ?? name
}
