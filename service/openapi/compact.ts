import { isRecord, type Raw } from '../kit/schema/merge.ts'

/**
 * Reduces a document to what tools need: no extensions, no examples except those of single fields, no error answers, no
 * unused components. The meaning of the rest does not change.
 */
export function compacted(document: Raw): Raw {
  const { openapi, info, servers, security, components } = document
  const paths = Object.fromEntries(
    Object.entries(isRecord(document['paths']) ? document['paths'] : {}).map(([path, item]) => [path, toItem(item)]),
  )
  const { title, version, description, license } = isRecord(info) ? info : {}
  const head = {
    openapi,
    info: { title, version, description, license },
    ...(servers === undefined ? {} : { servers: stripped(servers) }),
    ...(security === undefined ? {} : { security }),
    paths,
  }
  return { ...head, components: usedOf(head, isRecord(components) ? components : {}) }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function toItem(item: unknown): unknown {
  if (!isRecord(item)) return item
  return Object.fromEntries(
    Object.entries(item).flatMap(([key, value]) => {
      if (METHODS.includes(key)) return [[key, toOperation(value)]]
      return key === 'parameters' || key === 'servers' || key === '$ref' ? [[key, stripped(value)]] : []
    }),
  )
}

function toOperation(operation: unknown): unknown {
  if (!isRecord(operation)) return operation
  const { responses, tags, ...rest } = operation
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => KEPT.has(key)))
  return {
    ...(Array.isArray(tags) ? { tags: tags.slice(0, 1) } : {}),
    ...(stripped(kept) as object),
    responses: successes(isRecord(responses) ? responses : {}),
  }
}

const KEPT = new Set([
  'operationId',
  'summary',
  'description',
  'parameters',
  'requestBody',
  'security',
  'servers',
  'deprecated',
])

/** If no answer is a success, keeps the first one without its content, because the specification requires one. */
function successes(responses: Raw): Raw {
  const all = Object.entries(responses)
  const good = all.filter(([code]) => code.startsWith('2'))
  const kept = good.length > 0 ? good : all.filter(([code]) => code === 'default')
  if (kept.length > 0) return Object.fromEntries(kept.map(([code, response]) => [code, stripped(response)]))
  return Object.fromEntries(all.slice(0, 1).map(([code]) => [code, { description: '' }]))
}

/** `named`: the keys are the document's own names, not the specification's keywords. */
function stripped(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((item) => stripped(item))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (!named && (key.startsWith('x-') || DROPPED.has(key))) return []
      if (!named && key === 'example' && !isShort(inner)) return []
      if (!named && key === 'description' && typeof inner === 'string') return [[key, inner.slice(0, DESCRIPTION_MAX)]]
      return [[key, stripped(inner, !named && NAMED.has(key))]]
    }),
  )
}

const DROPPED = new Set([
  'examples',
  'externalDocs',
  'callbacks',
  'links',
  'headers',
  'xml',
  'discriminator',
  'contact',
])
const NAMED = new Set(['properties', 'patternProperties', 'content', 'variables', 'schemas', 'securitySchemes'])
/** Longer than any description that is shown, because links are removed from it first. */
const DESCRIPTION_MAX = 1_500

function isShort(value: unknown): boolean {
  return (typeof value === 'string' && value.length <= 120) || typeof value === 'number' || typeof value === 'boolean'
}

/** The components that the rest refers to, directly or through others. */
function usedOf(head: Raw, components: Raw): Raw {
  const used: Record<string, Record<string, unknown>> = {}
  const open: unknown[] = [head]
  while (open.length > 0) {
    for (const reference of referencesIn(open.pop())) {
      const [, , kind = '', name = ''] = reference
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      const group = components[kind]
      if (!isRecord(group) || !Object.hasOwn(group, name) || used[kind]?.[name] !== undefined) continue
      const component = stripped(group[name])
      ;(used[kind] ??= {})[name] = component
      open.push(component)
    }
  }
  const { securitySchemes } = components
  return { ...used, ...(securitySchemes === undefined ? {} : { securitySchemes: stripped(securitySchemes, true) }) }
}

function* referencesIn(value: unknown): Generator<string> {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (Array.isArray(next)) open.push(...(next as unknown[]))
    else if (isRecord(next)) {
      if (typeof next['$ref'] === 'string' && next['$ref'].startsWith('#/components/')) yield next['$ref']
      open.push(...Object.values(next))
    }
  }
}
