import { DownloadIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useParams } from 'wouter'
import { toFault } from '../api/fault.ts'
import { read, useRead, type Output } from '../api/procedures.ts'
import { settings } from '../settings.ts'
import { toast } from '../shell/toast.ts'
import { Button, TextLink } from '../parts/Button.tsx'
import { saveFile } from '../parts/columns.tsx'
import { Card, Code, Columns, Facts, Page } from '../parts/layout.tsx'
import { Receipt, RefundPayment } from '../parts/Refund.tsx'
import { Loaded, Skeleton } from '../parts/states.tsx'
import { Id, Money, When } from '../parts/values.tsx'
import { uploadedIn } from '../../../ui-kit/uploaded.ts'
import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import { DeliveryDetails } from './deliveries/Deliveries.tsx'
import { FurtherAmounts } from './payments/Requests.tsx'
import { timeLineOf } from './payments/time-line.ts'
import { boughtName, CustomerName, NO_WALLET, PaymentState, productWord, sentFromFact } from './payments/words.tsx'

type Payment = Output<'payments.get'>

export default function PaymentRoute() {
  const { id } = useParams<{ id: string }>()
  const payment = useRead('payments.get', { id })
  return <Loaded of={payment}>{(data) => <PaymentPage payment={data} />}</Loaded>
}

/** One payment: what was bought, by whom, what became of it, and what can be done about it. */
function PaymentPage({ payment }: { payment: Payment }) {
  const { id, input, refundable, refunds } = payment
  const deliveries = useRead('deliveries.list', { subject: id, limit: 1, offset: 0 })
  const delivery = deliveries.data?.deliveries[0] ?? null
  return (
    <Page
      title={boughtName(payment)}
      note={<PaymentState payment={payment} />}
      back={{ to: '/payments', name: 'Payments' }}
      actions={
        (refundable > 0 || refunds.length > 0) && (
          <RefundPayment id={id} act={refundable > 0 ? 'Refund payment' : 'View refunds'} />
        )
      }
      intro={sentenceOf(payment)}
    >
      <Columns>
        <div className="min-w-0 space-y-6">
          <Card title="Payment">
            <Facts facts={factsOf(payment)} />
          </Card>
          {input !== null && (
            <Card title="The customer’s input">
              <Input input={input} />
            </Card>
          )}
          {payment.product === 'checkout' && <FurtherAmounts payment={id} />}
          {delivery !== null && (
            <Card title="Delivery">
              <Delivery id={delivery.id} payment={id} />
            </Card>
          )}
        </div>
        <div className="min-w-0 space-y-6">
          <Card title="What happened">
            <ol className="space-y-3">
              {timeLineOf(payment, delivery).map(({ at, text, detail }) => (
                <li key={`${at ?? ''} ${text}`}>
                  <p className="font-medium break-words">{text}</p>
                  {detail !== null && <p className="break-words text-quiet">{detail}</p>}
                  {at !== null && (
                    <p className="text-[0.8125rem] text-quiet">
                      <When at={at} />
                    </p>
                  )}
                </li>
              ))}
            </ol>
          </Card>
          <Card title="Receipt">
            <Documents payment={payment} />
          </Card>
        </div>
      </Columns>
    </Page>
  )
}

/** Each state as a sentence. */
function sentenceOf({ state, amount, test, free, reason, refunded }: Payment): string {
  switch (state) {
    case 'created':
      return 'The customer has agreed to pay. The money has not moved yet.'
    case 'settling':
      return 'The payment is on its way. This takes seconds, rarely minutes.'
    case 'paid':
      if (free !== null) return FREE[free]
      if (test) return 'A test payment: no money moved.'
      return refunded > 0
        ? 'The customer has paid. Part of it was refunded, or is being refunded.'
        : 'The customer has paid.'
    case 'refunded':
      return amount === 0
        ? 'The work failed, so the customer got the run back.'
        : 'All of it was refunded to the customer.'
    case 'released':
      return 'The work failed, so the customer was not charged.'
    case 'failed':
      return reason === null ? 'No money arrived.' : `No money arrived. ${reason.sentence}`
  }
}

const FREE = {
  pass: 'The customer used a pass that they paid for before.',
  trial: 'The customer used a free trial.',
  coupon: 'The customer used a coupon for the whole price.',
} as const

const PAGE_OF = { checkout: '/checkouts', gate: '/paywalls', asset: '/assets', tool: '/catalogue' } as const

