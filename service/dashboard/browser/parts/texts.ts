import { toAmount } from '../../../ui-kit/format.ts'

export { toAmount }

/*
 * Converts between a form's state, which is text, and the API's values. Both use the field names of the API's body, so
 * that the service's errors find their field.
 */
export type Kind = 'text' | 'number' | 'lines' | 'headers'
/** The kind of text that each field of the form holds, for a body or a part of it. */
export type Kinds<Body> = Partial<Record<keyof NonNullable<Body>, Kind>>
export type TextsOf<Of extends Kinds<Record<string, unknown>>> = Record<keyof Of & string, string>

/** The texts of the existing values; `usual` has the defaults for missing ones. */
export function toTexts<const Of extends Kinds<Record<string, unknown>>>(
  kinds: Of,
  values: object | null,
  usual: object = {},
): TextsOf<Of> {
  const texts = Object.keys(kinds).map((name) => {
    const value = (values as Record<string, unknown> | null)?.[name] ?? (usual as Record<string, unknown>)[name]
    return [name, textOf(value)] as const
  })
  return Object.fromEntries(texts) as TextsOf<Of>
}

/** An empty text becomes null, which the API takes for "none". */
export function fromTexts<Of extends Kinds<Record<string, unknown>>>(kinds: Of, texts: TextsOf<Of>) {
  const values = Object.entries(kinds).map(([name, kind]) => [name, FROM[kind ?? 'text'](texts[name] ?? '')] as const)
  return Object.fromEntries(values) as { [Name in keyof Of]: ReturnType<(typeof FROM)[Of[Name] & Kind]> }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join('\n')
  if (typeof value === 'object')
    return Object.entries(value)
      .map((pair) => pair.join(': '))
      .join('\n')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * JSON has null for a number that is not valid, and null often means "no limit". Its text is sent instead, which the service
 * refuses by the field's name.
 */
export function toJson(value: unknown): string {
  const isWrong = (part: unknown): boolean => typeof part === 'number' && !Number.isFinite(part)
  return JSON.stringify(value, (_, part: unknown) => (isWrong(part) ? String(part) : part)) ?? ''
}

/**
 * What was edited in a form: the parts of its body that differ from those when it was opened. Of the `merged` parts, of which the
 * API changes only the fields sent, only the edited fields; the others it replaces whole.
 */
export function changedOf<Body extends object>(
  body: Body,
  opened: Body,
  merged: readonly (keyof Body)[] = [],
): Partial<Body> {
  const names = (Object.keys(body) as (keyof Body)[]).filter((name) => toJson(body[name]) !== toJson(opened[name]))
  const changed = names.map((name) => {
    const [value, before] = [body[name], opened[name]]
    return [
      name,
      merged.includes(name) && isRecord(value) && isRecord(before) ? changedOf(value, before) : value,
    ] as const
  })
  return Object.fromEntries(changed) as Partial<Body>
}

/**
 * The version to send with a change: the current one, also where others have changed other parts meanwhile. Where they have changed
 * the same ones it is the one that was opened, and the service refuses the change.
 */
export function versionFor<Of extends { version: number | string }>(
  changed: object,
  { opened, current, toBody }: { opened: Of; current: Of; toBody: (of: Of) => object },
): Of['version'] {
  const others = changedOf(toBody(current), toBody(opened))
  return Object.keys(changed).some((name) => name in others) ? opened.version : current.version
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

export function linesOf(text: string, between: string | RegExp = '\n'): string[] {
  return text
    .split(between)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export function toHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim()] as const
    }),
  )
}

export function orNull(text: string): string | null {
  return text.trim() === '' ? null : text
}

const FROM = {
  text: orNull,
  number: (text: string) => (text.trim() === '' ? null : toAmount(text)),
  lines: (text: string) => linesOf(text),
  headers: toHeaders,
}

/**
 * The boxes of a coupon's form: first every checkout that it is limited to, also one that has ended or is not listed. A limit
 * without a box would be lost, and a coupon without limits is valid everywhere.
 */
export function boxesOf(
  listed: readonly { id: string; status: string; product: { name: string } }[],
  limitedTo: readonly string[],
): { id: string; name: string }[] {
  const boxes = listed.map(({ id, status, product: { name } }) => {
    const hasEnded = status === 'expired'
    return { id, name: hasEnded ? `${name} (ended)` : name, isOffered: !hasEnded && !limitedTo.includes(id) }
  })
  const limits = [...new Set(limitedTo)].map((id) => boxes.find((box) => box.id === id) ?? { id, name: id })
  return [...limits, ...boxes.filter(({ isOffered }) => isOffered)].map(({ id, name }) => ({ id, name }))
}

/** Makes the name of a field from its label, unlike the others. */
export function fieldNameOf(label: string, others: readonly string[]): string {
  if (label.trim() === '') return ''
  const plain =
    slugOf(label)
      .replaceAll('-', '_')
      .replace(/^[^a-z]+/, '')
      .slice(0, 60) || 'field'
  const isTaken = (name: string): boolean => others.includes(name) || name in Object.prototype
  let name = plain
  for (let count = 2; isTaken(name); count++) name = `${plain}_${String(count)}`
  return name
}

/** Makes the slug of an address from a name. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 100)
}
