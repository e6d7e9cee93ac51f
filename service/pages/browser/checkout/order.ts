import { isRecord } from '../../../ui-kit/provider.ts'
import type { Field } from '../../model.ts'
import type { Choice } from './form.ts'

/** What an assistant's call ordered, as the link has it after its hash. Only the server can say whether it is valid. */
export interface Order {
  /** The signed text, which the server takes in place of an input. */
  text: string
  input: Readonly<Record<string, unknown>>
  choice: Choice
  /** The id of its payment, once there is one. */
  payment: string
  untilMs: number
}

/** `mistyped`: the link cannot be read. */
export type OrderEnd = 'expired' | 'mistyped'

/** Null for a link without an order. */
export function orderIn(hash: string): Order | 'mistyped' | null {
  if (!hash.startsWith(HASH)) return null
  const text = hash.slice(HASH.length)
  try {
    const binary = atob((text.split('.')[0] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
    const [operation, untilMs, input, choice] = JSON.parse(new TextDecoder().decode(bytes)) as unknown[]
    if (typeof operation !== 'string' || typeof untilMs !== 'number' || !isRecord(input)) return 'mistyped'
    return { text, input, choice: isRecord(choice) ? choice : {}, payment: operation.replace('op_', 'pay_'), untilMs }
  } catch {
    return 'mistyped'
  }
}

/** The end of the page's own address, so that a reload still knows the order. */
export function hashOf(order: Order | null): string {
  return order === null ? '' : HASH + order.text
}

const HASH = '#order='

/** The form's fields as the order has filled them in; those that it leaves out are not shown. */
export function orderedFields(fields: readonly Field[], { input }: Order): readonly Field[] {
  return fields
    .map((field) => ({ ...field, default: input[field.name] ?? field.default }))
    .filter((field) => field.default !== undefined && field.default !== null)
}
