import { parse } from 'lossless-json'
import { invalid } from './errors.ts'
import { shapeOf } from './json-shape.ts'
import { endOfRun, startOfRun } from './text.ts'

/**
 * A number that JavaScript cannot hold as it was written, like 1.0000000000000001. It is an object, so every
 * schema that wants a number refuses it instead of rounding it; in free-form data it still serialises.
 */
class InexactNumber extends Number {}

/**
 * JSON from outside. How deep it nests and how long its numbers are is bounded before it is parsed: what is
 * done with it later, a schema, a hash, another parser, may then recurse. All of it takes time in proportion to the text.
 */
export function readJson(text: string): unknown {
  const shape = shapeOf(text)
  if (typeof shape === 'string') throw invalid({ body: shape }, 'invalid_json')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson(text)
  }
  if (!shape.mayRound) return value
  try {
    return parse(text, null, { parseNumber })
  } catch (error) {
    throw refusal(text, 'must not repeat a key', error)
  }
}

/** The same text again, by a parser that says where it stopped. */
function notJson(text: string): Error {
  try {
    parse(text)
  } catch (error) {
    return refusal(text, 'must be JSON', error)
  }
  return invalid({ body: 'must be JSON' }, 'invalid_json')
}

function refusal(text: string, fault: string, error: unknown): Error {
  const position = /at position (\d{1,15})$/.exec(error instanceof Error ? error.message : '')?.[1]
  if (position === undefined) return invalid({ body: fault }, 'invalid_json')
  const before = text.slice(0, Number(position))
  const line = before.split('\n').length
  const column = before.length - before.lastIndexOf('\n')
  const details = { body: `${fault}: see line ${String(line)}, column ${String(column)}` }
  return invalid(details, 'invalid_json', { line, column })
}

function parseNumber(literal: string): number | InexactNumber {
  const value = Number(literal)
  return sameNumber(literal, String(value)) ? value : new InexactNumber(value)
}

/** Whether two decimal literals say the same number, digit for digit. */
function sameNumber(a: string, b: string): boolean {
  const left = normalise(a)
  const right = normalise(b)
  return left !== null && right !== null && left.digits === right.digits && left.exponent === right.exponent
}

function normalise(literal: string): { digits: string; exponent: number } | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', power = '0'] = match
  const all = whole + fraction
  const end = startOfRun(all, '0')
  const digits = all.slice(Math.min(endOfRun(all, '0'), end), end)
  if (digits === '') return { digits: '0', exponent: 0 }
  return { digits: sign + digits, exponent: Number(power) - fraction.length + (all.length - end) }
}
