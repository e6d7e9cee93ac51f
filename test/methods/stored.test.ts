import pg from 'pg'
import { withFacilitator } from '../../service/methods/registry.ts'
import { storeMethods } from '../../service/sales/store/methods.ts'
import { createSaleStore } from '../../service/sales/store/sales.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import type { TestPerson } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

const FACILITATOR = 'https://facilitator.example'
const ESCROW = { captureBy: '2031-06-17T12:00:00.000Z', workMs: 60_000, authorizedTx: null, end: null, voidedTx: null }
const RIGHT = { right: { kind: 'pass', id: 'pas_1' } }

/** Rows as the version before wrote them, and what they are to this one. */
const ROWS = [
  ['paid by its buyer', {}, { method: 'exact', facilitator: null }],
  ['one in the escrow', { state: 'claimed', escrow: ESCROW }, { method: 'auth-capture', facilitator: null }],
  ['a simulated one', { simulated: true }, { method: 'simulated', facilitator: null }],
  ['a free one', { amount: 0, simulated: true, details: RIGHT }, { method: 'free', facilitator: null }],
  ['a gate’s', { product: 'gate' }, { method: 'remote', facilitator: FACILITATOR }],
  ['a simulated one at a gate', { product: 'gate', simulated: true }, { method: 'simulated', facilitator: null }],
] as const

describe('the method of a sale from before it was stored', () => {
  const caller = { user: { id: 'usr_seller' }, environment: 'sandbox' } as unknown as TestPerson['caller']
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  test.each(ROWS)('%s', async (_, row, begun) => {
    const clock = { now: () => new Date('2031-05-17T12:00:00.000Z') }
    const id = await addSale({ database, clock }, { caller }, { ...row })
    const before = await createSaleStore(database.statements).find(id)
    expect(withFacilitator(before!, FACILITATOR)).toEqual(begun)

    let after: string | null = ''
    while (after !== null)
      after = await storeMethods(database.statements, after, (one) => withFacilitator(one, FACILITATOR))
    const [stored] = await database.statements.run('SELECT method::text, facilitator FROM sale WHERE id = $1', [id])
    expect(stored).toEqual(begun)
  })

  it('is not changed where it is stored', async () => {
    const { statements } = database
    const id = await addSale({ database, clock: { now: () => new Date() } }, { caller }, { product: 'gate' })
    await statements.run(`UPDATE sale SET method = 'exact' WHERE id = $1`, [id])
    await storeMethods(statements, '', (one) => withFacilitator(one, FACILITATOR))
    expect(await createSaleStore(statements).find(id)).toMatchObject({ method: 'exact', facilitator: null })
  })

  it('is stored at the next time where its sale was locked', async () => {
    const { statements } = database
    const clock = { now: () => new Date() }
    const add = () => addSale({ database, clock }, { caller }, { simulated: true })
    const ids = [await add(), await add(), await add()].toSorted()
    const next = async (after: string) => await storeMethods(statements, after, (one) => one)
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    await other.query('BEGIN')
    await other.query('SELECT FROM sale WHERE id = $1 FOR UPDATE', [ids[1]])
    const after = await next('')
    await other.end()
    expect(after).not.toBeNull()
    expect(await methodsOf(ids)).toEqual(['simulated', null, 'simulated'])
    expect(await next(after!)).toBeNull()
    expect(await methodsOf(ids)).toEqual(['simulated', 'simulated', 'simulated'])
  })

  async function methodsOf(ids: readonly string[]): Promise<(string | null)[]> {
    const text = 'SELECT method::text FROM sale WHERE id = ANY ($1) ORDER BY id'
    return (await database.statements.run<{ method: string | null }>(text, [ids])).map(({ method }) => method)
  }

  it('of a gate is what gates are settled by', () => {
    expect(withFacilitator({ method: 'remote', facilitator: null }, null)).toEqual({
      method: 'exact',
      facilitator: null,
    })
  })
})
