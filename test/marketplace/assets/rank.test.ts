import { ALLOWED, promptBody, published, run } from '../bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

const DAY_MS = 24 * 3_600_000

describe('trending', () => {
  let service: TestService
  let creator: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  const isTrending = async (slug: string): Promise<boolean> =>
    (await service.call('GET', `/v1/rda/${slug}`)).body.rda.trending as boolean

  test('comes of several people who paid lately, and goes again; loops, owners and free runs bring nothing', async () => {
    const loved = await published(creator)
    const looped = await published(creator)
    const own = await published(creator)
    const free = await published(creator, promptBody({ pricing: { model: 'free' } }))
    const people = await Promise.all(Array.from({ length: 3 }, () => service.person()))
    for (const person of people) {
      await run(person, loved)
      await run(person, free)
    }
    for (let count = 0; count < 6; count++) {
      await run(people[count % 2]!, looped)
      await run(creator, own)
    }
    await service.assets.rank()
    expect(await Promise.all([loved, looped, own, free].map(isTrending))).toEqual([true, false, false, false])
    // Trending assets come first, then those that two users paid for, then those that only their owners paid for or
    // that are free, the newest first.
    const { rdas } = (await service.call('GET', '/v1/rdas')).body as { rdas: { slug: string }[] }
    expect(rdas.map(({ slug }) => slug)).toEqual([loved, looped, free, own])
    expect((await service.call('GET', '/v1/rdas?trending=true')).body.total).toBe(1)

    // Ranking again writes nothing.
    const before = await service.testDatabase.statements.run('SELECT id, xmin::text FROM rda ORDER BY id', [])
    await service.assets.rank()
    expect(await service.testDatabase.statements.run('SELECT id, xmin::text FROM rda ORDER BY id', [])).toEqual(before)

    service.clock.forward(8 * DAY_MS)
    await service.assets.rank()
    expect(await isTrending(loved)).toBe(false)
    expect((await service.call('GET', '/v1/rdas?trending=true')).body.total).toBe(0)
  })

  test("starts a metered price's estimate at the cost of recent runs of others", async () => {
    const slug = await published(creator, promptBody({ pricing: { model: 'per-token', amount: 0.001 } }))
    const before = (await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.estimatedCost as string
    await run(creator, slug)
    await service.assets.rank()
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.estimatedCost).toBe(before)
    const person = await service.person()
    await run(person, slug)
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    await service.assets.rank()
    const { estimatedCost } = (await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing
    expect(estimatedCost).not.toBe(before)
    // A longer output may still be charged, so the upper bound stays.
    expect(estimatedCost).toBe(`${String(wallet.totalSpent)} - ${before.split(' - ')[1] ?? ''}`)

    // Runs at another price say nothing of today's, and count again once it is back.
    const set = async (pricing: object): Promise<string> => {
      await creator.call('PATCH', `/v1/rda/${slug}`, { body: { pricing } })
      const ofNew = (await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.estimatedCost as string
      await service.assets.rank()
      expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.estimatedCost).toBe(ofNew)
      return ofNew
    }
    const dearer = await set({ model: 'per-token', amount: 0.1 })
    expect(Number(dearer.split(' - ')[0])).toBeGreaterThan(Number(before.split(' - ')[0]) * 50)
    await creator.call('PATCH', `/v1/rda/${slug}`, { body: { pricing: { model: 'per-token', amount: 0.001 } } })
    await service.assets.rank()
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.estimatedCost).toBe(estimatedCost)
  })
})
