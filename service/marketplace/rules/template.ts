/** The names that a template has in double braces, each once, in order. */
export function variablesOf(template: string): string[] {
  return [...new Set([...template.matchAll(VARIABLE)].map(([, name = '']) => name))]
}

/** Values are data: what looks like a variable in one of them stays as it is. What is absent is empty. */
export function render(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(VARIABLE, (_, name: string) => (Object.hasOwn(values, name) ? textOf(values[name]) : ''))
}

const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** As it reads: a text as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
