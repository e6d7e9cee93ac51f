import type { Input, Output } from '../api/procedures.ts'
import type { FormField } from '../../../ui-kit/format.ts'
import { fromTexts, linesOf, toTexts, type Kinds, type TextsOf } from './texts.ts'

type FieldBody = Input<'assets.create'>['inputSchema'][number]
type Field = Output<'checkouts.get'>['fields'][number]

const FIELD = {
  name: 'text',
  label: 'text',
  placeholder: 'text',
  options: 'lines',
  description: 'text',
} as const satisfies Kinds<FieldBody>

/** A field of a buyer's form, as the form that edits it holds it. */
export interface FieldDraft extends TextsOf<typeof FIELD> {
  /** Stays while the name is edited. A stored field's is the name under which it is stored. */
  key: string
  type: FieldBody['type']
  required: boolean
  /** `field` is the key of another one. Without it this one is always shown. */
  showIf: { field: string; equals: string }
}

export function newField(): FieldDraft {
  const key = crypto.randomUUID()
  return { ...toTexts(FIELD, null), key, type: 'text', required: true, showIf: ALWAYS }
}

const ALWAYS = { field: '', equals: '' }

export function toFieldDraft(field: Field): FieldDraft {
  const { type, required, showIf } = field
  return {
    ...toTexts(FIELD, field),
    key: field.name,
    type,
    required,
    showIf: showIf === undefined ? ALWAYS : { field: showIf.field, equals: String(showIf.equals) },
  }
}

/** `before`: the fields that are edited. Settings that were made over the API and are not shown here stay. */
export function toFields(drafts: readonly FieldDraft[], before: readonly Field[] = []): FieldBody[] {
  const known = new Map(before.map((field) => [field.name, field]))
  return drafts.map((draft) => {
    const before = known.get(draft.key) ?? null
    const { default: preset = null, min = null, max = null, pattern = null, patternMessage = null } = before ?? {}
    const unseen = before?.type === draft.type ? { default: preset, min, max, pattern, patternMessage } : {}
    const { name, label, type, required } = draft
    const { options, ...texts } = fromTexts(FIELD, draft)
    const condition = conditionOf(draft.showIf, drafts)
    return {
      ...unseen,
      ...texts,
      name,
      label,
      type,
      required,
      options: type === 'select' ? options : null,
      ...condition,
    }
  })
}

/** As a form shows them, each under its key: what was filled in stays while a name is edited. */
export function shownFields(drafts: readonly FieldDraft[]): FormField[] {
  const keyed = drafts.map((draft) => ({ ...draft, name: draft.key }))
  return keyed.map(({ showIf, ...field }) => ({
    ...field,
    options: linesOf(field.options),
    ...conditionOf(showIf, keyed),
  }))
}

/** None where the field that it depends on was removed. A yes or no is stored as such, and typed as a text. */
function conditionOf({ field, equals }: FieldDraft['showIf'], drafts: readonly FieldDraft[]) {
  const above = drafts.find(({ key }) => key === field)
  if (above === undefined) return {}
  const { name, type } = above
  return { showIf: { field: name, equals: type === 'boolean' && equals !== '' ? equals === 'true' : equals } }
}
