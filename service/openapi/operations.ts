import type { Operation, Skipped } from '../tools/model/draft.ts'
import type { HttpMethod } from '../tools/model/tool.ts'
import type { ReadOptions } from '../tools/ports/sources.ts'
import { answersOf } from './answers.ts'
import { inputsOf } from './inputs.ts'
import { authOf, faultOfSecurity, waysOf } from './security.ts'
import { isRecord, listOf, type Raw } from '../kit/schema/merge.ts'
import { plain } from '../kit/schema/bounded.ts'
import { withoutTrailing } from '../kit/text.ts'

/** Yields the operations one by one: each is a tool, or the reason why it is not. */
export function* operationsOf(document: Raw, options: ReadOptions): Generator<Operation | Skipped> {
  const named = namesOf(document)
  for (const [path, item] of Object.entries(isRecord(document['paths']) ? document['paths'] : {})) {
    if (path.startsWith('x-')) continue
    if (!isRecord(item) || '$missing' in item || !path.startsWith('/')) {
      yield { operation: plain(path, NAME_MAX), why: faultOfItem(path, item) }
      continue
    }
    for (const method of METHODS) {
      const operation = item[method.toLowerCase()]
      if (operation === undefined) continue
      if (!isRecord(operation)) {
        yield { operation: nameOf(method, path), why: `${placeOf(path, method.toLowerCase())} must be an object` }
        continue
      }
      const name = operation['operationId']
      // An operation without a unique name is named after its method and path.
      const isNamed = typeof name === 'string' && name !== '' && named.get(name) === 1
      yield toOperation(
        document,
        { path, item, method, operation, name: isNamed ? name : nameOf(method, path) },
        options,
      )
    }
  }
}

function faultOfItem(path: string, item: unknown): string {
  if (!path.startsWith('/')) return 'its path does not begin with /'
  return isRecord(item)
    ? `it refers to ${plain(String(item['$missing']), NAME_MAX)}, which is not in the document`
    : `${placeOf(path)} must be an object`
}

function nameOf(method: HttpMethod, path: string): string {
  return `${method} ${path}`
}

/** As a pointer into the document. */
function placeOf(path: string, ...more: string[]): string {
  return `#/${['paths', path, ...more].map((step) => plain(step, NAME_MAX).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Found {
  path: string
  item: Raw
  method: HttpMethod
  operation: Raw
  name: string
}

function toOperation(document: Raw, found: Found, options: ReadOptions): Operation | Skipped {
  const { path, item, method, operation, name } = found
  const server = serverOf([operation, item, document], options)
  if (server === null) return { operation: name, why: 'it names no server' }
  const inputs = inputsOf(item, operation, placeOf(path, method.toLowerCase()))
  if (typeof inputs === 'string') return { operation: name, why: inputs }
  const fault = options.auth === null ? faultOfSecurity(document, operation) : null
  if (fault !== null) return { operation: name, why: fault }
  const missing = [...path.matchAll(/\{([^{}]+)\}/g)].find(
    ([, placeholder]) =>
      !Object.values(inputs.where).some((place) => place.in === 'path' && place.name === placeholder),
  )
  if (missing !== undefined) return { operation: name, why: `it does not define ${missing[0]} of its path` }
  const { answer, schema } = answersOf(operation)
  const deprecated = operation['deprecated'] === true
  const title = titleOf(operation, name)
  return {
    operation: name,
    name: title,
    description: descriptionOf(title, operation['description'], deprecated),
    category: categoryOf(operation),
    deprecated,
    input: inputs.schema,
    output: schema,
    upstream: {
      kind: 'http',
      method,
      server,
      path,
      where: inputs.where,
      bodyType: inputs.bodyType,
      auth: options.auth ?? authOf(document, operation),
      security: waysOf(document, operation, options.auth),
      answer,
    },
  }
}

/** How many operations have each name. */
function namesOf(document: Raw): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const item of Object.values(isRecord(document['paths']) ? document['paths'] : {})) {
    if (!isRecord(item)) continue
    for (const method of METHODS) {
      const operation = item[method.toLowerCase()]
      const name = isRecord(operation) ? operation['operationId'] : undefined
      if (typeof name === 'string') names.set(name, (names.get(name) ?? 0) + 1)
    }
  }
  return names
}

function titleOf(operation: Raw, name: string): string {
  const summary = operation['summary']
  if (typeof summary === 'string' && summary.trim() !== '') return plain(summary, NAME_MAX).replace(/\.$/, '')
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase()
  return plain(words.charAt(0).toUpperCase() + words.slice(1), NAME_MAX) || name.slice(0, NAME_MAX)
}

function descriptionOf(title: string, description: unknown, deprecated: boolean): string {
  const text = typeof description === 'string' ? plain(description, DESCRIPTION_MAX) : ''
  const whole =
    text === '' ? `${title}.` : text.toLowerCase().startsWith(title.toLowerCase()) ? text : `${title}. ${text}`
  return deprecated ? `Deprecated by its provider. ${whole}` : whole
}

function categoryOf(operation: Raw): string | null {
  const [tag] = listOf(operation['tags'])
  return typeof tag === 'string' && tag.trim() !== '' ? plain(tag, 64).toLowerCase() : null
}

const NAME_MAX = 120
const DESCRIPTION_MAX = 700

/** The first server address of the nearest level that has one, without a trailing slash. */
function serverOf(levels: readonly Raw[], { base, server }: ReadOptions): string | null {
  if (server !== null) return withoutTrailing(server, '/')
  const [first] = levels.flatMap(({ servers }) => listOf(servers).filter(isRecord))
  const given = first === undefined ? '/' : first['url']
  if (typeof given !== 'string') return null
  const filled = given.replaceAll(
    /\{([^{}]+)\}/g,
    (whole, name: string) => standardOf(first?.['variables'], name) ?? whole,
  )
  try {
    const url = new URL(filled, base ?? undefined)
    if (!/^https?:$/.test(url.protocol) || url.href.includes('%7B')) return null
    return withoutTrailing(url.origin + url.pathname, '/')
  } catch {
    return null
  }
}

function standardOf(variables: unknown, name: string): string | null {
  const variable = isRecord(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
  return isRecord(variable) && typeof variable['default'] === 'string' ? variable['default'] : null
}
