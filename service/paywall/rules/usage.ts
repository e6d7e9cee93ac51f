import { jsonOrUndefined } from '../../kit/json-shape.ts'
import type { Tokens } from './pricing.ts'

/*
 * How many tokens a call used, as its upstream reports it: OpenAI and compatible APIs, Anthropic, Google, Ollama. A
 * stream reports it in one of its last events, or the input first and the output later.
 */

/** Null when the answer reports no usage. */
export function usageIn(json: unknown): Tokens | null {
  // A list: the events of a stream that were sent as one document.
  const found = [json].flat().reduce<Found>((all, event) => larger(all, looked(event, 0)), NOTHING)
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

interface Found {
  input: number | null
  output: number | null
}

function looked(json: unknown, depth: number): Found {
  if (typeof json !== 'object' || json === null || depth > 2) return NOTHING
  const said = json as Record<string, unknown>
  const own: Found = {
    input: counted(said, INPUTS, MORE_INPUTS),
    output: counted(said, OUTPUTS, MORE_OUTPUTS),
  }
  return HOLDERS.reduce<Found>((found, name) => larger(found, looked(said[name], depth + 1)), own)
}

const NOTHING: Found = { input: null, output: null }
const INPUTS = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'prompt_eval_count']
const OUTPUTS = ['completion_tokens', 'output_tokens', 'candidatesTokenCount', 'eval_count']
/** What Anthropic reads from its cache or writes there, and Google's tools and thoughts: not part of the numbers above. */
const MORE_INPUTS = ['cache_creation_input_tokens', 'cache_read_input_tokens', 'toolUsePromptTokenCount']
const MORE_OUTPUTS = ['thoughtsTokenCount']
/** Where usage is reported: next to the answer, or in a stream's event about the message. */
const HOLDERS = ['usage', 'usageMetadata', 'message', 'response']

function counted(said: Record<string, unknown>, names: readonly string[], more: readonly string[]): number | null {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
  const first = names.map((name) => said[name]).find(isCount)
  const others = more.map((name) => said[name]).filter(isCount)
  if (first === undefined && others.length === 0) return null
  return others.reduce((sum, value) => sum + value, first ?? 0)
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
