import { remember, remembered } from '../../../ui-kit/watched.ts'
import type { Field } from '../../model.ts'
import type { Raw } from './form.ts'

/** The form's current values. */
export function rawOf(fields: readonly Field[], form: HTMLFormElement): Raw {
  return Object.fromEntries(
    fields.map(({ name, type }): [string, string | boolean] => {
      const control = form.elements.namedItem(name) as HTMLInputElement | null
      return [name, type === 'boolean' ? control?.checked === true : (control?.value ?? '')]
    }),
  )
}

/** A form's values survive a reload of its tab; they are deleted with the tab or after the payment. */
export function saveDraft(checkoutId: string, fields: readonly Field[], raw: Raw): void {
  // A file has to be chosen again.
  const values = fields.filter(({ type }) => type !== 'file').map(({ name }) => [name, raw[name] ?? ''])
  const text = JSON.stringify(values)
  // If storage is disabled or full, the form works without a draft.
  if (text.length <= LONGEST) remember(nameOf(checkoutId), text, ofTab)
}

export function fillFromDraft(checkoutId: string, fields: readonly Field[], form: HTMLFormElement): void {
  const draft = draftOf(checkoutId)
  for (const { name, type } of fields) {
    const value = draft.get(name)
    const control = form.elements.namedItem(name) as HTMLInputElement | null
    if (control === null || type === 'file') continue
    if (typeof value === 'boolean') control.checked = value
    else if (typeof value === 'string') control.value = value
  }
}

export function dropDraft(checkoutId: string): void {
  remember(nameOf(checkoutId), null, ofTab)
}

function draftOf(checkoutId: string): ReadonlyMap<unknown, unknown> {
  try {
    const saved: unknown = JSON.parse(remembered(nameOf(checkoutId), ofTab) ?? '[]')
    return new Map(saved as [unknown, unknown][])
  } catch {
    return new Map()
  }
}

const ofTab = (): Storage => sessionStorage

function nameOf(checkoutId: string): string {
  return `coinslot:draft:${checkoutId}`
}

const LONGEST = 200_000
