import { useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { useForm } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { useAct, useAsk } from '../api/ask.ts'
import { Fault, toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Check, Choice, Form, sending, TextArea, TextField } from '../parts/form.tsx'
import { Card, Code, PageHead } from '../parts/layout.tsx'
import { Modal } from '../parts/Modal.tsx'
import { Once } from '../parts/Once.tsx'
import { Awaited } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { slugOf } from '../parts/texts.ts'
import { curlOf, toBody, toDraft, type Draft, type Paywall } from './paywalls/draft.ts'
import { Routes } from './paywalls/Routes.tsx'

/** Three steps from an API to a line that pays for it. */
export default function PaywallForm() {
  const { id } = useParams<{ id?: string }>()
  const paywall = useAsk('paywalls.get', { id: id ?? '' }, { enabled: id !== undefined })
  if (id === undefined) return <Wizard paywall={null} />
  return paywall.data === undefined ? <Awaited of={paywall} /> : <Wizard paywall={paywall.data} />
}

/** Each with what is filled in there, under the names of the API's body. */
const STEPS: readonly { name: string; fields: readonly (keyof Draft)[] }[] = [
  { name: 'Your API', fields: ['name', 'slug', 'upstreamUrl', 'upstreamHeaders'] },
  { name: 'Prices', fields: ['routes'] },
  { name: 'Money', fields: ['network', 'recipient', 'testMode'] },
]

function Wizard({ paywall }: { paywall: Paywall | null }) {
  const [, go] = useLocation()
  const [step, setStep] = useState(0)
  const [slugIsOwn, setSlugIsOwn] = useState(paywall !== null)
  const create = useAct('paywalls.create', { changes: ['paywalls.'], quiet: true, once: true })
  const change = useAct('paywalls.change', { changes: ['paywalls.'], quiet: true })
  const check = useAct('paywalls.check', { quiet: true, looks: true })
  const form = useForm({ defaultValues: toDraft(paywall) })
  const last = step === STEPS.length - 1
  const testMode = form.watch('testMode')

  /** Shown before a fault is put beside its field: what is hidden takes no focus. */
  const show = (next: number): void => flushSync(() => setStep(next))
  /** Back at once; on only past steps that the service would take. */
  const goTo = async (target: number): Promise<void> => {
    const body = toBody(form.getValues())
    for (let at = step; at < target; at++) {
      show(at)
      await placed(check.mutateAsync({ id: paywall?.id ?? null, body: partOf(body, at) }))
    }
    show(target)
  }
  const save = async (): Promise<void> => {
    const body = toBody(form.getValues())
    if (paywall === null) {
      await create.mutateAsync(body)
      return
    }
    await change.mutateAsync({ id: paywall.id, body })
    say({ tone: 'good', text: 'Saved. Buyers can pay the old prices for ten more minutes.' })
    go(`/paywalls/${paywall.id}`)
  }
  return (
    <div className="max-w-3xl">
      <PageHead
        title={paywall === null ? 'New paywall' : `Change ${paywall.name}`}
        back={
          paywall === null
            ? { to: '/paywalls', name: 'Paywalls' }
            : { to: `/paywalls/${paywall.id}`, name: paywall.name }
        }
      />
      <ol className="mb-5 flex flex-wrap gap-x-5 gap-y-2">
        {STEPS.map(({ name }, at) => (
          <li key={name}>
            <button
              type="button"
              aria-current={at === step ? 'step' : undefined}
              className={`flex items-center gap-2 rounded-md ${at === step ? 'font-semibold' : 'text-quiet hover:text-ink'}`}
              onClick={() => {
                if (at < step) setStep(at)
                else void sending(form, () => goTo(at))()
              }}
            >
              <span
                className={`flex size-6 items-center justify-center rounded-full text-xs font-semibold ${at === step ? 'bg-accent text-on-accent' : 'bg-sunk'}`}
              >
                {at + 1}
              </span>
              {name}
            </button>
          </li>
        ))}
      </ol>
      <Form
        form={form}
        act={last ? (paywall === null ? 'Create paywall' : 'Save') : 'Next'}
        aside={step > 0 ? <Button onClick={() => setStep(step - 1)}>Back</Button> : undefined}
        submit={async () => {
          if (!last) {
            await goTo(step + 1)
            return
          }
          try {
            await placed(save())
          } catch (error) {
            // To where something is to be put right.
            const names = Object.keys(toFault(error).details)
            if (names.length > 0) show(Math.min(...names.map(stepOf)))
            throw error
          }
        }}
      >
        <Step shown={step === 0}>
          <Card title="Your API">
            <div className="space-y-4">
              <div className="grid gap-4 sm:grid-cols-2">
                <TextField
                  form={form}
                  name="name"
                  label="Name"
                  placeholder="Weather"
                  onInput={(event) => {
                    if (!slugIsOwn) form.setValue('slug', slugOf(event.currentTarget.value).slice(0, 64))
                  }}
                />
                <TextField
                  form={form}
                  name="slug"
                  label="Slug"
                  mono
                  hint="Part of its public address."
                  onInput={() => setSlugIsOwn(true)}
                />
              </div>
              <TextField
                form={form}
                name="upstreamUrl"
                label="Address of your API"
                mono
                placeholder="https://api.example.com"
              />
              <TextArea
                form={form}
                name="upstreamHeaders"
                label="Headers for your API"
                rows={2}
                mono
                optional
                placeholder="Authorization: Bearer …"
                hint={
                  paywall === null || paywall.upstreamHeaders.length === 0
                    ? 'One per line, as Name: value. Stored encrypted and not shown again.'
                    : `Set now: ${paywall.upstreamHeaders.join(', ')}. Leave this empty to keep them; anything you enter replaces them.`
                }
              />
            </div>
          </Card>
        </Step>
        <Step shown={step === 1}>
          <Card title="What it costs">
            <Routes form={form} />
          </Card>
        </Step>
        <Step shown={step === 2}>
          <Card title="Who is paid">
            <div className="space-y-4">
              <Check form={form} name="testMode" label="Test mode" hint="Payments are simulated. No money moves." />
              <Choice
                form={form}
                name="network"
                label="Network"
                options={[
                  ['base-sepolia', 'Base Sepolia: test tokens'],
                  ['base', 'Base: real USDC'],
                ]}
              />
              <TextField
                form={form}
                name="recipient"
                label="Paid to"
                mono
                optional
                placeholder="0x…"
                hint={testMode ? 'Not needed in test mode.' : 'Empty: your own wallet here.'}
              />
            </div>
          </Card>
        </Step>
      </Form>
      {create.data !== undefined && (
        <Modal title="Your paywall is ready" open wide>
          <div className="space-y-4">
            <p>This line works as it stands:</p>
            <Code>{curlOf(create.data.paywall)}</Code>
            <Once
              secret={create.data.secret}
              lost="Make a new one on the paywall's page."
              note="Your API checks with this secret who paid. It is shown only now."
              close={() => go(`/paywalls/${create.data.paywall.id}`)}
            />
          </div>
        </Modal>
      )}
    </div>
  )
}

/** All three stay in the page: what was typed into one is kept while another is shown. */
function Step({ shown, children }: { shown: boolean; children: ReactNode }) {
  return <div hidden={!shown}>{children}</div>
}

function partOf(body: ReturnType<typeof toBody>, step: number): Partial<typeof body> {
  const fields: readonly string[] = STEPS[step]?.fields ?? []
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)))
}

/** Of a field as the service names it. */
function stepOf(named: string): number {
  const [first = ''] = named.replace(/^body\./, '').split('.')
  return Math.max(
    0,
    STEPS.findIndex(({ fields }) => (fields as readonly string[]).includes(first)),
  )
}

const WHOLE_ROUTE = /^(?:body\.)?routes\.\d{1,3}$/

/** What is wrong with a whole route is said beside its path. */
async function placed(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    const fault = toFault(error)
    const details = Object.fromEntries(
      Object.entries(fault.details).map(([name, text]) => [WHOLE_ROUTE.test(name) ? `${name}.path` : name, text]),
    )
    const { message, status, code, requestId, fields } = fault
    throw new Fault(message, { status, code, requestId, fields: { ...fields, details } })
  }
}
