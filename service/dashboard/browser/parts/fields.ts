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
  type: FieldBody['type']
  required: boolean
  /** Without a field it is always shown. */
  showIf: { field: string; equals: string }
}

export const NEW_FIELD: FieldDraft = {
  ...toTexts(FIELD, null),
  type: 'text',
  required: true,
  showIf: { field: '', equals: '' },
}

export function toFieldDraft(field: Field): FieldDraft {
  const { type, required, showIf } = field
  return {
    ...toTexts(FIELD, field),
    type,
    required,
    showIf: showIf === undefined ? NEW_FIELD.showIf : { field: showIf.field, equals: String(showIf.equals) },
  }
}

/** `before`: the fields that are edited. Settings that were made over the API and are not shown here stay. */
export function toFields(drafts: readonly FieldDraft[], before: readonly Field[] = []): FieldBody[] {
  const known = new Map(before.map((field) => [field.name, field]))
  return drafts.map((draft) => {
    const before = known.get(draft.name) ?? null
    const { default: preset = null, min = null, max = null, pattern = null, patternMessage = null } = before ?? {}
    const unseen = before?.type === draft.type ? { default: preset, min, max, pattern, patternMessage } : {}
    const { name, label, type, required } = draft
    const { options, ...texts } = fromTexts(FIELD, draft)
    const isKnown = draft.showIf.field !== '' && drafts.some((one) => one.name === draft.showIf.field)
    const showIf = isKnown ? { showIf: conditionOf(draft.showIf, drafts) } : {}
    return { ...unseen, ...texts, name, label, type, required, options: type === 'select' ? options : null, ...showIf }
  })
}

/** As a form shows them. */
export function shownFields(drafts: readonly FieldDraft[]): FormField[] {
  return drafts.map(({ showIf, ...field }) => ({
    ...field,
    options: linesOf(field.options),
    ...(showIf.field === '' ? {} : { showIf: conditionOf(showIf, drafts) }),
  }))
}

/** A yes or no is stored as such, and typed as a text. */
function conditionOf(
  { field, equals }: FieldDraft['showIf'],
  drafts: readonly FieldDraft[],
): NonNullable<FieldBody['showIf']> {
  const isBox = drafts.find(({ name }) => name === field)?.type === 'boolean'
  return { field, equals: isBox && equals !== '' ? equals === 'true' : equals }
}
