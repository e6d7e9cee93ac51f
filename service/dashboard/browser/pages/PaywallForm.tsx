import { useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { useForm, type UseFormReturn } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { read, useAction, useRead } from '../api/procedures.ts'
import { Fault, toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Form, saveEdited, submitting, TextArea, TextField } from '../parts/form.tsx'
import { Card, Code, Page } from '../parts/layout.tsx'
import { Payout } from '../parts/Payout.tsx'
import { Modal } from '../parts/Modal.tsx'
import { OneTimeSecret } from '../parts/Secret.tsx'
import { Loaded } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { changedOf, slugOf, versionFor } from '../parts/texts.ts'
import { curlOf, toBody, toDraft, type Draft, type Paywall } from './paywalls/draft.ts'
import { Routes } from './paywalls/Routes.tsx'

/** Three steps from an API to a command that pays for it. */
export default function PaywallForm() {
  const { id } = useParams<{ id?: string }>()
  const paywall = useRead('paywalls.get', { id: id ?? '' }, { enabled: id !== undefined })
  if (id === undefined) return <Wizard paywall={null} />
  return <Loaded of={paywall}>{(data) => <Wizard paywall={data} />}</Loaded>
}

/** Each step with its fields, under the names of the API's body. */
const STEPS: readonly { name: string; fields: readonly (keyof Draft)[] }[] = [
  { name: 'Your API', fields: ['name', 'slug', 'upstreamUrl', 'upstreamHeaders'] },
  { name: 'Prices', fields: ['routes'] },
  { name: 'Payout', fields: ['network', 'recipient', 'testMode'] },
]

function Wizard({ paywall }: { paywall: Paywall | null }) {
  const [, go] = useLocation()
  const [step, setStep] = useState(0)
  const create = useAction('paywalls.create', { changes: ['paywalls.'], quiet: true, once: true })
  const change = useAction('paywalls.change', { changes: ['paywalls.'], quiet: true })
  const check = useAction('paywalls.check', { quiet: true, looks: true })
  // The page also loads other people’s changes, but the typed text belongs to the version that was opened.
  const [opened] = useState(paywall)
  const form = useForm({ defaultValues: toDraft(opened) })
  const last = step === STEPS.length - 1

  /** Shown before the error is set at its field, because a hidden field cannot get the focus. */
  const show = (next: number): void => flushSync(() => setStep(next))
  /** Goes back at once; goes forward only past steps that the service accepts. */
  const goTo = async (target: number): Promise<void> => {
    const body = toBody(form.getValues())
    const changed = opened === null ? body : changedOf(body, toBody(toDraft(opened)))
    for (let at = step; at < target; at++) {
      show(at)
      await withPathFaults(check.mutateAsync({ id: opened?.id ?? null, body: partOf(changed, at) }))
    }
    show(target)
  }
  const save = async (): Promise<void> => {
    if (opened === null) {
      await create.mutateAsync(toBody(form.getValues()))
      return
    }
    const { id } = opened
    await saveEdited(form, form.getValues(), {
      toBody,
      save: async (changed) => {
        const current = await read('paywalls.get', { id })
        const version = versionFor(changed, { opened, current, toBody: toShownBody })
        await change.mutateAsync({ id, body: { ...changed, version } })
        toast({ tone: 'good', text: 'Paywall saved. Buyers can pay the old prices for ten more minutes.' })
      },
    })
    go(`/paywalls/${id}`)
  }
  return (
    <Page
      narrow
      title={paywall === null ? 'New paywall' : `Edit ${paywall.name}`}
      back={
        paywall === null ? { to: '/paywalls', name: 'Paywalls' } : { to: `/paywalls/${paywall.id}`, name: paywall.name }
      }
    >
      <StepList
        current={step}
        choose={(at) => {
          if (at < step) setStep(at)
          else void submitting(form, () => goTo(at))()
        }}
      />
      <Form
        form={form}
        act={last ? (paywall === null ? 'Create paywall' : 'Save paywall') : 'Next'}
        aside={step > 0 ? <Button onClick={() => setStep(step - 1)}>Back</Button> : undefined}
        submit={async () => {
          if (!last) {
            await goTo(step + 1)
            return
          }
          try {
            await withPathFaults(save())
          } catch (error) {
            // Shows the step that has the error.
            const names = Object.keys(toFault(error).details)
            if (names.length > 0) show(Math.min(...names.map(stepOf)))
            throw error
          }
        }}
      >
        <Step shown={step === 0}>
          <ApiFields form={form} paywall={paywall} />
        </Step>
        <Step shown={step === 1}>
          <Card title="Prices">
            <Routes form={form} />
          </Card>
        </Step>
        <Step shown={step === 2}>
          <Payout form={form} />
        </Step>
      </Form>
      {create.data !== undefined && (
        <Modal title="New paywall" open wide>
          <div className="space-y-4">
            <p>Try it with this command:</p>
            <Code>{curlOf(create.data.paywall)}</Code>
            <OneTimeSecret
              secret={create.data.secret}
              lost="Rotate the secret on the paywall's page."
              note="Your API checks with this secret who paid. Copy it now: it is not shown again."
              close={() => go(`/paywalls/${create.data.paywall.id}`)}
            />
          </div>
        </Modal>
      )}
    </Page>
  )
}

function StepList({ current, choose }: { current: number; choose: (step: number) => void }) {
  return (
    <ol className="flex flex-wrap gap-x-5 gap-y-2">
      {STEPS.map(({ name }, at) => (
        <li key={name}>
          <button
            type="button"
            aria-current={at === current ? 'step' : undefined}
            className={`flex items-center gap-2 rounded-md ${at === current ? 'font-semibold' : 'text-quiet hover:text-ink'}`}
            onClick={() => choose(at)}
          >
            <span
              className={`flex size-6 items-center justify-center rounded-full text-xs font-semibold ${at === current ? 'bg-accent text-on-accent' : 'bg-sunk'}`}
            >
              {at + 1}
            </span>
            {name}
          </button>
        </li>
      ))}
    </ol>
  )
}

function ApiFields({ form, paywall }: { form: UseFormReturn<Draft>; paywall: Paywall | null }) {
  const [slugIsOwn, setSlugIsOwn] = useState(paywall !== null)
  return (
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
            hint="Part of the public URL."
            onInput={() => setSlugIsOwn(true)}
          />
        </div>
        <TextField form={form} name="upstreamUrl" label="API URL" mono placeholder="https://api.example.com" />
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
  )
}

/** All three steps stay mounted, so that typed text is not lost when another one is shown. */
function Step({ shown, children }: { shown: boolean; children: ReactNode }) {
  return <div hidden={!shown}>{children}</div>
}

/** The values of the headers are not shown: their names say whether others have changed them. */
function toShownBody(paywall: Paywall) {
  return { ...toBody(toDraft(paywall)), upstreamHeaders: paywall.upstreamHeaders }
}

function partOf(body: Partial<ReturnType<typeof toBody>>, step: number): typeof body {
  const fields: readonly string[] = STEPS[step]?.fields ?? []
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)))
}

/** The step of a field, by the service's name for it. */
function stepOf(named: string): number {
  const [first = ''] = named.replace(/^body\./, '').split('.')
  return Math.max(
    0,
    STEPS.findIndex(({ fields }) => (fields as readonly string[]).includes(first)),
  )
}

const WHOLE_ROUTE = /^(?:body\.)?routes\.\d{1,3}$/

/** An error of a whole route is shown at its path. */
async function withPathFaults(work: Promise<unknown>): Promise<void> {
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
