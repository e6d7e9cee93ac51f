import type { Field } from '../../model.ts'
import type { Raw } from './form.ts'

/** What stands in the form now. */
export function rawOf(fields: readonly Field[], form: HTMLFormElement): Raw {
  return Object.fromEntries(
    fields.map(({ name, type }): [string, string | boolean] => {
      const control = form.elements.namedItem(name) as HTMLInputElement | null
      return [name, type === 'boolean' ? control?.checked === true : (control?.value ?? '')]
    }),
  )
}
