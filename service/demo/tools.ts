import { isRecord } from '../kit/schema/merge.ts'
/** What the demo creators answer with a 400. */
export class DemoFault extends Error {}

/** What the demo creators' APIs answer: small, useful, and computed right here. */
export type Tool = (given: Readonly<Record<string, unknown>>) => unknown

export const TOOLS: Readonly<Record<string, Tool>> = {
  'text-statistics': ({ text }) => statistics(textOf('text', text)),
  'unit-converter': ({ value, from, to }) => convert(numberOf('value', value), textOf('from', from), textOf('to', to)),
  'json-to-csv': ({ rows }) => ({ csv: toCsv(rows) }),
  'loan-calculator': ({ principal, ratePercent, years }) =>
    loan(numberOf('principal', principal), numberOf('ratePercent', ratePercent), numberOf('years', years)),
  'colour-palette': ({ colour }) => palette(textOf('colour', colour)),
}

function statistics(text: string) {
  const words = wordsOf(text)
  const sentences = text.split(/[.!?](?:\s|$)/).filter((sentence) => sentence.trim() !== '').length
  const top = counted(words.filter((word) => word.length > 3)).slice(0, 5)
  return {
    characters: Array.from(text).length,
    words: words.length,
    sentences,
    readingSeconds: Math.ceil((words.length / 230) * 60),
    topWords: top.map(([word, count]) => ({ word, count })),
  }
}

/** How often each word occurs, the most frequent first. */
export function counted(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? []
}

/** Each unit as so many of the first of its kind. */
const UNITS: readonly Readonly<Record<string, number>>[] = [
  { m: 1, km: 1000, cm: 0.01, mm: 0.001, mi: 1609.344, yd: 0.9144, ft: 0.3048, in: 0.0254 },
  { kg: 1, g: 0.001, t: 1000, lb: 0.45359237, oz: 0.028349523125 },
  { l: 1, ml: 0.001, gal: 3.785411784, pt: 0.473176473 },
  { s: 1, min: 60, h: 3600, d: 86_400 },
]

function convert(value: number, from: string, to: string) {
  const result = isTemperature(from) && isTemperature(to) ? temperature(value, from, to) : scaled(value, from, to)
  return { value, from, to, result: Number(result.toPrecision(10)) }
}

function scaled(value: number, from: string, to: string): number {
  const kind = UNITS.find((units) => from in units && to in units)
  if (kind === undefined) throw new DemoFault(`${from} cannot be converted to ${to}`)
  return (value * (kind[from] ?? 1)) / (kind[to] ?? 1)
}

function isTemperature(unit: string): boolean {
  return unit === 'C' || unit === 'F' || unit === 'K'
}

function temperature(value: number, from: string, to: string): number {
  const kelvin = from === 'C' ? value + 273.15 : from === 'F' ? ((value - 32) * 5) / 9 + 273.15 : value
  return to === 'C' ? kelvin - 273.15 : to === 'F' ? ((kelvin - 273.15) * 9) / 5 + 32 : kelvin
}

function toCsv(rows: unknown): string {
  if (!Array.isArray(rows) || !rows.every(isRecord)) throw new DemoFault('rows must be a list of objects')
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))]
  return lines.map((line) => line.map(csvCell).join(',')).join('\r\n')
}

function csvCell(value: unknown): string {
  const text = value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function loan(principal: number, ratePercent: number, years: number) {
  const months = Math.round(years * 12)
  if (principal <= 0 || months < 1 || ratePercent < 0) throw new DemoFault('principal and years must be more than 0')
  const rate = ratePercent / 1200
  const monthly = rate === 0 ? principal / months : (principal * rate) / (1 - (1 + rate) ** -months)
  const round = (value: number): number => Math.round(value * 100) / 100
  return {
    monthly: round(monthly),
    months,
    total: round(monthly * months),
    interest: round(monthly * months - principal),
  }
}

/** The colour lighter and darker, and the one opposite. */
function palette(colour: string) {
  const digits = /^#?([0-9a-f]{6})$/i.exec(colour)?.[1]
  if (digits === undefined) throw new DemoFault('colour must be like #1e90ff')
  const channels = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  const mixed = (target: number, part: number): string => toHex(channels.map((one) => one + (target - one) * part))
  return {
    base: toHex(channels),
    lighter: [0.25, 0.5, 0.75].map((part) => mixed(255, part)),
    darker: [0.25, 0.5, 0.75].map((part) => mixed(0, part)),
    opposite: toHex(channels.map((one) => 255 - one)),
  }
}

function toHex(channels: readonly number[]): string {
  return `#${channels.map((one) => Math.round(one).toString(16).padStart(2, '0')).join('')}`
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new DemoFault(`${name} is missing`)
  return value
}

/** From a query it comes as text. */
function numberOf(name: string, value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new DemoFault(`${name} must be a number`)
  return number
}
