import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { columnsOf, type Column } from './rows/columns.ts'
import { faultsOf, samplesOf } from './rows/faults.ts'
import { findStatements, programOf, type Statement } from './rows/statements.ts'

/** Their texts are put together by what only a running service knows; what of them can be read is compared. */
const READ_IN_PART = [
  // The tables are those of every capability's retention: test/pruning runs each of them.
  'service/pruning/store.ts',
  // Each list brings its table and its key, and a key of one is no column of another.
  'service/kit/total.ts',
  // Each capability brings a share: test/observe/metrics and test/changes run the whole.
  'service/wiring/metrics.ts',
  'service/changes/store.ts',
  // Each capability brings the columns in which it seals: test/vault/seal-again runs all of them.
  'service/cli/sealed.ts',
]

/** What a statement sees to and its description does not show: file, column and why. */
const NARROWED: Readonly<Record<string, string>> = {
  'service/marketplace/store/assets/assets.ts text': 'found by IS NOT NULL',
  'service/sales/store/income.ts tx_hash': 'compared with a list of hashes, or found by IS NOT NULL',
  'service/deliveries/store/claims.ts dueAt': 'set by the statement itself',
  'service/deliveries/store/endings.ts dueAt': 'set by the statements themselves',
  'service/deliveries/store/endpoints.ts status': 'deleted ones are left out',
  'service/passes/store.ts network': 'a trigger fills it where a process of the version before names none',
  'service/discovery/store/catalogue.ts tags': 'a list column: always written, though the table would allow null',
  'service/ledger/store/read.ts kind': 'only lines that change the balance, which a reserve and a release do not',
  'service/tools/store/catalogue/store.ts patterns': 'a list column: always written, though the table would allow null',
}

const PLANTED = {
  'planted.ts': `
import type { Statements } from './kit/transaction.ts'

const COLUMNS = 'id, sender, value'
const from = (table: string) => \`FROM \${table} WHERE id = $1\`

export async function planted(statements: Statements): Promise<void> {
  await statements.run<{ id: string; amount: bigint }>(\`SELECT id, user_id \${from('wallet_withdrawal')}\`, [])
  await statements.run<{ amount: number }>(\`SELECT amount \${from('wallet_withdrawal')}\`, [])
  await statements.run<{ created_at: string; recipient: string }>('SELECT created_at, recipient FROM wallet_withdrawal', [])
  await statements.run<{ sum: bigint }>('SELECT sum(amount) AS sum FROM wallet_withdrawal', [])
  await statements.run<{ ended_at: Date }>('UPDATE wallet_withdrawal SET state = state RETURNING ended_at', [])
  await statements.run<{ state: 'pending' | 'failed' }>('SELECT state FROM wallet_withdrawal', [])
  await statements.run<{ states: string[] }>('SELECT array_agg(state) AS states FROM wallet_withdrawal', [])
  await statements.run('SELECT nothing FROM wallet_withdrawal', [])
  await statements.run(new Date().toISOString(), [])
  await statements.run<{ amount: bigint; created_at: Date; ended_at: Date | null; state: string; gone?: string }>(
    \`SELECT * \${from('wallet_withdrawal')} ORDER BY \${String(Date.now())}\`, [])
}

export async function named(statements: Statements, isLive: boolean): Promise<void> {
  await statements.run('SELECT FROM wallet_withdrawal WHERE id = $1', [], 'planted')
  await statements.run('SELECT FROM wallet_withdrawal WHERE state IS NULL', [], 'planted')
  await statements.run(isLive ? 'SELECT FROM refund' : 'SELECT FROM sale', [], 'planted_choice')
  await statements.run(isLive ? 'SELECT FROM refund' : 'SELECT FROM sale', [], isLive ? 'planted_refund' : 'planted_sale')
}`,
}

