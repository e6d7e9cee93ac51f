import { invalid } from '../../kit/errors.ts'

/** The names that a template has in double braces, each once, in order. */
export function variablesOf(template: string): string[] {
  return [...new Set([...template.matchAll(VARIABLE)].map(([, name = '']) => name))]
}

/** Values are data: what looks like a variable in one of them stays as it is. What is absent is empty. */
export function render(template: string, values: Readonly<Record<string, unknown>>): string {
  const texts = new Map(Object.entries(values).map(([name, value]) => [name, textOf(value)]))
  let length = template.length
  // Before it is made: a long value that stands in a template a thousand times would fill the memory.
  for (const [, name = ''] of template.matchAll(VARIABLE)) {
    length += texts.get(name)?.length ?? 0
    if (length > RENDERED_MAX) {
      throw invalid({ [name]: `makes the prompt longer than ${String(RENDERED_MAX)} characters` })
    }
  }
  return template.replace(VARIABLE, (_, name: string) => texts.get(name) ?? '')
}

const RENDERED_MAX = 2_000_000

const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** As it reads: a text as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
