import { jsonOrUndefined } from '../../kit/json-shape.ts'
import type { Tokens } from './pricing.ts'

/*
 * How many tokens a call used, as its upstream reports it: OpenAI and compatible APIs, Anthropic, Google, Ollama. A
 * stream reports it in one of its last events, or the input first and the output later.
 */

/** Null when the answer reports no usage. */
export function usageIn(json: unknown): Tokens | null {
  const found = Array.isArray(json)
    ? // Google's events of a stream, sent as one document.
      json.reduce<Found>((all, event) => larger(all, looked({ usageMetadata: metadataIn(event) }, 0)), NOTHING)
    : looked(json, 0)
  return found.input === null && found.output === null ? null : { input: found.input ?? 0, output: found.output ?? 0 }
}

/**
 * Of a document of JSON of which only the end is known: an object of usage in the outermost object, whose rest follows. Null
 * where it has none. Within a text every quotation mark is escaped, so what a model wrote is not taken for it.
 */
export function usageAtEnd(end: string): Tokens | null {
  for (const name of ['"usage"', '"usageMetadata"']) {
    const at = end.lastIndexOf(name)
    const usage = at < 0 ? null : usageIn(jsonOrUndefined(`{${end.slice(at)}`))
    if (usage !== null) return usage
  }
  return null
}

/** The same where it stands before the rest. */
export function usageAtStart(start: string): Tokens | null {
  for (const name of ['"usage"', '"usageMetadata"']) {
    const at = start.indexOf(name)
    const [, value] = at < 0 ? [] : (/^\s*:\s*(\{(?:[^{}]|\{[^{}]*\})*\})/.exec(start.slice(at + name.length)) ?? [])
    const usage = value === undefined ? null : usageIn(jsonOrUndefined(`${start.slice(0, at)}${name}:${value}}`))
    if (usage !== null) return usage
  }
  return null
}

function metadataIn(event: unknown): unknown {
  return typeof event === 'object' && event !== null && 'usageMetadata' in event ? event.usageMetadata : null
}

interface Found {
  input: number | null
  output: number | null
}

function looked(json: unknown, depth: number): Found {
  if (typeof json !== 'object' || json === null || depth > 2) return NOTHING
  const said = json as Record<string, unknown>
  const own: Found = {
    input: counted(said, INPUTS),
    output: counted(said, OUTPUTS),
  }
  return HOLDERS.reduce<Found>((found, name) => larger(found, looked(said[name], depth + 1)), own)
}

const NOTHING: Found = { input: null, output: null }
/**
 * The number of tokens, and what is counted apart from it: what Anthropic reads from its cache or writes there, and Google's
 * tools and thoughts. In the others' numbers all of it is included.
 */
const INPUTS: Counts = {
  prompt_tokens: [],
  input_tokens: ['cache_creation_input_tokens', 'cache_read_input_tokens'],
  promptTokenCount: ['toolUsePromptTokenCount'],
  prompt_eval_count: [],
}
const OUTPUTS: Counts = {
  completion_tokens: [],
  output_tokens: [],
  candidatesTokenCount: ['thoughtsTokenCount'],
  eval_count: [],
}
type Counts = Readonly<Record<string, readonly string[]>>
/** Where usage is reported: next to the answer, or in a stream's event about the message. */
const HOLDERS = ['usage', 'usageMetadata', 'message', 'response']

function counted(said: Record<string, unknown>, counts: Counts): number | null {
  for (const [name, apart] of Object.entries(counts)) {
    const found = [name, ...apart].map((one) => said[one]).filter(isCount)
    if (found.length > 0) return found.reduce((sum, one) => sum + one, 0)
  }
  return null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function larger(one: Found, other: Found): Found {
  return { input: most(one.input, other.input), output: most(one.output, other.output) }
}

function most(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.max(one, other)
}

/** Combines the reports of both parts of a stream. */
export function together(one: Tokens | null, other: Tokens | null): Tokens | null {
  if (one === null || other === null) return one ?? other
  return { input: Math.max(one.input, other.input), output: Math.max(one.output, other.output) }
}

/** All text in an answer, for counting tokens when no usage is reported. */
export function textIn(json: unknown): string {
  const texts: string[] = []
  const walk = (value: unknown, depth: number): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && depth < 32) {
      for (const inner of Object.values(value)) walk(inner, depth + 1)
    }
  }
  walk(json, 0)
  return texts.join(' ')
}