function factsOf(payment: Payment) {
  const {
    product,
    subject,
    email,
    payer,
    byTransfer,
    amount,
    refunded,
    endpoint,
    network,
    recipient,
    explorerUrl,
    txHash,
    test,
  } = payment
  return [
    [
      'Bought',
      <span key="bought">
        <TextLink to={`${PAGE_OF[product]}/${subject}`}>{boughtName(payment)}</TextLink> ({productWord(product)})
      </span>,
    ],
    endpoint === null ? null : (['Request', <code key="at">{endpoint}</code>] as const),
    [
      'Customer',
      <span key="who" className="flex flex-wrap items-center gap-x-3">
        <CustomerName of={payment} whole />
        {(email !== null || payer !== NO_WALLET) && (
          <TextLink to={`/customers/${encodeURIComponent(email?.toLowerCase() ?? payer)}`}>All their payments</TextLink>
        )}
      </span>,
    ],
    payer === NO_WALLET || (email === null && !byTransfer)
      ? null
      : ([byTransfer ? 'Sent to the order’s address' : 'Paid from', <Id key="payer" value={payer} whole />] as const),
    sentFromFact(payment),
    ['Amount', <Money key="amount" amount={amount} />],
    refunded === 0 ? null : (['Refunded', <Money key="back" amount={refunded} />] as const),
    test
      ? null
      : product === 'asset'
        ? (['Fee', 'The platform keeps its fee. Your share of each run is in the wallet as a sale.'] as const)
        : (['Fee', 'None'] as const),
    test || product === 'asset' ? null : (['Net', <Money key="net" amount={netOf(payment)} />] as const),
    ['Paid on', network === 'base' ? NETWORK_NAMES.base : `${NETWORK_NAMES['base-sepolia']} (test tokens)`],
    recipient === null ? null : (['To your wallet', <Id key="to" value={recipient} whole />] as const),
    explorerUrl === null || txHash === null
      ? null
      : ([
          'Transaction',
          <a key="tx" href={explorerUrl} target="_blank" rel="noreferrer" className="link font-mono text-[0.8125rem]">
            {txHash.slice(0, 18)}…
          </a>,
        ] as const),
    ['ID', <Id key="id" value={payment.id} whole />],
  ] as const
}

/** What is left of it, calculated in micro-USDC, so that nothing is lost by rounding. */
function netOf({ amount, refunded, paidAt }: Payment): number {
  return paidAt === null ? 0 : Math.round(amount * 1e6 - refunded * 1e6) / 1e6
}

/** A checkout's fields by name; what a program sent may be anything. */
function Input({ input }: { input: NonNullable<Payment['input']> }) {
  const entries = Object.entries(input)
  if (entries.length === 0) return <p className="text-quiet">The form has no fields.</p>
  return (
    <Facts
      facts={entries.map(([name, value]) => [
        name,
        typeof value === 'string' ? (
          <Text value={value} />
        ) : typeof value === 'object' && value !== null ? (
          <Code>{JSON.stringify(value, null, 2)}</Code>
        ) : (
          String(value)
        ),
      ])}
    />
  )
}

/** What the customer uploaded is shown by its name. */
function Text({ value }: { value: string }) {
  const uploaded = uploadedIn(value, `${settings.payUrl}/`)
  if (uploaded === null) return <span className="whitespace-pre-wrap">{value}</span>
  return (
    <a href={value} target="_blank" rel="noreferrer" className="link">
      {uploaded}
    </a>
  )
}

function Delivery({ id, payment }: { id: string; payment: string }) {
  const delivery = useRead('deliveries.get', { id })
  return (
    <Loaded of={delivery} waiting={<Skeleton className="h-48 w-full" />}>
      {(data) => <DeliveryDetails delivery={data} payment={payment} />}
    </Loaded>
  )
}

function Documents({ payment: { id, paidAt, verifyUrl } }: { payment: Payment }) {
  const documents = useRead('invoices.receiptAddress', { id })
  const invoice = documents.data?.invoice ?? null
  if (paidAt === null) return <p className="text-quiet">There is a receipt once it is paid.</p>
  return (
    <div className="space-y-3">
      {verifyUrl === null ? (
        <p className="text-quiet">This payment has no signed receipt.</p>
      ) : (
        <a href={verifyUrl} target="_blank" rel="noreferrer" className="link block">
          Verify the signed receipt
        </a>
      )}
      {invoice !== null && <InvoiceFile id={id} number={invoice} />}
      <Receipt id={id} />
    </div>
  )
}

/** No link: a browser that follows one does not send the environment, so it would be looked for in the sandbox. */
function InvoiceFile({ id, number }: { id: string; number: string }) {
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      const { base64 } = await read('invoices.pdf', { id })
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
      saveFile(`${number}.pdf`, new Blob([bytes], { type: 'application/pdf' }))
    } catch (error) {
      toast({ tone: 'bad', text: `Download failed. ${toFault(error).message}` })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="quiet" small busy={busy} onClick={() => void save()}>
      <DownloadIcon /> Invoice {number} (PDF)
    </Button>
  )
}
