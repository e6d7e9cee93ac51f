import { createHash } from 'node:crypto'
import { parsePattern } from '../kit/pattern.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { JsonSchema } from '../tools/model/tool.ts'

/**
 * Replaces what a generated example has in place of a real value, `"string"` and `0`, with one that fits the field's
 * name. Examples and enumerations of the document stay, and what is made fits its patterns. The same seed gives the same values.
 */
export function plausible(schema: JsonSchema, example: unknown, seed: string): unknown {
  const definitions = definitionsOf(schema)
  return filled({ definitions, seed }, example, flat(definitions, [schema]), '')
}

export function definitionsOf(schema: JsonSchema): Filling['definitions'] {
  return isRecord(schema['definitions']) ? schema['definitions'] : {}
}

interface Filling {
  definitions: Readonly<Record<string, unknown>>
  seed: string
}

type Schema = Readonly<Record<string, unknown>>

/** It follows the example, which is finite, and not the schema, which may refer to itself. */
function filled(filling: Filling, value: unknown, schemas: readonly Schema[], path: string): unknown {
  const { definitions } = filling
  if (Array.isArray(value)) {
    const items = flat(
      definitions,
      schemas.map((one) => one['items']),
    )
    return value.map((item, place) => {
      const at = `${path}/${String(place)}`
      return item === null && items.every(saysNothing) ? thingFor(at, filling.seed) : filled(filling, item, items, at)
    })
  }
  if (isRecord(value)) {
    const answer: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(value)) {
      const fields = flat(
        definitions,
        schemas.map(
          (one) => (isRecord(one['properties']) ? one['properties'][name] : undefined) ?? one['additionalProperties'],
        ),
      )
      answer[name] = filled(filling, field, fields, `${path}/${name}`)
    }
    return answer
  }
  if (!isPlaceholder(value) || schemas.length === 0 || schemas.some(hasOwnValues)) return value
  const made = typeof value === 'string' ? textFor(path, filling.seed) : numberFor(path, filling.seed)
  return schemas.every((one) => isWithin(one, made)) ? made : value
}

/** A document that leaves open what is in a list. */
function saysNothing(schema: Schema): boolean {
  return Object.keys(schema).every((word) => word === 'description' || word === 'title' || word.startsWith('x-'))
}

function thingFor(path: string, seed: string): Record<string, string> {
  return Object.fromEntries(['id', 'title', 'url'].map((name) => [name, textFor(`${path}/${name}`, seed)]))
}

/** The schemas that hold together, as the example was made: the first one of alternatives. */
export function flat(definitions: Filling['definitions'], schemas: readonly unknown[], depth = 0): Schema[] {
  if (depth > DEPTH_MAX) return []
  return schemas.filter(isRecord).flatMap((one) => {
    const ref = typeof one['$ref'] === 'string' ? definitions[one['$ref'].replace('#/definitions/', '')] : undefined
    const all: unknown[] = Array.isArray(one['allOf']) ? one['allOf'] : []
    const first = [one['oneOf'], one['anyOf']].map((list): unknown => (Array.isArray(list) ? list[0] : undefined))
    return [one, ...flat(definitions, [ref, ...all, ...first], depth + 1)]
  })
}

const DEPTH_MAX = 8

function isPlaceholder(value: unknown): boolean {
  if (value === 0) return true
  return typeof value === 'string' && value !== '' && 'string'.repeat(Math.ceil(value.length / 6)).startsWith(value)
}

function hasOwnValues(schema: Schema): boolean {
  return OWN_VALUES.some((word) => schema[word] !== undefined)
}

const OWN_VALUES = ['enum', 'const', 'example', 'examples', 'default', 'format', 'multipleOf']

function isWithin(schema: Schema, value: string | number): boolean {
  const at = (name: string, otherwise: number): number => (typeof schema[name] === 'number' ? schema[name] : otherwise)
  const { pattern } = schema
  // One that cannot be checked in linear time keeps the example.
  const parsed = typeof pattern === 'string' ? parsePattern(pattern) : null
  if (typeof parsed === 'string' || parsed?.matches(String(value)) === false) return false
  return typeof value === 'string'
    ? value.length >= at('minLength', 0) && value.length <= at('maxLength', Infinity)
    : value >= at('minimum', -Infinity) &&
        value <= at('maximum', Infinity) &&
        value > at('exclusiveMinimum', -Infinity) &&
        value < at('exclusiveMaximum', Infinity)
}

function textFor(path: string, seed: string): string {
  const { words, last, hex, pick } = fieldOf(path, seed)
  const found = TEXTS.find(([pattern]) => pattern.test(words))
  return found === undefined ? `Example ${last}` : found[1]({ hex, pick, last })
}

interface Field {
  hex: string
  last: string
  pick(list: string): string
}

