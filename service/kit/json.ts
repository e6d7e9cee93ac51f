import { parse } from 'lossless-json'
import { invalid } from './errors.ts'
import { shapeOf } from './json-shape.ts'
import { endOfRun, startOfRun } from './text.ts'

/**
 * A number that JavaScript cannot hold exactly, like 1.0000000000000001. It is an object, so every schema that expects
 * a number refuses it instead of rounding it. In free-form data it still serialises as it was written.
 */
class InexactNumber extends Number {}

/**
 * Reads JSON from outside. Its depth and the length of its numbers are checked before parsing, because later steps (a
 * schema, a hash, another parser) may recurse. The time is linear in the length of the text.
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

/** Parses the same text again with a parser that reports the position of the fault. */
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

/** Whether two decimal literals are the same number, digit for digit. */
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
