import { isRecord, listOf, type Raw } from '../kit/schema/merge.ts'

export function isSwagger(document: unknown): document is Raw {
  return isRecord(document) && /^2(\.0)?$/.test(String(document['swagger']))
}

/**
 * A document of Swagger 2.0 as one of OpenAPI 3. Its references have been followed, and its schemas are those of OpenAPI 3.0
 * apart from words that are not read; so only operations, parameters, answers and security have to be written in another
 * way. Each operation is looked at once. What is of a wrong type stays as it is, and its reader says so.
 */
export function fromSwagger(document: Raw): Raw {
  const { info, security, securityDefinitions } = document
  const paths = Object.entries(isRecord(document['paths']) ? document['paths'] : {})
  return {
    openapi: '3.0.3',
    info,
    servers: serversOf(document),
    ...(security === undefined ? {} : { security }),
    paths: Object.fromEntries(paths.map(([path, item]) => [path, toItem(item, document)])),
    components: { securitySchemes: toSchemes(securityDefinitions) },
  }
}

/** The first of https, http. Without a host it is the one that the document came from. */
function serversOf({ schemes, host, basePath }: Raw): Raw[] {
  const path = typeof basePath === 'string' ? (basePath.startsWith('/') ? basePath : `/${basePath}`) : '/'
  if (typeof host !== 'string' || host === '') return [{ url: path }]
  const given = listOf(schemes)
  const scheme = given.includes('https') || !given.includes('http') ? 'https' : 'http'
  return [{ url: `${scheme}://${host}${path}` }]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function toItem(item: unknown, document: Raw): unknown {
  if (!isRecord(item) || '$missing' in item) return item
  const shared = item['parameters']
  const entries = METHODS.flatMap((method) => {
    const operation = item[method]
    return operation === undefined
      ? []
      : [[method, isRecord(operation) ? toOperation(operation, shared, document) : operation]]
  })
  return {
    ...(Object.fromEntries(entries) as Raw),
    ...(isList(shared) ? { parameters: shared.flatMap(toParameter) } : {}),
  }
}

function toOperation(operation: Raw, shared: unknown, document: Raw): Raw {
  const { operationId, summary, description, tags, deprecated, security, parameters } = operation
  const common = {
    operationId,
    summary,
    description,
    tags,
    deprecated,
    ...(security === undefined ? {} : { security }),
    responses: toResponses(operation['responses'], typesOf('produces', operation, document)),
  }
  if (parameters !== undefined && parameters !== null && !Array.isArray(parameters)) return { ...common, parameters }
  const own = listOf(parameters ?? undefined)
  // A list that is too long is refused by its reader.
  if (own.length > PARAMETERS_MAX || (isList(shared) && shared.length > PARAMETERS_MAX))
    return { ...common, parameters: own }
  const inherited = (isList(shared) ? shared : []).filter(
    (one) =>
      !own.some(
        (other) => isRecord(one) && isRecord(other) && one['name'] === other['name'] && one['in'] === other['in'],
      ),
  )
  const consumes = typesOf('consumes', operation, document)
  const requestBody = toBody([...inherited, ...own].filter(isRecord), consumes)
  return { ...common, parameters: own.flatMap(toParameter), ...(requestBody === null ? {} : { requestBody }) }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= PARAMETERS_MAX
}

const PARAMETERS_MAX = 500

function typesOf(word: 'consumes' | 'produces', operation: Raw, document: Raw): string[] {
  const types = listOf(operation[word] ?? document[word] ?? []).filter((type) => typeof type === 'string')
  return types.length === 0 ? ['application/json'] : types.slice(0, TYPES_MAX)
}

const TYPES_MAX = 20

/** Parts of the body are no parameters; everything else is passed on, also what is none. */
function toParameter(given: unknown): unknown[] {
  if (!isRecord(given) || '$missing' in given) return [given]
  const { name, in: place, description, required, collectionFormat, ...schema } = given
  if (place === 'body' || place === 'formData') return []
  return [
    { name, in: place, description, required, ...styleOf(place, schema, collectionFormat), schema: toSchema(schema) },
  ]
}

/** How a list is written: separated by commas where nothing is said. */
function styleOf(place: unknown, { type }: Raw, format: unknown): Raw {
  if (type !== 'array') return {}
  if (place !== 'query') return { style: 'simple' }
  if (format === 'multi') return { style: 'form', explode: true }
  const style = format === 'ssv' ? 'spaceDelimited' : format === 'pipes' ? 'pipeDelimited' : 'form'
  return { style, explode: false }
}

function toSchema({ allowEmptyValue: _, ...schema }: Raw): Raw {
  return schema['type'] === 'file' ? { type: 'string', format: 'binary' } : schema
}

function toBody(parameters: readonly Raw[], consumes: readonly string[]): Raw | null {
  const body = parameters.find((one) => one['in'] === 'body')
  if (body !== undefined) {
    const { required, description, schema } = body
    // Some documents name types of forms for a body that is none.
    const types = consumes.filter((type) => !FORM.test(type))
    const content = (types.length === 0 ? ['application/json'] : types).map((type) => [type, { schema }])
    return { required: required === true, description, content: Object.fromEntries(content) as Raw }
  }
  const fields = parameters.filter((one) => one['in'] === 'formData' && typeof one['name'] === 'string')
  if (fields.length === 0) return null
  const isMultipart =
    fields.some(({ type }) => type === 'file') || consumes.some((type) => type.startsWith('multipart/'))
  const required = fields.filter((one) => one['required'] === true).map(({ name }) => name)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, in: _in, required: _required, collectionFormat: _format, ...field }) => [
        name as string,
        toSchema(field),
      ]),
    ),
    required,
  }
  const type = isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  return { required: required.length > 0, content: { [type]: { schema } } }
}

const FORM = /^(multipart\/|application\/x-www-form-urlencoded)/

function toResponses(responses: unknown, produces: readonly string[]): Raw {
  const entries = Object.entries(isRecord(responses) ? responses : {}).filter(([code]) => /^(2|default)/.test(code))
  return Object.fromEntries(
    entries.slice(0, TYPES_MAX).map(([code, response]) => {
      if (!isRecord(response) || response['schema'] === undefined) return [code, {}]
      const { schema } = response
      const isFile = isRecord(schema) && schema['type'] === 'file'
      const types =
        isFile && produces.every((type) => type === 'application/json') ? ['application/octet-stream'] : produces
      const media = { schema: isFile ? { type: 'string', format: 'binary' } : schema }
      return [code, { content: Object.fromEntries(types.map((type) => [type, media])) }]
    }),
  )
}

function toSchemes(given: unknown): Raw {
  return Object.fromEntries(
    Object.entries(isRecord(given) ? given : {}).map(([name, scheme]) => [
      name,
      isRecord(scheme) ? toScheme(scheme) : scheme,
    ]),
  )
}

function toScheme(given: Raw): Raw {
  const { type, name, in: place, flow, authorizationUrl, tokenUrl, scopes } = given
  if (type === 'basic') return { type: 'http', scheme: 'basic' }
  if (type !== 'oauth2') return { type, name, in: place }
  const flows = new Map([
    ['accessCode', 'authorizationCode'],
    ['application', 'clientCredentials'],
  ])
  return { type, flows: { [flows.get(String(flow)) ?? String(flow)]: { authorizationUrl, tokenUrl, scopes } } }
}
