import { useState, type ReactNode } from 'react'
import { useForm } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { useAct, useAsk } from '../api/ask.ts'
import { toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Check, Choice, Form, TextArea, TextField } from '../parts/form.tsx'
import { Card, Code, PageHead } from '../parts/layout.tsx'
import { Modal } from '../parts/Modal.tsx'
import { Once } from '../parts/Once.tsx'
import { Failure, PageSkeleton } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { slugOf } from './assets/draft.ts'
import { curlOf, toBody, toDraft, type Paywall } from './paywalls/draft.ts'
import { Routes } from './paywalls/Routes.tsx'

/** Three steps from an API to a line that pays for it. */
export default function PaywallForm() {
  const { id } = useParams<{ id?: string }>()
  const paywall = useAsk('paywalls.get', { id: id ?? '' }, { enabled: id !== undefined })
  if (id === undefined) return <Wizard paywall={null} />
  if (paywall.error !== null && paywall.data === undefined) {
    return <Failure fault={paywall.error} again={() => void paywall.refetch()} />
  }
  return paywall.data === undefined ? <PageSkeleton /> : <Wizard paywall={paywall.data} />
}

const STEPS = ['Your API', 'Prices', 'Money'] as const

function Wizard({ paywall }: { paywall: Paywall | null }) {
  const [, go] = useLocation()
  const [step, setStep] = useState(0)
  const [slugIsOwn, setSlugIsOwn] = useState(paywall !== null)
  const create = useAct('paywalls.create', { changes: ['paywalls.'], quiet: true, once: true })
  const change = useAct('paywalls.change', { changes: ['paywalls.'], quiet: true })
  const form = useForm({ defaultValues: toDraft(paywall) })
  const last = step === STEPS.length - 1
  const testMode = form.watch('testMode')

  const save = async (): Promise<void> => {
    const body = toBody(form.getValues())
    if (paywall === null) {
      await create.mutateAsync(body)
      return
    }
    await change.mutateAsync({ id: paywall.id, body })
    say({ tone: 'good', text: 'Saved. Prices that buyers were told stand for ten minutes more.' })
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
        {STEPS.map((name, at) => (
          <li key={name}>
            <button
              type="button"
              aria-current={at === step ? 'step' : undefined}
              className={`flex items-center gap-2 rounded-md ${at === step ? 'font-semibold' : 'text-quiet hover:text-ink'}`}
              onClick={() => {
                setStep(at)
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
        aside={
          step > 0 ? (
            <Button
              onClick={() => {
                setStep(step - 1)
              }}
            >
              Back
            </Button>
          ) : undefined
        }
        submit={async () => {
          if (!last) {
            setStep(step + 1)
            return
          }
          try {
            await save()
          } catch (error) {
            // To where something is to be put right.
            const names = Object.keys(toFault(error).details)
            if (names.length > 0) setStep(Math.min(...names.map(stepOf)))
            throw error
          }
        }}
      >
        <Step shown={step === 0}>
          <Card title="What is behind it">
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
                  onInput={() => {
                    setSlugIsOwn(true)
                  }}
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
                label="Headers for it"
                rows={2}
                mono
                optional
                placeholder="Authorization: Bearer …"
                hint={
                  paywall === null || paywall.upstreamHeaders.length === 0
                    ? 'One a line, Name: value. Kept sealed and never shown again.'
                    : `There are ${paywall.upstreamHeaders.join(', ')}. Left empty, they stay; else these replace them.`
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
              <Check
                form={form}
                name="testMode"
                label="Test mode"
                hint="Payments are simulated: nobody pays, nobody is paid."
              />
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
        <Modal title="Your paywall is up" open wide>
          <div className="space-y-4">
            <p>This line works as it stands:</p>
            <Code>{curlOf(create.data.paywall)}</Code>
            <Once
              secret={create.data.secret}
              lost="Make a new one on the paywall's page."
              note="Your API checks with this secret who paid. It is shown only now."
              close={() => {
                go(`/paywalls/${create.data.paywall.id}`)
              }}
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

function stepOf(name: string): number {
  if (/^(body\.)?routes/.test(name)) return 1
  return /^(body\.)?(network|recipient|testMode)/.test(name) ? 2 : 0
}
