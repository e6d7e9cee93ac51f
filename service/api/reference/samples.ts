import { samplesOf, type ApiCall, type CodeSample } from '../../ui-kit/code-samples.ts'
import { authenticationOf, schemaOf, type Document, type Endpoint, type Operation, type Parameter } from './document.ts'
import { sampleOf } from './fields.ts'

/**
 * The document with each operation in curl, TypeScript and Python, by the extension that viewers of such documents
 * know. The operation's own samples, which show something special, come after them.
 */
export function withSamples(document: Document): Document {
  const origin = document.servers[0]?.url ?? ''
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]): [string, Operation] => {
      const endpoint = { ...operation, method: method.toUpperCase(), path }
      const samples: readonly CodeSample[] = samplesOf(callOf(document, origin, endpoint))
      return [method, { ...operation, 'x-codeSamples': [...samples, ...(operation['x-codeSamples'] ?? [])] }]
    })
    return [path, Object.fromEntries(operations)]
  })
  return { ...document, paths: Object.fromEntries(paths) as Document['paths'] }
}

/** The smallest request that the endpoint accepts. */
function callOf(document: Document, origin: string, endpoint: Endpoint): ApiCall {
  const { method, path, parameters = [], requestBody } = endpoint
  const valuesOf = (place: string): Record<string, unknown> =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place && one.required === true)
        .map((one) => [one.name, valueOf(document, one)]),
    )
  const json = schemaOf(requestBody?.content)
  const example = requestBody?.content?.['application/json']?.example
  const isFile = requestBody?.content?.['application/octet-stream'] !== undefined
  const headers = textsIn(valuesOf('header'))
  const authentication = authenticationOf(endpoint)
  return {
    method,
    origin,
    path,
    headers,
    params: textsIn(valuesOf('path')),
    isFilled: false,
    query: valuesOf('query'),
    credential: authentication === 'none' ? null : authentication === 'session' ? 'COINSLOT_SESSION' : 'COINSLOT_KEY',
    body: json !== null ? { json: example ?? sampleOf(document, json) } : isFile ? { file: true } : null,
    isTyped: /^\/(v1|tools)\//.test(path) && !isFile && Object.keys(headers).length === 0 && answersJson(endpoint),
  }
}

function valueOf(document: Document, { name, schema, content }: Parameter): unknown {
  const json = schemaOf(content)
  if (json === null) return sampleOf(document, schema ?? {}, name)
  return JSON.stringify(content?.['application/json']?.example ?? sampleOf(document, json))
}

function answersJson({ responses }: Endpoint): boolean {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.keys(content ?? {}))
  return contents.every((type) => type === 'application/json')
}

function textsIn(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
}
