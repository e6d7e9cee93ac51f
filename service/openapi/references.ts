/** What a document may have before any of it is used. */
export interface DocumentLimits {
  readonly nodes: number
  readonly depth: number
  readonly operations: number
  /** How many fields references with additions may copy together. */
  readonly copies: number
}

export const DOCUMENT_LIMITS: DocumentLimits = { nodes: 1_500_000, depth: 150, operations: 10_000, copies: 1_000_000 }

type Node = Record<string, unknown>

/** Where a reference stands. */
export interface Site {
  readonly parent: Node
  readonly key: string
}

/**
 * Looks at all of a parsed document once, and mends what no later step should meet: names that change objects, and
 * characters that a database refuses. It walks without recursion, and a part that stands in many places (an alias of YAML)
 * is looked at once, so the time grows with the document's size. Answers its references, or what is wrong and where.
 *
 * This function and `linked` are also run from their text in another thread: they use nothing from outside.
 */
export function surveyed(document: unknown, limits: DocumentLimits): { fault: string } | { sites: Site[] } {
  interface Step {
    node: Node
    depth: number
    key: string
    up: Step | null
    /** Below an example or a default, where nothing is a reference. */
    isLiteral: boolean
  }
  const LITERALS = new Set(['example', 'examples', 'default', 'enum', 'const'])
  // Below these, keys are the document's own names and not the specification's words.
  const NAMED = new Set([
    'properties',
    'patternProperties',
    'paths',
    'responses',
    'schemas',
    'definitions',
    'parameters',
  ])
  const placeOf = (step: Step): string => {
    const keys: string[] = []
    for (let at: Step | null = step; at !== null && at.up !== null; at = at.up)
      keys.push(at.key.slice(0, 60).replaceAll('~', '~0').replaceAll('/', '~1'))
    keys.reverse()
    return ['#', ...(keys.length > 12 ? [...keys.slice(0, 10), '…'] : keys)].join('/')
  }
  const clean = (text: string): string => text.replaceAll('\u0000', '\ufffd').replaceAll(/\p{Cs}/gu, '\ufffd')
  const isObject = (value: unknown): value is Node => typeof value === 'object' && value !== null

  if (!isObject(document) || Array.isArray(document)) return { fault: 'it is not an object' }
  const { paths } = document
  if (!isObject(paths) || Array.isArray(paths)) return { fault: '#/paths must be an object with the operations' }
  let operations = 0
  for (const item of Object.values(paths).filter(isObject))
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) if (Object.hasOwn(item, method)) operations++
  if (operations > limits.operations) return { fault: `#/paths has more than ${String(limits.operations)} operations` }

  const sites: Site[] = []
  const seen = new Set<unknown>([document])
  const open: Step[] = [{ node: document, depth: 0, key: '', up: null, isLiteral: false }]
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { node, depth } = step
    const isNamed = NAMED.has(step.key) && !Array.isArray(node)
    for (const key of Object.keys(node)) {
      const value = node[key]
      const name = clean(key)
      if (key === '__proto__' || name !== key) Reflect.deleteProperty(node, key)
      if (key === '__proto__') continue
      if (name !== key) node[name] = value
      if (typeof value === 'string') {
        const cleaned = clean(value)
        if (cleaned !== value) node[name] = cleaned
      }
      // Extensions are not read. A component outside the usual places may be referred to.
      if (!isObject(value) || (!isNamed && depth > 0 && key.startsWith('x-'))) continue
      const isLiteral = step.isLiteral || (!isNamed && LITERALS.has(key))
      const here: Step = { node: value, depth: depth + 1, key: name, up: step, isLiteral }
      if (typeof value['$ref'] === 'string' && !isLiteral) {
        if (!value['$ref'].startsWith('#')) {
          const other = clean(value['$ref'].slice(0, 120))
          return { fault: `${placeOf(here)} refers to another document, "${other}", and nothing outside is read` }
        }
        sites.push({ parent: node, key: name })
      }
      if (seen.has(value)) continue
      seen.add(value)
      if (seen.size > limits.nodes) return { fault: `it has more than ${String(limits.nodes)} parts` }
      if (depth >= limits.depth)
        return { fault: `${placeOf(here)} is nested more than ${String(limits.depth)} levels deep` }
      open.push(here)
    }
  }
  return { sites }
}

/**
 * Puts in each reference's place what it refers to, which is the same object everywhere; so a schema may contain itself.
 * What leads nowhere becomes `{$missing: reference}`. Answers a fault where references would copy too much.
 */
export function linked(document: unknown, sites: readonly Site[], limits: DocumentLimits): string | null {
  const isObject = (value: unknown): value is Node => typeof value === 'object' && value !== null
  const referenceOf = (value: unknown): string | null =>
    isObject(value) && typeof value['$ref'] === 'string' ? value['$ref'] : null
  const known = new Map<string, unknown>()
  const HOPS_MAX = 50

  const stepOf = (step: string): string => {
    const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!plain.includes('%')) return plain
    try {
      return decodeURIComponent(plain)
    } catch {
      return plain
    }
  }
  /** What a pointer leads to, which may be a reference itself. */
  const pointedAt = (pointer: string, hops: number): unknown => {
    if (known.has(pointer)) return known.get(pointer)
    let found: unknown = document
    for (const step of pointer.split('/').slice(1)) {
      for (let next = referenceOf(found); next !== null; next = referenceOf(found)) {
        if (++hops > HOPS_MAX) return undefined
        found = pointedAt(next, hops)
      }
      const key = stepOf(step)
      if (!isObject(found)) return undefined
      found = Object.hasOwn(found, key) ? found[key] : Object.hasOwn(found, step) ? found[step] : undefined
    }
    known.set(pointer, found)
    return found
  }

  let copies = 0
  const open = [...sites]
  for (let site = open.pop(); site !== undefined; site = open.pop()) {
    const { parent, key } = site
    const additions: Node = {}
    let found = parent[key]
    let last: string | null = null
    for (let hops = 0; ; hops++) {
      const reference = referenceOf(found)
      if (reference === null) break
      last = reference
      for (const [name, value] of Object.entries(found as Node)) {
        copies++
        if (name !== '$ref') additions[name] ??= value
      }
      found = hops === HOPS_MAX || copies > limits.copies ? undefined : pointedAt(reference, hops)
    }
    if (last === null) continue
    if (found === undefined) found = { $missing: last }
    else if (isObject(found) && !Array.isArray(found) && Object.keys(additions).length > 0) {
      copies += Object.keys(found).length
      found = { ...found, ...additions }
      // Fields of the copy that are references have not been replaced there.
      for (const name of Object.keys(found as Node))
        if (referenceOf((found as Node)[name]) !== null && name !== 'example' && name !== 'default')
          open.push({ parent: found as Node, key: name })
    }
    if (copies > limits.copies) return `its references repeat more than ${String(limits.copies)} fields`
    parent[key] = found
  }
  return null
}