/** By the words of a field's name, the most telling first. */
const TEXTS: readonly (readonly [RegExp, (field: Field) => string])[] = [
  [/\b(e mail|email|mail)\b/, ({ pick }) => `${pick(FIRST_NAMES).toLowerCase()}@example.com`],
  [/\b(url|uri|href|link|website|homepage|html url)$/, ({ hex }) => `https://example.com/${hex.slice(0, 8)}`],
  [/\b(phone|mobile|fax)\b/, ({ hex }) => `+1555010${String((parseInt(hex.slice(0, 4), 16) % 900) + 100)}`],
  [/\b(sha|hash|digest|checksum|etag|oid)\d{0,4}$/, ({ hex }) => hex.slice(0, 40)],
  [/\b(token|secret|key|password|signature|cursor|marker)$/, ({ hex }) => hex.slice(0, 24)],
  [/\b(at|date|time|timestamp|since|until)$/, ({ pick }) => `2026-0${pick('1 2 3 4 5 6')}-1${pick('1 4 7')}T09:30:00Z`],
  [/\byear$/, () => '2026'],
  [/\bmonth$/, ({ pick }) => `0${pick('1 2 3 4 5 6')}`],
  [/^day$/, ({ pick }) => `1${pick('1 4 7')}`],
  [/\bgranularity$/, () => 'daily'],
  [/\b(next|prev|previous|first|last) page$/, ({ hex }) => `https://example.com/pages?cursor=${hex.slice(0, 12)}`],
  [/\b(domain|host|hostname|dns name)s?$/, ({ pick }) => `${pick('www api shop')}.example.com`],
  [/\b(tag|label|topic|keyword)s$/, ({ pick }) => pick('urgent launch design billing')],
  [/\bregions$/, ({ pick }) => pick('eu-central us-east ap-south')],
  [/\b(ids?|uuid|guid|sid|number)$/, ({ hex }) => hex.slice(0, 12)],
  [/\b(ip|ip address)$/, ({ hex }) => `203.0.113.${String(parseInt(hex.slice(0, 2), 16))}`],
  [
    /\b(login|username|user name|slug|handle)$/,
    ({ pick, hex }) => `${pick(FIRST_NAMES).toLowerCase()}-${hex.slice(0, 4)}`,
  ],
  [/\b(user|owner|author|creator|person|full name)( name)?$/, ({ pick }) => `${pick(FIRST_NAMES)} ${pick(LAST_NAMES)}`],
  [/\b(first name|given name)$/, ({ pick }) => pick(FIRST_NAMES)],
  [/\b(last name|family name|surname)$/, ({ pick }) => pick(LAST_NAMES)],
  [/\bcity$/, ({ pick }) => pick('Lisbon Berlin Osaka Toronto Nairobi')],
  [/\bcountry( code)?$/, ({ pick }) => pick('PT DE JP CA KE')],
  [/\bcurrency( code)?$/, () => 'USD'],
  [/\b(language|locale|lang)( code)?$/, () => 'en'],
  [/\btime ?zone$/, () => 'UTC'],
  [/\bregion( slug)?$/, ({ pick }) => pick('eu-central us-east ap-south')],
  [/\b(address|street)$/, ({ pick }) => `${pick('12 27 48 105')} Harbour Street`],
  [/\bcolou?r$/, ({ hex }) => `#${hex.slice(0, 6)}`],
  [/\b(version|tag)( name)?$/, ({ pick }) => `1.${pick('2 4 7')}.${pick('0 1 3')}`],
  [/\b(branch|ref)$/, () => 'main'],
  [/\b(mime type|content type|media type)$/, () => 'application/json'],
  [/\b(path|file|file ?name)$/, ({ pick }) => `${pick('report notes invoice plan')}-2026.txt`],
  [/\b(status|state)$/, () => 'active'],
  [/\b(price|amount|cost|balance|total)$/, ({ pick }) => `${pick('4 12 25 99')}.${pick('00 50 90')}`],
  [
    /\b(title|subject|headline|summary)$/,
    ({ pick }) => `${pick('Quarterly Weekly Launch Design')} ${pick('review plan notes report')}`,
  ],
  [/\b(description|body|text|message|comment|note|content)$/, () => 'An example text, made up by the sandbox.'],
  [/\bname$/, ({ pick }) => `${pick('harbour summit meadow river')}-${pick('web data docs api')}`],
]

function numberFor(path: string, seed: string): number {
  const { words, hex } = fieldOf(path, seed)
  const random = parseInt(hex.slice(0, 8), 16)
  const [, make = (draw: number) => (draw % 48) + 1] = NUMBERS.find(([pattern]) => pattern.test(words)) ?? []
  return make(random)
}

const NUMBERS: readonly (readonly [RegExp, (random: number) => number])[] = [
  [/\bids?$/, (random) => 100_000 + (random % 9_000_000)],
  [/\b(at|time|timestamp|expires|reset)$/, (random) => 1_780_000_000 + (random % 10_000_000)],
  [/\byear$/, () => 2026],
  [/\bmonth$/, (random) => (random % 12) + 1],
  [/\b(lat|latitude)$/, (random) => (random % 80) + 0.5],
  [/\b(lon|lng|longitude)$/, (random) => (random % 170) + 0.25],
  [/\b(bytes|size|memory|disk)$/, (random) => 1_024 * ((random % 900) + 1)],
  [/\b(width|height)$/, (random) => 64 * ((random % 16) + 4)],
  [/\b(page|offset|version)$/, () => 1],
  [/\b(port)$/, () => 443],
  // Lists in examples have one item.
  [/\b(total|count)\b/, () => 1],
]

/** A field by its name, or by its list's name: an item of `/labels/0` is a label. */
function fieldOf(path: string, seed: string) {
  const names = path.split('/').filter((name) => name !== '' && !/^\d+$/.test(name))
  const words = (names.at(-1) ?? 'value')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase()
  const hex = createHash('sha256').update(`${seed} ${path}`).digest('hex')
  let drawn = 8
  const pick = (list: string): string => {
    const choices = list.split(' ')
    drawn += 4
    return choices[parseInt(hex.slice(drawn, drawn + 4), 16) % choices.length] ?? ''
  }
  return { words, last: words || 'value', hex, pick }
}

const FIRST_NAMES = 'Maria Kenji Amara Lukas Ines Omar Freya Diego'
const LAST_NAMES = 'Keller Tanaka Okafor Silva Novak Haddad Lind Costa'
