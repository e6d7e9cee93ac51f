import { Pencil1Icon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useParams } from 'wouter'
import { foreseenFields, sentenceOf, useAction, useRead, type Output } from '../api/procedures.ts'
import type { Fault } from '../api/fault.ts'
import { useDialog, Confirm, Modal } from '../parts/Modal.tsx'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { idColumn } from '../parts/columns.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { Dash, Id, Money, When } from '../parts/values.tsx'
import { InputForm, toInputs, type FormValues } from '../parts/InputForm.tsx'
import { Card, Columns, Facts, Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { RotateSecret } from '../parts/Secret.tsx'
import { inBytes } from '../../../ui-kit/format.ts'
import { paymentColumns, recipientFacts } from '../parts/payments.tsx'
import { Empty, Loaded, Notice } from '../parts/states.tsx'
import { Unserved } from '../parts/Unserved.tsx'
import { toast } from '../shell/toast.ts'
import { Embedding, Share } from './checkouts/Share.tsx'
import { Passes } from './checkouts/Passes.tsx'
import { Deliveries } from './deliveries/Deliveries.tsx'

type Checkout = Output<'checkouts.get'>
type Payment = Output<'checkouts.payments'>['payments'][number]

export default function CheckoutRoute() {
  const { id } = useParams<{ id: string }>()
  const checkout = useRead('checkouts.get', { id })
  return <Loaded of={checkout}>{(data) => <CheckoutPage checkout={data} />}</Loaded>
}

function CheckoutPage({ checkout }: { checkout: Checkout }) {
  const { id, product, status } = checkout
  return (
    <Page
      title={product.name}
      note={
        <>
          <StateBadge state={status} />
          {checkout.testMode && <Badge tone="warn">test mode</Badge>}
        </>
      }
      back={{ to: '/checkouts', name: 'Checkouts' }}
      actions={<Actions checkout={checkout} />}
      intro={product.description}
    >
      {status === 'paused' && (
        <Notice tone="warn">
          Payments are paused because the workflow does not answer. They resume as soon as it does.
        </Notice>
      )}
      <Unserved of="checkouts" sold={checkout} />
      {checkout.source !== null && status !== 'expired' && (
        <Notice>A node in n8n sets this checkout. To change it, change the node and publish the workflow again.</Notice>
      )}
      <Columns>
        <Card title="Details">
          <Facts facts={factsOf(checkout)} />
        </Card>
        {status !== 'expired' && <Share checkout={checkout} />}
      </Columns>
      {status !== 'expired' && <Embedding checkout={checkout} />}
      <List
        path="checkouts.payments"
        filter={{ id }}
        rows={({ payments }) => payments}
        name="Payments"
        titled
        {...PAYMENTS}
        empty={<Empty title="No payments yet">Share the link, or make a test payment.</Empty>}
      />
      {checkout.plans.length > 0 && <Passes of={{ checkout: id }} />}
      <Deliveries target={id} />
    </Page>
  )
}

function Actions({ checkout }: { checkout: Checkout }) {
  const { id, source, status } = checkout
  const dialog = useDialog<'test' | 'rotate' | 'expire'>()
  const expire = useAction('checkouts.expire', {
    changes: ['checkouts.'],
    foresees: () => [foreseenFields('checkouts.get', id, { status: 'expired' })],
    done: () => toast({ tone: 'good', text: 'Checkout ended. It takes no more payments.' }),
  })
  const rotate = useAction('checkouts.rotateSecret', { changes: ['checkouts.'] })
  const duplicate = <LinkButton to={`/checkouts/new?from=${id}`}>Duplicate</LinkButton>
  if (status === 'expired') return duplicate
  return (
    <>
      <Button variant="danger" onClick={dialog.open('expire')}>
        End checkout
      </Button>
      {checkout.callbackUrl !== null && <Button onClick={dialog.open('rotate')}>Rotate secret</Button>}
      {duplicate}
      {source === null && (
        <LinkButton to={`/checkouts/${id}/edit`}>
          <Pencil1Icon /> Edit
        </LinkButton>
      )}
      <Button variant="main" onClick={dialog.open('test')}>
        Make test payment
      </Button>
      {dialog.shown === 'test' && <TestPayment checkout={checkout} close={dialog.close} />}
      <Confirm
        title="End this checkout?"
        act="End checkout"
        open={dialog.shown === 'expire'}
        close={dialog.close}
        confirm={() => expire.mutate({ id })}
      >
        Its link takes no more payments. Pending payments are finished, and receipts stay available.
        {source !== null && ' Publish the workflow again to bring the same link back.'}
      </Confirm>
      <RotateSecret
        id={id}
        open={dialog.shown === 'rotate'}
        note="The old secret stays valid for 24 hours. Activate the workflow in n8n again so that its trigger gets the new secret."
        rotate={rotate}
        close={dialog.close}
      />
    </>
  )
}

function factsOf(data: Checkout) {
  return [
    ['Price', <Money key="price" amount={data.price} />],
    data.pricing.kind === 'fixed' ? null : (['Pricing', PRICINGS[data.pricing.kind]] as const),
    ...recipientFacts(data),
    ['Lifetime', data.lifetime],
    data.expiresAt === null ? null : (['Ends', <When key="ends" at={data.expiresAt} />] as const),
    data.callbackUrl === null
      ? (['Buyers get', afterOf(data)] as const)
      : (['Callback URL', data.callbackUrl] as const),
    ['Fields', data.fields.map(({ label }) => label).join(', ') || 'None'],
    ['Redirect URL', data.redirectUrl ?? 'None'],
    ['ID', <Id key="id" value={data.id} whole />],
  ] as const
}

function afterOf({ after }: Checkout): string {
  switch (after.kind) {
    case 'file':
      return `${after.name} (${inBytes(after.bytes)})`
    case 'link':
      return after.url
    case 'text':
      return 'A text'
    case 'webhook':
      return 'What the workflow makes'
  }
}

const PRICINGS = {
  quantity: 'For each',
  choose: 'The buyer chooses',
  byField: 'By a field of the form',
} as const

function TestPayment({ checkout, close }: { checkout: Checkout; close: () => void }) {
  const [values, setValues] = useState<FormValues>({})
  const test = useAction('checkouts.testPayment', { changes: ['checkouts.', 'deliveries.'], quiet: true, once: true })
  const fault: Fault | null = test.error
  const pay = async (): Promise<void> => {
    const input = toInputs(checkout.fields, values)
    await test.mutateAsync({ id: checkout.id, ...(Object.keys(values).length === 0 ? {} : { input }) })
    toast({ tone: 'good', text: 'Payment simulated. The workflow receives its delivery now; see Deliveries below.' })
    close()
  }
  return (
    <Modal
      title="Test payment"
      note="No money moves. The workflow receives a delivery that is marked as a test."
      open
      close={close}
    >
      <InputForm fields={checkout.fields} values={values} change={setValues} faults={faultsOf(fault)} submit={pay}>
        {fault !== null && !fault.isSessionOver && Object.keys(fault.details).length === 0 && (
          <Notice tone="bad">{sentenceOf(fault)}</Notice>
        )}
        {checkout.fields.length > 0 && (
          <p className="text-[0.8125rem] text-quiet">If you leave every field empty, examples are sent.</p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="main" busy={test.isPending}>
            Simulate payment
          </Button>
        </div>
      </InputForm>
    </Modal>
  )
}

/** The service puts `input.` before the name of each field. */
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
      render: ({ explorerUrl, txHash }) =>
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
      render: ({ delivery }) => (delivery === null ? <Dash /> : <StateBadge state={delivery.status} />),
      csv: ({ delivery }) => delivery?.status,
      wide: true,
    },
  ],
)
