/*
 * Which fields of a form are shown, by the values of the fields above them. The server and the pages use the same code,
 * so it imports nothing.
 */

/** A field is shown only while the field above it is shown and has this value. */
export interface Condition {
  field: string
  equals: string | boolean
}

interface Conditional {
  name: string
  type: string
  options?: readonly string[] | null | undefined
  showIf?: Condition | undefined
}

/** The names of the fields that are shown with these values. */
export function shownNames<F extends Conditional>(
  fields: readonly F[],
  valueOf: (field: F) => unknown,
): ReadonlySet<string> {
  const shown = new Map<string, F>()
  for (const field of fields) {
    const { name, showIf } = field
    const above = showIf === undefined ? undefined : shown.get(showIf.field)
    if (showIf === undefined || (above !== undefined && holds(above.type, valueOf(above), showIf.equals))) {
      shown.set(name, field)
    }
  }
  return new Set(shown.keys())
}

/** An untouched box means no. */
function holds(type: string, value: unknown, equals: Condition['equals']): boolean {
  return type === 'boolean' ? (value === true) === equals : value === equals
}

/** Null where the condition can hold. `above`: the fields above this one. */
export function faultOfCondition({ field, equals }: Condition, above: readonly Conditional[]): string | null {
  const found = above.find(({ name }) => name === field)
  if (found?.type === 'boolean') return typeof equals === 'boolean' ? null : 'must be true or false'
  if (found?.type !== 'select') return 'must name a choice or a yes-or-no field above this one'
  return found.options?.includes(String(equals)) === true && typeof equals === 'string'
    ? null
    : `must be one of ${(found.options ?? []).join(', ')}`
}

/** For programs, which read it beside the field's own description. */
export function inWords({ field, equals }: Condition, required: boolean): string {
  return `${required ? 'Required' : 'Taken'} only if ${field} is ${JSON.stringify(equals)}.`
}