describe('rows of statements', () => {
  let database: TestDatabase
  let found: { statement: Statement; faults: string[] }[]

  beforeAll(async () => {
    database = await testDatabase()
    const program = programOf(PLANTED)
    const described = await describeAll(database, findStatements(program))
    const oids = described.flatMap(({ results }) => results.flatMap(({ columns }) => columns.map(({ oid }) => oid)))
    const samples = await samplesOf(database.pool, [...new Set(oids)])
    found = described.map(({ statement, results, faults }) => {
      const { row } = statement
      if (row === null) return { statement, faults }
      const all = results.flatMap(({ columns }) => faultsOf(program.getTypeChecker(), row, columns, samples))
      return { statement, faults: [...faults, ...new Set(all)] }
    })
  })

  afterAll(() => database.close())

  it('have the types that the database returns', () => {
    const ours = found.filter(({ statement }) => !isPlanted(statement))
    const faults = ours.flatMap(({ statement, faults }) => faults.map((fault) => ({ statement, fault })))
    const narrowed = new Set(faults.map(keyOf))
    expect(
      faults.filter((one) => !(keyOf(one) in NARROWED)).map(({ statement, fault }) => `${statement.place}: ${fault}`),
    ).toEqual([])
    expect(Object.keys(NARROWED).filter((key) => !narrowed.has(key))).toEqual([])
    expect(ours.length).toBeGreaterThan(300)
  })

  it('are refused where they are something else', () => {
    const faults = found.filter(({ statement }) => isPlanted(statement)).map(({ faults: one }) => one)
    expect(faults).toEqual([
      ['amount is not among the columns.'],
      ['amount is bigint, which is no number.'],
      ['created_at is timestamp with time zone, which is no string.', 'recipient is bytea, which is no string.'],
      ['sum is numeric, which is no bigint.'],
      ['ended_at may be null, and Date is not.'],
      ['state is wallet_withdrawal_state, which is no "failed" | "pending".'],
      ['states is wallet_withdrawal_state[], which is no string[].'],
      ['The statement fails: column "nothing" does not exist.'],
      ['The statement cannot be read from the source.'],
      ...[[], [], [], [], []],
    ])
  })

  // A connection keeps a statement prepared under its name, and refuses another text of the same name.
  it('that have a name share it with no other text', () => {
    const shared = namesOfSeveral(found.map(({ statement }) => statement))
    expect(shared).toEqual(['planted', 'planted_choice'])
    expect(found.filter(({ statement: { names } }) => names.length > 0).length).toBeGreaterThan(200)
  })

  // Two transactions that write the same customers in different orders would wait for each other (test/sales/customer-locks).
  it('that are counted by customer are written by statements that name one sale by its id', () => {
    const texts = found.flatMap(({ statement: { place, texts: all } }) => all.map((text) => ({ place, text })))
    const writing = texts.filter(({ text }) => /\bUPDATE sale\b/.test(text) && COUNTED.test(text))
    expect(writing.length).toBeGreaterThan(8)
    const isOfOne = (text: string): boolean =>
      // The part from the update on; a statement around it may read more.
      text
        .split(/\bUPDATE sale\b/)
        .slice(1)
        .every((part) => !COUNTED.test(setOf(part)) || ofOne(part, text))
    expect(writing.filter(({ text }) => !isOfOne(text)).map(({ place }) => place)).toEqual([])
    const added = texts.filter(({ text }) => /\bINSERT INTO sale\s*\(/.test(text))
    expect(added.length).toBeGreaterThan(0)
    expect(
      added.filter(({ text }) => !/\)\s*VALUES\s*\([^;]*?\)\s*ON CONFLICT/.test(text)).map(({ place }) => place),
    ).toEqual([])
  })
})

/** A choice of names is one beside a choice of as many texts. */
function namesOfSeveral(statements: readonly Statement[]): string[] {
  const textsOf = new Map<string, Set<string>>()
  for (const { names, texts } of statements) {
    for (const [place, name] of names.entries()) {
      const own = names.length === texts.length ? texts.slice(place, place + 1) : texts
      textsOf.set(name, new Set([...(textsOf.get(name) ?? []), ...own]))
    }
  }
  return [...textsOf].filter(([, texts]) => texts.size > 1).map(([name]) => name)
}

/** What the trigger on sales looks at. */
const COUNTED = /\b(?:state|refunded|details|amount)\s*=/

/** What an update sets, without its condition. */
function setOf(update: string): string {
  return update.split(/\b(?:WHERE|FROM)\b/)[0] ?? ''
}

/** By its id, or by a row that the statement has found by its id. */
function ofOne(update: string, text: string): boolean {
  return (
    /WHERE (?:s\.)?id = \$1\b/.test(update) ||
    (update.includes('WHERE s.id = free.id') && /WHERE id = \$1\b/.test(text))
  )
}

interface Described {
  statement: Statement
  results: { columns: Column[] }[]
  faults: string[]
}

async function describeAll({ pool }: TestDatabase, statements: readonly Statement[]): Promise<Described[]> {
  const client = await pool.connect()
  const all: Described[] = []
  for (const statement of statements) {
    const results: { columns: Column[] }[] = []
    const faults = statement.texts.length === 0 ? ['The statement cannot be read from the source.'] : []
    for (const text of statement.texts) {
      try {
        results.push({ columns: await columnsOf(client, text) })
      } catch (error) {
        faults.push(`The statement fails: ${(error as Error).message}.`)
      }
    }
    all.push({ statement, results, faults: READ_IN_PART.includes(fileOf(statement)) ? [] : faults })
  }
  client.release()
  return all
}

function isPlanted(statement: Statement): boolean {
  return fileOf(statement) === 'service/planted.ts'
}

function keyOf({ statement, fault }: { statement: Statement; fault: string }): string {
  return `${fileOf(statement)} ${fault.split(' ', 1).join()}`
}

function fileOf({ place }: Statement): string {
  return place.slice(0, place.lastIndexOf(':'))
}
