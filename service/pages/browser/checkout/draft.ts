import { remember, remembered } from '../../../ui-kit/watched.ts'
import type { CheckoutPage, Field } from '../../model.ts'
import { FILLED, type Raw } from './form.ts'
import type { Prefill } from './prefill.ts'

/** What the form's controls are read by. */
export type Control = Pick<Field, 'name' | 'type'>

/** The form's current values. */
export function rawOf(fields: readonly Control[], form: HTMLFormElement): Raw {
  return Object.fromEntries(
    fields.map(({ name, type }): [string, string | boolean] => {
      const control = form.elements.namedItem(name) as HTMLInputElement | null
      return [name, type === 'boolean' ? control?.checked === true : (control?.value ?? '')]
    }),
  )
}

/** The name of a form's draft: of each checkout, and of each link that fills it in. */
export function draftOf({ page, prefill }: { page: CheckoutPage; prefill: Prefill | null }): string {
  return `coinslot:draft:${page.checkout.id}${prefill?.key ?? ''}`
}

/** A form's values survive a reload of its tab; they are deleted with the tab or after the payment. */
export function saveDraft(draft: string, fields: readonly Control[], raw: Raw): void {
  const values = fields.map(({ name }) => [name, raw[name] ?? ''])
  const text = JSON.stringify(values)
  // If storage is disabled or full, the form works without a draft.
  if (text.length <= LONGEST) remember(draft, text, ofTab)
}

/** The link's values first, so that what the buyer typed stays; a locked value stands above both. */
export function fillFromDraft(
  draft: string,
  { values, locked }: Prefill,
  fields: readonly Control[],
  form: HTMLFormElement,
): void {
  fillIn(form, values)
  const saved = savedIn(draft)
  const typed = fields.flatMap(({ name }): [string, string | boolean][] => {
    const value = saved.get(name)
    const isKept = !locked.has(name) && (typeof value === 'string' || typeof value === 'boolean')
    return isKept ? [[name, value]] : []
  })
  fillIn(form, typed)
}

function fillIn(form: HTMLFormElement, values: Iterable<readonly [name: string, value: string | boolean]>): void {
  for (const [name, value] of values) {
    const control = form.elements.namedItem(name)
    if (typeof value === 'boolean') {
      if (control instanceof HTMLInputElement) control.checked = value
    } else if (control !== null && 'value' in control) {
      control.value = value
      if (control instanceof HTMLElement) control.dispatchEvent(new Event(FILLED))
    }
  }
}

export function dropDraft(draft: string): void {
  remember(draft, null, ofTab)
}

function savedIn(draft: string): ReadonlyMap<unknown, unknown> {
  try {
    const saved: unknown = JSON.parse(remembered(draft, ofTab) ?? '[]')
    return new Map(saved as [unknown, unknown][])
  } catch {
    return new Map()
  }
}

const ofTab = (): Storage => sessionStorage

const LONGEST = 200_000
