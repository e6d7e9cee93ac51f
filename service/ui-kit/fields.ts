import type { Field } from '../kit/fields.ts'

/** A field that a seller or a creator asks to be filled in; what they did not say may be absent. */
export type AskedField = Pick<Field, 'name' | 'label' | 'type' | 'required'> & {
  [Name in Exclude<keyof Field, 'default'>]?: Field[Name] | undefined
} & { default?: unknown }

/** The text in a field before anybody typed. */
export function firstText({ default: value }: Pick<AskedField, 'default'>): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The service's words follow a field's name ("is required"); beside the field they stand alone. */
export function asSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
