/**
 * Finds faults that a schema cannot express: an input that would overflow a stack, or that uses the names of inherited
 * properties. It walks without recursion, so that it cannot overflow the stack itself.
 */
export function faultOfShape(input: unknown): Readonly<Record<string, string>> | null {
  const open: { value: unknown; name: string; depth: number }[] = [{ value: input, name: '', depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name, depth } = next
    if (typeof value === 'string' && HALF.test(value))
      return { [top(name)]: 'must not contain an incomplete Unicode character' }
    if (typeof value !== 'object' || value === null) continue
    if (depth >= DEPTH_MAX) return { [top(name)]: `must be nested at most ${String(DEPTH_MAX)} deep` }
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__') return { [top(name)]: 'must not have a field "__proto__"' }
      open.push({ value: inner, name: name === '' ? key : name, depth: depth + 1 })
    }
  }
  return null
}

function top(name: string): string {
  return name === '' ? 'body' : name
}

const DEPTH_MAX = 32
/** Half of a UTF-16 surrogate pair, which neither an address nor UTF-8 can hold. */
const HALF = /\p{Surrogate}/u
