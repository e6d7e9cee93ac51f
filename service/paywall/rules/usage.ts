import type { Tokens } from './pricing.ts'

/*
 * How many tokens a call used, as its upstream reports it: OpenAI and compatible APIs, Anthropic, Google, Ollama. A
 * stream reports it in one of its last events, or the input first and the output later.
 */

/** Null when the answer reports no usage. */
export function usageIn(json: unknown): Tokens | null {
  const found = looked(json, 0)
  return found.input === null && found.output === null ? null : { input: found.input ?? 0, output: found.output ?? 0 }
}

interface Found {
  input: number | null
  output: number | null
}

function looked(json: unknown, depth: number): Found {
  if (typeof json !== 'object' || json === null || depth > 2) return NOTHING
  const said = json as Record<string, unknown>
  const own: Found = {
    input: count(said, INPUTS),
    output: count(said, OUTPUTS),
  }
  return HOLDERS.reduce<Found>((found, name) => larger(found, looked(said[name], depth + 1)), own)
}

const NOTHING: Found = { input: null, output: null }
const INPUTS = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'prompt_eval_count']
const OUTPUTS = ['completion_tokens', 'output_tokens', 'candidatesTokenCount', 'eval_count']
/** Where usage is reported: next to the answer, or in a stream's event about the message. */
const HOLDERS = ['usage', 'usageMetadata', 'message', 'response']

function count(said: Record<string, unknown>, names: readonly string[]): number | null {
  for (const name of names) {
    const value = said[name]
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  }
  return null
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
