import path from 'node:path'
import ts from 'typescript'

/** The part of JSON Schema that a type can say. */
interface OutputSchema {
  type?: string
  properties?: Record<string, OutputSchema>
  required?: string[]
  additionalProperties?: OutputSchema
  items?: OutputSchema
  anyOf?: OutputSchema[]
  enum?: unknown[]
  const?: unknown
}

const service = path.resolve(import.meta.dirname, '../../service')

/**
 * What each procedure answers, as JSON, from the type that its code has. A procedure that answers nothing has null.
 * The checker reads the whole service for it, which takes seconds: so the result is a file, and a test compares.
 */
function outputsOf(): Record<string, OutputSchema | null> {
  const { config } = ts.readConfigFile(path.join(service, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: unknown
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, service)
  const host = ts.createCompilerHost({ ...options, noEmit: true, incremental: false })
  const question = path.join(service, 'wiring/outputs.ts')
  const text = `import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from './dashboard-router.ts'
export type Outputs = inferRouterOutputs<AppRouter>`
  const { readFile, fileExists } = host
  host.fileExists = (file) => file === question || fileExists.call(host, file)
  host.readFile = (file) => (file === question ? text : readFile.call(host, file))
  const program = ts.createProgram([question], { ...options, noEmit: true, incremental: false }, host)
  const checker = program.getTypeChecker()
  const [outputs] = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(question)!)!)
  const found: Record<string, OutputSchema | null> = {}
  const walk = (type: ts.Type, before: string): void => {
    for (const property of checker.getPropertiesOfType(type)) {
      const name = `${before}${property.name}`
      const inner = checker.getTypeOfSymbol(property)
      if (isRouter(name)) walk(inner, `${name}.`)
      else found[name] = schemaOf(checker, inner, [])
    }
  }
  const names = procedureNames(checker, program.getSourceFile(path.join(service, 'wiring/dashboard-router.ts'))!)
  const isRouter = (name: string): boolean => !names.has(name)
  walk(checker.getDeclaredTypeOfSymbol(outputs!), '')
  return found
}

/** The paths of all procedures: a router has a record of its own, and an answer may look like one. */
function procedureNames(checker: ts.TypeChecker, file: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const app = checker.getExportsOfModule(checker.getSymbolAtLocation(file)!).find(({ name }) => name === 'AppRouter')!
  const memberOf = (type: ts.Type, name: string): ts.Type | null => {
    const member = checker.getPropertyOfType(type, name)
    return member === undefined ? null : checker.getTypeOfSymbol(member)
  }
  const walk = (record: ts.Type, before: string): void => {
    for (const property of checker.getPropertiesOfType(record)) {
      const type = checker.getTypeOfSymbol(property)
      if (memberOf(type, '_def') === null) walk(type, `${before}${property.name}.`)
      else names.add(`${before}${property.name}`)
    }
  }
  walk(memberOf(memberOf(checker.getDeclaredTypeOfSymbol(app), '_def')!, 'record')!, '')
  return names
}

/** What is not there in JSON: tRPC writes it as `never`. */
const NOTHING = ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never

function schemaOf(checker: ts.TypeChecker, type: ts.Type, above: readonly ts.Type[]): OutputSchema | null {
  if ((type.flags & NOTHING) !== 0) return null
  const literal = literalOf(checker, type)
  if (literal !== undefined) return { const: literal }
  const plain = PLAIN.find(([flags]) => (type.flags & flags) !== 0)
  if (plain !== undefined) return { type: plain[1] }
  if (type.isUnion()) return unionOf(checker, type, above)
  // A string with a brand is a string.
  const branded = type.isIntersection() ? type.types.find(({ flags }) => (flags & ts.TypeFlags.StringLike) !== 0) : null
  if (branded != null) return { type: 'string' }
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0 || above.includes(type)) return {}
  const within = [...above, type]
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const members = checker.getTypeArguments(type as ts.TypeReference)
    return { type: 'array', items: members[0] === undefined ? {} : (schemaOf(checker, members[0], within) ?? {}) }
  }
  return objectOf(checker, type, within)
}

const PLAIN: readonly (readonly [number, string])[] = [
  [ts.TypeFlags.StringLike, 'string'],
  [ts.TypeFlags.NumberLike, 'number'],
  [ts.TypeFlags.BooleanLike, 'boolean'],
  [ts.TypeFlags.Null, 'null'],
]

function literalOf(checker: ts.TypeChecker, type: ts.Type): unknown {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value
  if ((type.flags & ts.TypeFlags.BooleanLiteral) !== 0) return checker.typeToString(type) === 'true'
  return undefined
}

function unionOf(checker: ts.TypeChecker, type: ts.UnionType, above: readonly ts.Type[]): OutputSchema {
  const schemas = type.types.flatMap((one) => schemaOf(checker, one, above) ?? [])
  const literals = schemas.flatMap((one) => (one.const === undefined ? [] : [one.const]))
  const isBoolean = literals.includes(true) && literals.includes(false)
  const values = literals.filter((value) => !isBoolean || typeof value !== 'boolean')
  const others = schemas.filter((one) => one.const === undefined)
  const parts = [
    ...(values.length === 0 ? [] : [valuesOf(values)]),
    ...(isBoolean ? [{ type: 'boolean' }] : []),
    ...others,
  ]
  const texts = new Map(parts.map((part) => [JSON.stringify(part), part]))
  const different = [...texts].toSorted(byRank).map(([, part]) => part)
  return different.length === 1 ? different[0]! : { anyOf: different }
}

/** Null comes last. */
function byRank([one, { type }]: [string, OutputSchema], [other, { type: otherType }]: [string, OutputSchema]): number {
  const rank = Number(type === 'null') - Number(otherType === 'null')
  return rank === 0 ? (one < other ? -1 : 1) : rank
}

/** Every code of an error is a list that no reader wants in a field. */
function valuesOf(values: readonly unknown[]): OutputSchema {
  if (values.length > VALUES_MAX) return { type: 'string' }
  return values.length === 1 ? { const: values[0] } : { enum: values.toSorted() }
}

const VALUES_MAX = 60

function objectOf(checker: ts.TypeChecker, type: ts.Type, within: readonly ts.Type[]): OutputSchema {
  const properties: Record<string, OutputSchema> = {}
  const required: string[] = []
  // By name: the checker's own order changes with code elsewhere.
  const named = checker.getPropertiesOfType(type).toSorted((one, other) => (one.name < other.name ? -1 : 1))
  for (const property of named) {
    const schema = schemaOf(checker, checker.getTypeOfSymbol(property), within)
    if (schema === null) continue
    properties[property.name] = schema
    if ((property.flags & ts.SymbolFlags.Optional) === 0) required.push(property.name)
  }
  const others = checker.getIndexInfoOfType(type, ts.IndexKind.String)
  return {
    type: 'object',
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(others === undefined ? {} : { additionalProperties: schemaOf(checker, others.type, within) ?? {} }),
  }
}

/** The file with what each procedure answers. */
export function outputsFile(): string {
  const lines = Object.entries(outputsOf())
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(schema)},\n`)
  return [
    '// Written from the types of the procedures by test/trpc/output-types.ts. Do not edit.\n\n',
    "import type { Schema } from './document.ts'\n\n",
    '/** What each procedure answers; null where it answers nothing. */\n',
    `export const OUTPUTS: Readonly<Record<string, Schema | null>> = {\n${lines.join('')}}\n`,
  ].join('')
}
