/**
 * Writes the API's types from its OpenAPI document: one entry for each operation, with its query, body and answer.
 * `test/client/types.test.ts` compares the result with api.ts.
 */
export function typesOf({ paths, components }) {
  const own = Object.entries(paths).filter(([path]) => /^\/(v1|tools)\//.test(path))
  const operations = own.flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => operationOf(method, path, operation)),
  )
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) => `  ${JSON.stringify(name)}: ${typeOf(schema)}\n`,
  )
  return [
    '// Written from the OpenAPI document by describe-types.mjs. Do not edit.\n\n',
    `export interface Schemas {\n${schemas.join('')}}\n\n`,
    '/** Every operation: its query, its body, and the body of a success. */\n',
    `export interface Api {\n${operations.join('')}}\n`,
  ].join('')
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

function operationOf(method, path, { summary, parameters = [], requestBody, responses }) {
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const fields = query.map(({ name, required, schema }) => field(name, typeOf(schema), required === true))
  const body = requestBody?.content?.['application/json']?.schema
  const answers = Object.entries(responses)
    .filter(([status]) => /^2/.test(status))
    .flatMap(([, response]) => Object.values(response.content ?? {}))
    .map(({ schema }) => typeOf(schema))
    // The 202 of a request that a person must approve first; the client throws it.
    .filter((type) => type !== 'Schemas["Error"]')
  return [
    `  /** ${(summary ?? '').replaceAll('*/', '')} */\n`,
    `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: {\n`,
    `    query: ${fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('; ')} }`}\n`,
    `    body: ${body === undefined ? 'undefined' : typeOf(body)}\n`,
    `    answer: ${answers.length === 0 ? 'undefined' : union(answers)}\n`,
    '  }\n',
  ].join('')
}

function field(name, type, required) {
  // With exactOptionalPropertyTypes an optional field could otherwise not be passed on when it may be undefined.
  return `${JSON.stringify(name)}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'}`
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return `Schemas[${JSON.stringify(nameOf(schema.$ref))}]`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return union(alternatives.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  return PLAIN[schema.type] ?? structureOf(schema)
}

const PLAIN = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }

function structureOf({ type, items, prefixItems, properties, required = [], additionalProperties }) {
  if (type === 'array') {
    return prefixItems === undefined ? `(${typeOf(items)})[]` : `[${prefixItems.map(typeOf).join(', ')}]`
  }
  if (type !== 'object') return 'unknown'
  const fields = Object.entries(properties ?? {}).map(([name, each]) =>
    field(name, typeOf(each), required.includes(name)),
  )
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  return additionalProperties === false ? 'Record<never, never>' : `Record<string, ${typeOf(additionalProperties)}>`
}

function nameOf(reference) {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function union(types) {
  return [...new Set(types)].join(' | ')
}
