import { useState } from 'react'
import { useForm, type UseFormReturn } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { read, useAction, useRead } from '../api/procedures.ts'
import { InputFields, type FormValues } from '../parts/InputForm.tsx'
import { FieldRows } from '../parts/FieldRows.tsx'
import { shownFields } from '../parts/fields.ts'
import { AmountField, Choice, Form, saveEdited, TextArea, TextField } from '../parts/form.tsx'
import { Card, Page } from '../parts/layout.tsx'
import { Loaded } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { Config } from './assets/Config.tsx'
import { Examples } from './assets/Examples.tsx'
import { slugOf, versionFor } from '../parts/texts.ts'
import { NEW_DRAFT, toBody, toDraft, type Draft } from './assets/draft.ts'
import type { Asset } from './marketplace/RunPanel.tsx'

/** Creates or edits an asset, with a preview of the form that its buyers see. */
export default function AssetForm() {
  const { id } = useParams<{ id?: string }>()
  const asset = useRead('assets.get', { id: id ?? '' }, { enabled: id !== undefined })
  if (id === undefined) return <Create />
  return <Loaded of={asset}>{(data) => <Change asset={data} />}</Loaded>
}

function Create() {
  const [, go] = useLocation()
  const create = useAction('assets.create', { changes: ['assets.'], quiet: true, once: true })
  const form = useForm<Draft>({ defaultValues: NEW_DRAFT })
  return (
    <Page title="New asset" back={{ to: '/assets', name: 'Assets' }}>
      <Fields
        form={form}
        isNew
        act="Create draft"
        submit={async (draft) => {
          const { id } = await create.mutateAsync({ ...toBody(draft), slug: draft.slug, type: draft.type })
          toast({ tone: 'good', text: 'Draft created. Test it, then publish it.' })
          go(`/assets/${id}`)
        }}
      />
    </Page>
  )
}

function Change({ asset }: { asset: Asset }) {
  const [, go] = useLocation()
  const change = useAction('assets.change', { changes: ['assets.'], quiet: true })
  // The page also loads other people's changes, but the typed text belongs to the version that was opened.
  const [opened] = useState(asset)
  const { id } = opened
  const form = useForm<Draft>({ defaultValues: toDraft(opened) })
  return (
    <Page title={`Edit ${asset.name}`} back={{ to: `/assets/${id}`, name: asset.name }}>
      <Fields
        form={form}
        isNew={false}
        act="Save asset"
        submit={async (draft) => {
          await saveEdited(form, draft, {
            toBody: (of) => toBody(of, opened),
            merged: ['promptConfig', 'agentConfig', 'toolConfig'],
            save: async (changed) => {
              const current = await read('assets.get', { id })
              const version = versionFor(changed, { opened, current, toBody: (of) => toBody(toDraft(of), of) })
              await change.mutateAsync({ id, body: { ...changed, version } })
              toast({ tone: 'good', text: 'Asset saved. New runs use this version.' })
            },
          })
          go(`/assets/${id}`)
        }}
      />
    </Page>
  )
}

function Fields({
  form,
  isNew,
  act,
  submit,
}: {
  form: UseFormReturn<Draft>
  isNew: boolean
  act: string
  submit: (draft: Draft) => Promise<void>
}) {
  const [type, model] = form.watch(['type', 'pricing.model'])
  const [slugIsOwn, setSlugIsOwn] = useState(!isNew)
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Form form={form} act={act} submit={submit}>
        {isNew && <Types form={form} type={type} />}
        <Card title="Names">
          <div className="space-y-4">
            <div className="grid gap-4 sm:grid-cols-2">
              <TextField
                form={form}
                name="name"
                label="Name"
                onInput={(event) => {
                  if (!slugIsOwn) form.setValue('slug', slugOf(event.currentTarget.value))
                }}
              />
              <TextField
                form={form}
                name="slug"
                label="Slug"
                mono
                disabled={!isNew}
                hint={isNew ? 'Part of its URL. It cannot be changed later.' : undefined}
                onInput={() => setSlugIsOwn(true)}
              />
            </div>
            <TextField form={form} name="description" label="Description" hint="One sentence, for lists." />
            <TextArea form={form} name="longDescription" label="Details" rows={3} optional />
            <TextField form={form} name="tags" label="Tags" optional placeholder="seo, writing" />
          </div>
        </Card>
        <Card title="Inputs">
          <div className="space-y-4">
            <FieldRows form={form} list="inputSchema" name="input" />
            <label className="flex items-start gap-2.5">
              <input type="checkbox" {...form.register('sharesInputs')} className="mt-0.5 size-4 accent-accent" />
              <span>
                Share customers’ inputs with me
                <span className="block text-[0.8125rem] text-quiet">
                  Customers see this before they pay. Runs over the API share inputs only if the caller agrees.
                </span>
              </span>
            </label>
          </div>
        </Card>
        <Card title={{ prompt: 'Prompt', agent: 'Agent', tool: 'API' }[type]}>
          <div className="space-y-4">
            <Config form={form} type={type} />
          </div>
        </Card>
        <Card title="Price and output">
          <div className="grid gap-4 sm:grid-cols-3">
            <Choice
              form={form}
              name="pricing.model"
              label="Price"
              options={[
                ['per-run', 'Per run'],
                ['per-token', 'Per 1,000 tokens'],
                ['per-second', 'Per second'],
                ['free', 'Free'],
              ]}
            />
            {model !== 'free' && <AmountField form={form} name="pricing.amount" label="Amount" />}
            <Choice
              form={form}
              name="outputSchema.type"
              label="Output"
              options={[
                ['markdown', 'Markdown'],
                ['text', 'Text'],
                ['json', 'JSON'],
                ['file', 'File'],
              ]}
            />
          </div>
        </Card>
        <Examples key={type} form={form} type={type} />
      </Form>
      <aside aria-label="Preview" className="lg:sticky lg:top-20">
        <Preview form={form} />
      </aside>
    </div>
  )
}

const TYPES: readonly (readonly [Draft['type'], string, string])[] = [
  ['prompt', 'Prompt', 'A text with variables that runs on a model.'],
  ['agent', 'Agent', 'Your webhook does the work.'],
  ['tool', 'Tool', 'Your API is called with the inputs.'],
]

function Types({ form, type }: { form: UseFormReturn<Draft>; type: Draft['type'] }) {
  return (
    <fieldset className="grid gap-3 sm:grid-cols-3">
      <legend className="sr-only">Type</legend>
      {TYPES.map(([value, name, note]) => (
        <label
          key={value}
          className={`cursor-pointer rounded-xl border p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent ${value === type ? 'border-accent bg-accent-soft' : 'border-line hover:bg-side'}`}
        >
          <input type="radio" value={value} {...form.register('type')} className="sr-only" />
          <span className="block font-semibold">{name}</span>
          <span className="block text-[0.8125rem] text-quiet">{note}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Preview({ form }: { form: UseFormReturn<Draft> }) {
  const [name, fields] = form.watch(['name', 'inputSchema'])
  const [values, setValues] = useState<FormValues>({})
  return (
    <Card title="Preview">
      <p className="mb-4 text-base font-semibold break-words">{name === '' ? 'Untitled asset' : name}</p>
      <InputFields fields={shownFields(fields)} values={values} change={setValues} />
    </Card>
  )
}
