import type { SaleStore } from '../../service/sales/ports.ts'
import { createSaleStore } from '../../service/sales/store/sales.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import type { TestPerson } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

const LEASE_MS = 60_000
const START = Date.parse('2031-05-17T12:00:00.000Z')

describe('the work for a sale', () => {
  const caller = { user: { id: 'usr_seller' }, environment: 'sandbox' } as unknown as TestPerson['caller']
  let database: TestDatabase
  let store: SaleStore

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 10 })
    store = createSaleStore(database.statements)
  })
  afterAll(() => database.close())

  /** How many of ten requests at once may do the work, so long after the start. */
  async function countLeased(id: string, ms: number): Promise<number> {
    const time = { now: new Date(START + ms), until: new Date(START + ms + LEASE_MS) }
    const requests = Array.from({ length: 10 }, () =>
      store.inTransaction((inside) => store.take(inside, { id, details: {} }, time)),
    )
    return (await Promise.all(requests)).filter((sale) => sale !== null).length
  }

  test.each(['claimed', 'released', 'settling', 'paid'] as const)(
    'is done by one of many requests at once until its lease ends: %s',
    async (state) => {
      const id = await addSale({ database, clock: { now: () => new Date(START) } }, { caller }, { state })
      expect([await countLeased(id, 0), await countLeased(id, LEASE_MS - 1), await countLeased(id, LEASE_MS)]).toEqual([
        1, 0, 1,
      ])
    },
  )

  it('is not interrupted by a process that knows an earlier lease only', async () => {
    const id = await addSale({ database, clock: { now: () => new Date(START) } }, { caller }, { state: 'claimed' })
    await countLeased(id, 0)
    const later = new Date(START + LEASE_MS)
    const found = (await store.findLost(later, 100)).find((lost) => lost.id === id)!
    expect(await countLeased(id, LEASE_MS)).toBe(1)
    const release = (lease: typeof found) =>
      store.inTransaction((inside) =>
        store.release(inside, lease, { state: 'released', reason: 'interrupted', now: later }),
      )
    expect(await release(found)).toBeNull()
    const sale = (await store.find(id))!
    expect(sale).toMatchObject({ state: 'claimed', leaseUntil: new Date(START + 2 * LEASE_MS) })
    await store.leave(found)
    expect(await store.find(id)).toMatchObject({ leaseUntil: sale.leaseUntil })
    expect(await release(sale)).toMatchObject({ state: 'released', leaseUntil: null })
  })

  it('ends in a settlement of what the process with the newest lease has made', async () => {
    const id = await addSale({ database, clock: { now: () => new Date(START) } }, { caller }, { state: 'claimed' })
    await countLeased(id, 0)
    const earlier = (await store.find(id))!
    await countLeased(id, LEASE_MS)
    const made = { answer: null, bodyHash: null, details: null, amount: null }
    const time = { now: new Date(START + LEASE_MS + 1), until: new Date(START + 3 * LEASE_MS) }
    expect(await store.settling(earlier, made, time)).toBe(false)
    expect(await store.settling((await store.find(id))!, made, time)).toBe(true)
    expect(await store.find(id)).toMatchObject({ state: 'settling', leaseUntil: time.until })
  })

  test.each(['settling', 'held'] as const)(
    'goes on in turns of sellers, each with its oldest first: %s',
    async (state) => {
      const at = (ms: number) => new Date(START + ms)
      const add = async (userId: string, dueMs: number) => {
        const id = await addSale(
          { database, clock: { now: () => at(0) } },
          { caller },
          { state: 'settling', userId, product: 'gate' },
        )
        const due = 'UPDATE sale SET state = $2::sale_state, resume_at = $3, lease_until = $4 WHERE id = $1'
        await database.statements.run(due, [id, state, at(dueMs), at(0)])
        return id
      }
      const many = [await add('usr_many', 1), await add('usr_many', 2), await add('usr_many', 3)]
      const few = [await add('usr_few', 4), await add('usr_few', 5)]
      const take = async (limit: number): Promise<string[]> => {
        const taken = await (state === 'held'
          ? store.takeHeld('gate', at(10), limit)
          : store.takeOpen('gate', at(10), { limit, simulated: false }))
        return taken.map(({ id }) => id).sort()
      }
      expect(await take(3)).toEqual([many[0], few[0], many[1]].sort())
      expect(await take(3)).toEqual([few[1], many[2]].sort())
    },
  )
})
