/**
 * Writes the API's types for Python from its OpenAPI document, and the client without `await` from the one with it.
 * `test/client/types.test.ts` compares the results with api.py and client.py.
 */
export function pythonTypesOf({ paths, components }) {
  const types = new Types()
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) types.component(name, schema)
  const operations = Object.entries(paths)
    .filter(([path]) => /^\/(v1|tools)\//.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => METHODS.has(method))
        .map(([method, operation]) => operationOf(types, `${method.toUpperCase()} ${path}`, operation)),
    )
  return [
    '"""The API\'s types, written from its OpenAPI document by describe-python.mjs. Do not edit."""\n\n',
    'from __future__ import annotations\n\n',
    'from typing import TYPE_CHECKING, Any, Literal, Mapping, Protocol, TypedDict, overload\n\n',
    'if TYPE_CHECKING:\n    from typing_extensions import NotRequired, TypeAlias\n\n\n',
    [...types.written.values()].join('\n\n'),
    '\n\nif TYPE_CHECKING:\n',
    protocolOf('Request', 'def', operations),
    '\n',
    protocolOf('AsyncRequest', 'async def', operations),
  ].join('')
}

/** The synchronous client has the same text, without waiting. */
export function syncOf(text) {
  const plain = text
    .replace(/^"""[^]*?"""/, '"""The client. Written from aio.py by describe-python.mjs. Do not edit."""')
    .replaceAll(/\b(await|async) /g, '')
    .replaceAll('async_transport', 'sync_transport')
    .replaceAll('__aiter__', '__iter__')
    .replaceAll('__aenter__', '__enter__')
    .replaceAll('__aexit__', '__exit__')
  return plain.replaceAll(/\bAsync(?=[A-Z])/g, '')
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import
  in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
)

function protocolOf(name, def, operations) {
  const calls = operations.map(
    ({ name, query, body, answer }) =>
      `        @overload\n        ${def} __call__(\n` +
      `            self, name: Literal[${JSON.stringify(name)}], *, ` +
      `path: Mapping[str, str] | None = None, query: ${query} | None = None, body: ${body} = None, ` +
      `idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None\n` +
      `        ) -> ${answer}: ...\n`,
  )
  return `    class ${name}(Protocol):\n        """Any operation by its name in the reference."""\n\n${calls.join('\n')}`
}

function operationOf(types, name, { parameters = [], requestBody, responses }) {
  const base = nameOf(name)
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const body = requestBody?.content?.['application/json']?.schema
  const answers = Object.entries(responses)
    .filter(([status]) => /^2/.test(status))
    .flatMap(([, response]) => Object.values(response.content ?? {}))
    .map(({ schema }) => types.of(schema, `${base}Answer`))
    // The 202 of a request that a person must approve first; the client raises it.
    .filter((type) => type !== 'Error')
  const properties = Object.fromEntries(query.map((parameter) => [parameter.name, parameter.schema]))
  const required = query.filter((parameter) => parameter.required === true).map((parameter) => parameter.name)
  return {
    name,
    query: query.length === 0 ? 'None' : types.of({ type: 'object', properties, required }, `${base}Query`),
    body: body === undefined ? 'None' : `${types.of(body, `${base}Body`)} | None`,
    answer: answers.length === 0 ? 'None' : union(answers),
  }
}

class Types {
  written = new Map()

  component(name, schema) {
    const isUnion = schema.anyOf !== undefined || schema.oneOf !== undefined
    const type = this.of(schema, isUnion ? `${name}Kind` : name)
    if (type !== name) this.written.set(name, `${name}: TypeAlias = "${type.replaceAll('"', "'")}"\n`)
  }

  of(schema, name) {
    if (schema === true || schema === undefined) return 'Any'
    if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    if (schema.const !== undefined) return literalOf([schema.const])
    if (schema.enum !== undefined) return literalOf(schema.enum)
    const alternatives = schema.anyOf ?? schema.oneOf
    if (alternatives !== undefined) {
      return union(alternatives.map((each, place) => this.of(each, place === 0 ? name : `${name}${place + 1}`)))
    }
    if (schema.allOf !== undefined) return schema.allOf.length === 1 ? this.of(schema.allOf[0], name) : 'dict[str, Any]'
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => this.of({ ...schema, type }, name)))
    if (schema.type === 'array') return `list[${this.of(schema.items, `${name}Item`)}]`
    return PLAIN[schema.type] ?? this.objectOf(schema, name)
  }

  objectOf({ type, properties = {}, required = [], additionalProperties }, wanted) {
    if (type !== 'object') return 'Any'
    const fields = Object.entries(properties)
    if (fields.length === 0) {
      return additionalProperties === false ? 'dict[str, None]' : `dict[str, ${this.of(additionalProperties, wanted)}]`
    }
    let name = wanted
    while (this.written.has(name)) name += '_'
    // Holds its place: a type inside may ask for the same name.
    this.written.set(name, '')
    const lines = fields.map(([field, schema]) => {
      const fieldType = this.of(schema, `${name}${capital(field)}`)
      return [field, required.includes(field) ? fieldType : `NotRequired[${fieldType}]`]
    })
    this.written.delete(name)
    this.written.set(name, definitionOf(name, lines))
    return name
  }
}

function definitionOf(name, fields) {
  if (fields.every(([field]) => /^[A-Za-z]\w*$/.test(field) && !KEYWORDS.has(field))) {
    return `class ${name}(TypedDict):\n${fields.map(([field, type]) => `    ${field}: ${type}\n`).join('')}`
  }
  // A field named as a word of the language is, such as `from`.
  const lines = fields.map(([field, type]) => `    ${JSON.stringify(field)}: "${type.replaceAll('"', "'")}",\n`)
  return `${name} = TypedDict("${name}", {\n${lines.join('')}})\n`
}

const PLAIN = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' }

function literalOf(values) {
  return `Literal[${values.map((value) => PYTHON[String(value)] ?? JSON.stringify(value)).join(', ')}]`
}

const PYTHON = { true: 'True', false: 'False', null: 'None' }

function nameOf(text) {
  return text
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .split(' ')
    .map((word) => capital(word.toLowerCase() === word || word === word.toUpperCase() ? word.toLowerCase() : word))
    .join('')
}

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1).replaceAll(/[^A-Za-z0-9]/g, '')
}

function union(types) {
  return [...new Set(types)].join(' | ')
}
