import type { Answer, TestPerson } from '../../harness/service.ts'
import { runWorld, type RunWorld } from './world.ts'

/** A run as the dashboard's page of an asset starts it: with the price that the page shows. */
describe('a run that is started from a page', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(() => world.close())

  interface Stated {
    model: string
    amount: number
  }
  const pricingOf = async (slug: string) => {
    const { model, amount } = (await world.creator.call('GET', `/v1/rda/${slug}`)).body.rda.pricing as Stated
    return { model, amount }
  }
  const start = (person: TestPerson, slug: string, pricing: Stated): Promise<Answer> =>
    person.call('POST', '/trpc/runs.start', {
      body: { rdaSlug: slug, inputs: { say: 'hello' }, pricing, key: JSON.stringify(pricing) },
    })

  const inputSchema = [{ name: 'say', label: 'Say', type: 'textarea', required: true }]
  test.each([
    ['that was free', { model: 'free' }, { model: 'per-run', amount: 5 }],
    ['for each second', { model: 'per-second', amount: 0.001 }, { model: 'per-second', amount: 0.002 }],
    ['for each token', { model: 'per-token', amount: 0.001 }, { model: 'per-token', amount: 0.002 }],
    ['for each run', { model: 'per-run', amount: 0.01 }, { model: 'per-run', amount: 0.02 }],
  ])('is refused where its creator has changed the price %s, and moves nothing', async (_, before, after) => {
    const slug = await (before.model === 'per-token'
      ? world.prompt({ pricing: before })
      : world.agent({}, { inputSchema, pricing: before }))
    const [caller, stated] = [await world.caller(10), await pricingOf(slug)]
    expect((await world.creator.call('PATCH', `/v1/rda/${slug}`, { body: { pricing: after } })).status).toBe(200)
    const refused = await start(caller, slug, stated)
    expect([refused.status, refused.body.error.data.reason]).toEqual([409, 'price_changed'])
    expect(await world.wallet(caller)).toMatchObject({ balance: 10, availableBalance: 10 })
    expect((await caller.call('GET', '/v1/runs')).body.total).toBe(0)
    expect((await start(caller, slug, await pricingOf(slug))).status).toBe(200)
  })
})
