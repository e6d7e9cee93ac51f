import { isDate } from 'node:util/types'
import type pg from 'pg'
import ts from 'typescript'
import type { Column } from './columns.ts'

/** What the driver makes of a column's type, found out by having it read one. */
export interface Sample {
  /** As PostgreSQL calls the type. */
  name: string
  value: unknown
  /** Of an enum, all that it can be. */
  labels: string[]
}

export async function samplesOf(pool: pg.Pool, oids: readonly number[]): Promise<Map<number, Sample>> {
  const samples = new Map<number, Sample>()
  const { rows } = await pool.query<Kind>(KINDS, [oids])
  for (const { oid, name, category, element, labels } of rows) {
    const example = LITERALS[element ?? name] ?? labels[0] ?? BY_CATEGORY[category] ?? ''
    const literal = element === null ? example : `{${example}}`
    const read = await pool.query<{ value: unknown }>(`SELECT '${literal}'::${name} AS value`)
    samples.set(oid, { name, value: read.rows[0]?.value, labels })
  }
  return samples
}

interface Kind {
  oid: number
  name: string
  category: string
  element: string | null
  labels: string[]
}

const KINDS = `
SELECT t.oid::int, format_type(t.oid, NULL) AS name, t.typcategory AS category,
  (SELECT format_type(t.typelem, NULL) WHERE t.typcategory = 'A') AS element,
  ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid IN (t.oid, t.typelem) ORDER BY enumsortorder) AS labels
FROM pg_type t WHERE t.oid = ANY ($1)`

const BY_CATEGORY: Record<string, string> = { N: '1', B: 'true', D: '2026-01-01', S: 'a' }
const LITERALS: Record<string, string> = {
  bytea: '\\x00',
  json: '{}',
  jsonb: '{}',
  bigint: '1',
  date: '2026-01-01',
  'timestamp with time zone': '2026-01-01',
}

/** In what a row's type says otherwise than the columns of its statement: a sentence for each fault. */
export function faultsOf(
  checker: ts.TypeChecker,
  row: ts.Type,
  columns: Column[],
  samples: Map<number, Sample>,
): string[] {
  return checker.getPropertiesOfType(row).flatMap((property) => {
    const column = columns.findLast(({ name }) => name === property.name)
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0
    if (column === undefined) return optional ? [] : [`${property.name} is not among the columns.`]
    const type = checker.getTypeOfSymbol(property)
    const sample = samples.get(column.oid)
    const faults: string[] = []
    if (sample !== undefined && !fits(checker, checker.getNonNullableType(type), sample)) {
      faults.push(`${property.name} is ${sample.name}, which is no ${nameOf(checker, type)}.`)
    }
    if (column.nullable && !checker.isTypeAssignableTo(checker.getNullType(), type)) {
      faults.push(`${property.name} may be null, and ${checker.typeToString(type)} is not.`)
    }
    return faults
  })
}

function fits(checker: ts.TypeChecker, type: ts.Type, { name, value, labels }: Sample): boolean {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return true
  const members = type.isUnion() ? type.types : [type]
  if (Array.isArray(value)) {
    if (!checker.isArrayType(type)) return false
    const [element] = checker.getTypeArguments(type as ts.TypeReference)
    const sample = { name, value: value[0] as unknown, labels }
    return element !== undefined && fits(checker, checker.getNonNullableType(element), sample)
  }
  if (Buffer.isBuffer(value)) return members.some(({ symbol }) => /^(Buffer|Uint8Array)$/.test(symbol?.name))
  if (isDate(value)) return members.some(({ symbol }) => symbol?.name === 'Date')
  if (labels.length > 0 && typeof value === 'string') {
    return labels.every((label) => checker.isTypeAssignableTo(checker.getStringLiteralType(label), type))
  }
  const primitive = primitiveOf(checker, value)
  // A type may say more than the driver knows (`Id<'usr'>`, `Usdc`), or leave more open.
  if (primitive !== null) {
    return checker.isTypeAssignableTo(type, primitive) || checker.isTypeAssignableTo(primitive, type)
  }
  return !members.some(
    (member) =>
      (member.flags & ts.TypeFlags.BigIntLike) !== 0 || /^(Date|Buffer|Uint8Array)$/.test(member.symbol?.name),
  )
}

function primitiveOf(checker: ts.TypeChecker, value: unknown): ts.Type | null {
  if (typeof value === 'string') return checker.getStringType()
  if (typeof value === 'number') return checker.getNumberType()
  if (typeof value === 'bigint') return checker.getBigIntType()
  return typeof value === 'boolean' ? checker.getBooleanType() : null
}

/** The members of a union in one order: the compiler's own depends on what else it has read. */
function nameOf(checker: ts.TypeChecker, type: ts.Type): string {
  if (!type.isUnion() || !type.types.every((one) => one.isStringLiteral())) return checker.typeToString(type)
  return type.types
    .map((one) => checker.typeToString(one))
    .sort()
    .join(' | ')
}
