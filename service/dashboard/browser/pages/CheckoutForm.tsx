import { useEffect, useRef, useState } from 'react'
import { useForm, useWatch, type UseFormReturn } from 'react-hook-form'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { read, useAction, useRead } from '../api/procedures.ts'
import { Form, saveEdited, TextArea, TextField } from '../parts/form.tsx'
import { FileField } from '../parts/FileField.tsx'
import { FieldRows } from '../parts/FieldRows.tsx'
import { Card, Page } from '../parts/layout.tsx'
import { Modal } from '../parts/Modal.tsx'
import { Payout } from '../parts/Payout.tsx'
import { OneTimeSecret } from '../parts/Secret.tsx'
import { Loaded } from '../parts/states.tsx'
import { versionFor } from '../parts/texts.ts'
import { Copy } from '../parts/values.tsx'
import { toast } from '../shell/toast.ts'
import { AfterPayment } from './checkouts/AfterPayment.tsx'
import { Plans } from './checkouts/Plans.tsx'
import { Price } from './checkouts/Price.tsx'
import { toBody, toCopy, toDraft, toPreview, type Checkout, type Draft } from './checkouts/draft.ts'

/** Creates or edits a checkout, beside the page that its buyers see. */
export default function CheckoutForm() {
  const { id } = useParams<{ id?: string }>()
  const [search] = useSearchParams()
  const from = id ?? search.get('from')
  const checkout = useRead('checkouts.get', { id: from ?? '' }, { enabled: from !== null })
  if (from === null) return <Create from={null} />
  return (
    <Loaded of={checkout}>{(data) => (id === undefined ? <Create from={data} /> : <Change checkout={data} />)}</Loaded>
  )
}

function Create({ from }: { from: Checkout | null }) {
  const [, go] = useLocation()
  const create = useAction('checkouts.create', { changes: ['checkouts.'], quiet: true, once: true })
  const form = useForm<Draft>({ defaultValues: toDraft(from) })
  return (
    <Page title="New checkout" back={{ to: '/checkouts', name: 'Checkouts' }}>
      <Fields
        form={form}
        act="Create checkout"
        submit={async (draft) => {
          const { checkout, secret } = await create.mutateAsync(toCopy(draft, from))
          if (secret === null) go(`/checkouts/${checkout.id}`)
        }}
      />
      {create.data?.secret != null && (
        <Modal title="New checkout" open wide>
          <div className="space-y-6">
            <Link url={create.data.checkout.url} />
            <OneTimeSecret
              secret={create.data.secret}
              lost="Rotate the secret on the checkout’s page."
              note="Your server checks with this secret that a delivery came from here. Copy it now: it is not shown again."
              close={() => go(`/checkouts/${create.data?.checkout.id ?? ''}`)}
            />
          </div>
        </Modal>
      )}
    </Page>
  )
}

/** What a seller has made the checkout for. */
function Link({ url }: { url: string }) {
  return (
    <section className="space-y-2">
      <p>The checkout is open. Send your customers this link:</p>
      <div className="flex items-center gap-2 rounded-lg bg-sunk p-3">
        <a className="min-w-0 flex-1 break-all text-accent underline" href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
        <Copy value={url} label="Copy the link" />
      </div>
    </section>
  )
}

function Change({ checkout }: { checkout: Checkout }) {
  const [, go] = useLocation()
  const change = useAction('checkouts.change', { changes: ['checkouts.'], quiet: true })
  // The page also loads other people’s changes, but the typed text belongs to the version that was opened.
  const [opened] = useState(checkout)
  const { id } = opened
  const form = useForm<Draft>({ defaultValues: toDraft(opened) })
  return (
    <Page title={`Edit ${checkout.product.name}`} back={{ to: `/checkouts/${id}`, name: checkout.product.name }}>
      <Fields
        form={form}
        act="Save checkout"
        submit={async (draft) => {
          await saveEdited(form, draft, {
            toBody: (of) => toBody(of, opened),
            save: async (changed) => {
              const current = await read('checkouts.get', { id })
              const version = versionFor(changed, { opened, current, toBody: (of) => toBody(toDraft(of), of) })
              await change.mutateAsync({ id, body: { ...changed, version } })
              toast({ tone: 'good', text: 'Checkout saved. Buyers who have it open get what they were shown.' })
            },
          })
          go(`/checkouts/${id}`)
        }}
      />
    </Page>
  )
}

function Fields({
  form,
  act,
  submit,
}: {
  form: UseFormReturn<Draft>
  act: string
  submit: (draft: Draft) => Promise<void>
}) {
  // Its form is one message, and its price that of a plan.
  const isChat = form.watch('after.kind') === 'chat'
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22.5rem]">
      <Form form={form} act={act} submit={submit}>
        <Card title="Product">
          <div className="space-y-4">
            <TextField form={form} name="product.name" label="Name" placeholder="SEO audit" />
            <TextArea form={form} name="product.description" label="Description" rows={3} optional />
            <FileField form={form} name="picture" label="Picture" purpose="picture" optional />
          </div>
        </Card>
        <Price form={form} />
        {!isChat && (
          <Card title="Form">
            <FieldRows form={form} list="fields" name="field" />
          </Card>
        )}
        <Plans form={form} />
        <AfterPayment form={form} />
        <Payout form={form} />
      </Form>
      <aside aria-label="Preview" className="lg:sticky lg:top-20">
        <Preview form={form} />
      </aside>
    </div>
  )
}

/** The page as the service renders it. Terms that it refuses leave the last one. */
function Preview({ form }: { form: UseFormReturn<Draft> }) {
  const draft = useWatch({ control: form.control }) as Draft
  const preview = useAction('checkouts.preview', { quiet: true, looks: true })
  const [html, setHtml] = useState<string | null>(null)
  const asked = useRef(0)
  const terms = JSON.stringify(toPreview(draft))
  useEffect(() => {
    const timer = setTimeout(() => {
      const turn = ++asked.current
      const showLatest = (answer: { html: string }): void => {
        if (turn === asked.current) setHtml(answer.html)
      }
      preview.mutateAsync(toPreview(form.getValues())).then(showLatest, () => undefined)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [terms])
  return (
    <Card title="Preview">
      <div className="h-[36rem] overflow-hidden rounded-lg border border-line bg-side">
        {html !== null && (
          // It may load its styles, and nothing else: it runs no script, and links in it lead nowhere.
          <iframe title="The page that buyers see" sandbox="allow-same-origin" srcDoc={html} className="size-full" />
        )}
      </div>
    </Card>
  )
}

const PAUSE_MS = 350
