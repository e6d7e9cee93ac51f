import type { UseFormReturn } from 'react-hook-form'
import { FileField } from '../../parts/FileField.tsx'
import { Check, Choice, TextArea, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import type { Draft } from './draft.ts'

const KINDS: readonly (readonly [Draft['after']['kind'], string, string])[] = [
  ['webhook', 'Run a workflow', 'Each paid order is sent to your server or to n8n.'],
  ['chat', 'Hold a chat', 'Buyers pay for a plan of messages, and your workflow answers each.'],
  ['file', 'Hand out a file', 'A PDF, an archive, a picture: buyers download it.'],
  ['text', 'Show a text', 'A license key, instructions, an article.'],
  ['link', 'Show a link', 'A page or a folder elsewhere.'],
]

/** What a payment leads to. */
export function AfterPayment({ form }: { form: UseFormReturn<Draft> }) {
  const kind = form.watch('after.kind')
  return (
    <Card title="After the payment">
      <div className="space-y-4">
        <fieldset className="grid gap-2 sm:grid-cols-2">
          <legend className="sr-only">What the buyer gets</legend>
          {KINDS.map(([value, name, note]) => (
            <label
              key={value}
              className="flex cursor-pointer gap-2.5 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-sunk"
            >
              <input
                type="radio"
                value={value}
                {...form.register('after.kind')}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span>
                <span className="font-medium">{name}</span>
                <span className="block text-[0.8125rem] text-quiet">{note}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {kind === 'webhook' && <Workflow form={form} />}
        {kind === 'chat' && <Chat form={form} />}
        {kind === 'file' && (
          <FileField
            form={form}
            name="after.fileId"
            label="File"
            purpose="sale"
            hint="Only buyers can download it. At most 20 MB."
          />
        )}
        {kind === 'text' && (
          <TextArea
            form={form}
            name="after.text"
            label="Text"
            rows={8}
            hint="Markdown: # heading, **bold**, - list, [name](https://…). Only buyers see it."
          />
        )}
        {kind === 'link' && (
          <TextField
            form={form}
            name="after.url"
            label="Link"
            mono
            placeholder="https://…"
            hint="Only buyers see it. Anyone who has it can open it."
          />
        )}
        {kind !== 'chat' && (
          <TextField form={form} name="redirectUrl" label="Redirect URL" mono optional placeholder="https://…" />
        )}
        <Check form={form} name="notify.sale" label="Mail me each sale" />
        <Check
          form={form}
          name="notify.failure"
          label="Mail me failed deliveries"
          hint="After five mails in an hour, the others come together in one mail."
        />
      </div>
    </Card>
  )
}

function Chat({ form }: { form: UseFormReturn<Draft> }) {
  return (
    <>
      <CallbackField
        form={form}
        hint="Each message is sent there, with what was said before. In n8n, use the Paid Chat Trigger instead: it creates its checkout by itself."
      />
      <TextArea
        form={form}
        name="after.greeting"
        label="Greeting"
        rows={2}
        optional
        hint="Shown before the first message."
      />
      <Check form={form} name="refundOnFailure" label="Give a message back if it fails" />
    </>
  )
}

function CallbackField({ form, hint }: { form: UseFormReturn<Draft>; hint: string }) {
  return (
    <TextField
      form={form}
      name="callbackUrl"
      label="Callback URL"
      mono
      placeholder="https://n8n.example.com/webhook/…"
      hint={hint}
    />
  )
}

function Workflow({ form }: { form: UseFormReturn<Draft> }) {
  const capture = form.watch('capture')
  return (
    <>
      <CallbackField
        form={form}
        hint="Each paid order is sent there. In n8n, use the Pay-to-Run Trigger instead: it creates its checkout by itself."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice
          form={form}
          name="capture"
          label="Charge"
          options={[
            ['onPayment', 'Before the work starts'],
            ['onSuccess', 'Only if the work succeeds'],
            ['escrow', 'Only if it succeeds; a contract holds the money'],
          ]}
        />
        <Choice
          form={form}
          name="responseMode"
          label="Result"
          options={[
            ['immediately', 'Show that it was received'],
            ['lastNode', 'Show the answer to the buyer'],
          ]}
        />
      </div>
      {capture !== 'onPayment' ? (
        <TextField
          form={form}
          name="runSeconds"
          label="Time limit in seconds"
          inputMode="numeric"
          hint="Nothing is charged if the work has not succeeded by then."
        />
      ) : (
        <Check form={form} name="refundOnFailure" label="Refund if it fails" />
      )}
      <Check
        form={form}
        name="preflight"
        label="Check before each payment"
        hint="Your server gets an empty POST first. Nothing is charged if it does not answer."
      />
    </>
  )
}
