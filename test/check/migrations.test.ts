import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const FOLDER = path.resolve(import.meta.dirname, '../../prisma/migrations')

/** What the version before still names, or would have to fill. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'removes a table, a column or a type':
    /\bdrop\s+(table|column|type|view)\b|\bdrop\s+(?!constraint|default|not\b|index|trigger|function)"?\w+"?\s*[,;]/i,
  'renames something': /\brename\s+(to|column|value|constraint)\b/i,
  'changes the type of a column': /\balter\s+column\s+"?\w+"?\s+(set\s+data\s+)?type\b/i,
  'asks for a value that the version before does not write':
    /\badd\s+column\s+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b|\bset\s+not\s+null\b/i,
}

/** Written before the first version that had to run beside another one. */
const BEFORE_ANY_OTHER = ['20261123030000_sales', '20261123040000_checkout_sales', '20261123050000_gate_sales']

const refusals = (sql: string): string[] => {
  const statements = sql.replaceAll(/--.*$/gm, '')
  return Object.entries(REFUSED).flatMap(([what, written]) => (written.test(statements) ? [what] : []))
}

describe('a migration', () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((one) => one.isDirectory())
  const names = folders.map(({ name }) => name).sort()

  test('lets the version before run beside the new one', () => {
    const refused = names.filter(
      (name) => refusals(readFileSync(path.join(FOLDER, name, 'migration.sql'), 'utf8')).length > 0,
    )
    expect(refused).toEqual(BEFORE_ANY_OTHER)
  })

  test.each([
    ['drop table sale;', 'removes a table, a column or a type'],
    ['ALTER TABLE "sale"\n  DROP COLUMN "payer";', 'removes a table, a column or a type'],
    ['ALTER TABLE "sale" DROP "payer";', 'removes a table, a column or a type'],
    ['alter table sale rename column payer to buyer;', 'renames something'],
    ['alter table sale rename to sold;', 'renames something'],
    ['alter table sale alter column payer type text;', 'changes the type of a column'],
    ['alter table sale add column tax bigint not null;', 'asks for a value that the version before does not write'],
    ['alter table sale alter payer set not null;', 'asks for a value that the version before does not write'],
  ])('is refused that has: %s', (sql, what) => {
    expect(refusals(sql)).toEqual([what])
  })

  test.each([
    'alter table sale drop constraint sale_amount, drop constraint sale_signed;',
    'alter table sale add column tax bigint not null default 0, add column note text;',
    'alter table sale alter column payer drop not null;',
    'drop index sale_owner; drop trigger sale_hold on sale;',
    '-- drop table sale\nselect 1;',
  ])('may have: %s', (sql) => {
    expect(refusals(sql)).toEqual([])
  })
})
