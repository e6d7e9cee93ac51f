import { shownFields, type FieldDraft } from '../../parts/fields.ts'
import { toFormValues, toInputs, type FormValues } from '../../parts/InputForm.tsx'
import type { Asset } from '../marketplace/RunPanel.tsx'

/** An example as the form holds it. */
export interface ExampleDraft {
  title: string
  /** By the keys of the form's fields. */
  inputs: FormValues
  output: string
  /** Of a prompt: as it was set over the API. */
  model: string | null
}

type Shown = { title: string; inputs: Readonly<Record<string, unknown>>; output: string; model?: string | null }

export function toExampleDrafts({ promptConfig, agentConfig, toolConfig }: Asset): ExampleDraft[] {
  const shown: readonly Shown[] = (promptConfig ?? agentConfig ?? toolConfig)?.examples ?? []
  return shown.map(({ title, inputs, output, model = null }) => ({
    title,
    inputs: toFormValues(inputs),
    output,
    model,
  }))
}

/** An input that the form no longer has is left out. */
export function toExamples(drafts: readonly ExampleDraft[], inputs: readonly FieldDraft[]) {
  const fields = shownFields(inputs)
  const names = new Map(inputs.map(({ key, name }) => [key, name]))
  return drafts.map(({ inputs: values, model: _, ...texts }) => {
    const filled = Object.entries(toInputs(fields, values))
    return { ...texts, inputs: Object.fromEntries(filled.map(([key, value]) => [names.get(key) ?? key, value])) }
  })
}

/** A prompt's also name the model that wrote them. */
export function toPromptExamples(drafts: readonly ExampleDraft[], inputs: readonly FieldDraft[]) {
  return toExamples(drafts, inputs).map((example, at) => ({ ...example, model: drafts[at]?.model ?? null }))
}
