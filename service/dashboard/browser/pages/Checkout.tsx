import { ExternalLinkIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useParams } from 'wouter'
import { foreseen, sentenceOf, useAct, useAsk, type Output } from '../api/ask.ts'
import type { Fault } from '../api/fault.ts'
import { useAsking } from '../parts/asking.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { idColumn } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Copy, Dash, Id, Money, When } from '../parts/figures.tsx'
import { InputForm, toInputs, type Filled } from '../parts/InputForm.tsx'
import { Card, Facts, PageHead } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm, Modal } from '../parts/Modal.tsx'
import { NewSecret } from '../parts/NewSecret.tsx'
import { paymentColumns, recipientFacts } from '../parts/payments.tsx'
import { Awaited, Empty, Notice } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { Deliveries } from './deliveries/Deliveries.tsx'

type Whole = Output<'checkouts.get'>
type Payment = Output<'checkouts.payments'>['payments'][number]

export default function Checkout() {
  const { id } = useParams<{ id: string }>()
  const checkout = useAsk('checkouts.get', { id })
  const asking = useAsking<'test' | 'rotate' | 'expire'>()
  const { close } = asking
  const expire = useAct('checkouts.expire', {
    changes: ['checkouts.'],
    foresees: () => [
      foreseen('checkouts.get', (before) => (before.id === id ? { ...before, status: 'expired' as const } : before)),
    ],
    done: () => say({ tone: 'good', text: 'The checkout has ended and takes no more payments.' }),
  })
  const rotate = useAct('checkouts.rotateSecret', { changes: ['checkouts.'] })
  if (checkout.data === undefined) return <Awaited of={checkout} />
  const { data } = checkout
  return (
    <>
      <PageHead
        title={data.product.name}
        note={
          <>
            <StateBadge state={data.status} />
            {data.testMode && <Badge tone="warn">test mode</Badge>}
          </>
        }
        back={{ to: '/checkouts', name: 'Checkouts' }}
        actions={
          data.status === 'expired' ? undefined : (
            <>
              <Button look="danger" onClick={asking.begin('expire')}>
                End checkout
              </Button>
              <Button onClick={asking.begin('rotate')}>New secret</Button>
              <Button look="main" onClick={asking.begin('test')}>
                Test payment
              </Button>
            </>
          )
        }
      >
        {data.product.description}
      </PageHead>
      <div className="space-y-6">
        {data.status === 'paused' && (
          <Notice tone="warn">
            Its workflow does not answer, so nobody can pay. It goes on by itself once it does.
          </Notice>
        )}
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <Card title="What is sold">
            <Facts facts={factsOf(data)} />
          </Card>
          {data.status !== 'expired' && <Share checkout={data} />}
        </div>
        <List
          path="checkouts.payments"
          filter={{ id }}
          rows={({ payments }) => payments}
          name="Payments"
          title="Payments"
          columns={PAYMENTS}
          empty={<Empty title="Nobody has paid yet">Share the link, or make a test payment to see how it goes.</Empty>}
        />
        <Deliveries target={id} />
      </div>
      {asking.asked === 'test' && <Test checkout={data} close={close} />}
      <Confirm
        title="End this checkout?"
        act="End checkout"
        open={asking.asked === 'expire'}
        close={close}
        confirm={() => expire.mutate({ id })}
      >
        Its link takes no more payments. Payments under way are finished, and receipts stay reachable. Publishing the
        workflow again brings the same link back.
      </Confirm>
      <NewSecret
        id={id}
        open={asking.asked === 'rotate'}
        note="The old secret stays valid for 24 hours. A running trigger of n8n must be activated again to know the new one."
        rotate={rotate}
        close={close}
      />
    </>
  )
}

function factsOf(data: Whole) {
  return [
    ['Price', <Money key="price" amount={data.price} />],
    ...recipientFacts(data),
    ['Lifetime', data.lifetime],
    data.expiresAt === null ? null : (['Ends', <When key="ends" at={data.expiresAt} />] as const),
    ['Delivered to', data.callbackUrl],
    ['Asks for', data.fields.map(({ label }) => label).join(', ') || 'Nothing'],
    ['Afterwards', data.redirectUrl ?? 'Stays on the page'],
    ['Id', <Id key="id" value={data.id} whole />],
  ] as const
}

function Share({ checkout }: { checkout: Whole }) {
  return (
    <Card title="Share">
      <div className="flex flex-col items-center gap-3">
        <img
          src={`data:image/svg+xml,${encodeURIComponent(checkout.qr)}`}
          alt="The payment link as a QR code"
          className="size-36 rounded-md bg-white"
        />
        <div className="flex max-w-full items-center gap-1">
          <a href={checkout.url} target="_blank" rel="noreferrer" className="link min-w-0 break-all">
            {checkout.url} <ExternalLinkIcon className="inline" />
          </a>
          <Copy value={checkout.url} label="Copy the link" />
        </div>
        <p className="text-center text-[0.8125rem] text-quiet">Agents pay at the same address, by x402.</p>
      </div>
    </Card>
  )
}

function Test({ checkout, close }: { checkout: Whole; close: () => void }) {
  const [values, setValues] = useState<Filled>({})
  const test = useAct('checkouts.testPayment', { changes: ['checkouts.', 'deliveries.'], quiet: true, once: true })
  const fault: Fault | null = test.error
  const pay = async (): Promise<void> => {
    const input = toInputs(checkout.fields, values)
    await test.mutateAsync({ id: checkout.id, ...(Object.keys(values).length === 0 ? {} : { input }) })
    say({ tone: 'good', text: 'Payment simulated. The workflow gets its delivery now; see the deliveries below.' })
    close()
  }
  return (
    <Modal
      title="Test payment"
      note="No money moves; the workflow gets a delivery that is marked as a test."
      open
      close={close}
    >
      <form
        noValidate
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          // Its fault is shown below.
          pay().catch(() => undefined)
        }}
      >
        <InputForm
          fields={checkout.fields}
          values={values}
          faults={faultsOf(fault)}
          fill={(name, value) => setValues({ ...values, [name]: value })}
        />
        {fault !== null && !fault.isSessionOver && Object.keys(fault.details).length === 0 && (
          <Notice tone="bad">{sentenceOf(fault)}</Notice>
        )}
        {checkout.fields.length > 0 && <p className="text-[0.8125rem] text-quiet">Left empty, examples are sent.</p>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="main" busy={test.isPending}>
            Simulate payment
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** Here the service names a field under the whole input. */
function faultsOf(fault: Fault | null): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fault?.details ?? {}).map(([name, sentence]) => [name.replace(/^input\./, ''), sentence]),
  )
}

const PAYMENTS = paymentColumns<Payment>(
  ({ reason }) => reason?.sentence,
  [
    idColumn('Payer', ({ payer }) => payer, { wide: true }),
    {
      title: 'Transaction',
      show: ({ explorerUrl, txHash }) =>
        explorerUrl === null ? (
          <Dash />
        ) : (
          <a href={explorerUrl} target="_blank" rel="noreferrer" className="link font-mono text-[0.8125rem]">
            {txHash?.slice(0, 10)}…
          </a>
        ),
      csv: ({ txHash }) => txHash,
      wide: true,
    },
    {
      title: 'Delivery',
      show: ({ delivery }) => (delivery === null ? <Dash /> : <StateBadge state={delivery.status} />),
      csv: ({ delivery }) => delivery?.status,
      wide: true,
    },
  ],
)
