import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('GET /runs → 200', () => {
  let world: RunWorld
  let caller: TestPerson
  let slugs: string[]
  const ids: string[] = []

  beforeAll(async () => {
    world = await runWorld()
    caller = await world.caller(1)
    const broken = await world.tool({ apiEndpoint: world.server.on('/broken', () => ({ status: 500 })) })
    slugs = [await world.prompt(), broken]
    for (const [slug, inputs] of [
      [slugs[0]!, { say: 'one' }],
      [slugs[1]!, { city: 'Bern' }],
      [slugs[0]!, { say: 'three' }],
    ] as const) {
      ids.push((await world.run(caller, slug, { inputs })).body.runId as string)
    }
  })
  afterAll(async () => {
    await world.close()
  })

  const list = async (query = '') =>
    (await caller.call('GET', `/v1/runs${query}`)).body as { runs: { id: string }[]; total: number }

  test("lists the caller's own runs, newest first, without inputs and outputs", async () => {
    const body = await list()
    expect(body).toMatchObject({ total: 3, limit: 20, offset: 0 })
    expect(body.runs.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(body.runs.find(({ id }) => id === ids[0])).toEqual({
      id: expect.stringMatching(/^run_/),
      rdaId: expect.stringMatching(/^rda_/),
      rdaSlug: expect.any(String),
      rdaType: 'prompt',
      rdaVersion: '1.0.0',
      agentId: null,
      status: 'succeeded',
      maxCost: 0.02,
      cost: 0.02,
      duration: expect.any(Number),
      modelId: 'sandbox/echo',
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      error: null,
      code: null,
      createdAt: expect.stringMatching(/Z$/),
      startedAt: expect.stringMatching(/Z$/),
      endedAt: expect.stringMatching(/Z$/),
    })
  })

  test('filters by status and by asset', async () => {
    expect((await list('?status=failed')).runs).toMatchObject([{ id: ids[1], status: 'failed', cost: 0 }])
    expect((await list('?status=succeeded')).total).toBe(2)
    expect((await list(`?rda=${slugs[0]!}`)).total).toBe(2)
    expect((await list(`?rda=${slugs[0]!}&status=failed`)).total).toBe(0)
  })

  test('returns pages', async () => {
    const [first, rest] = [await list('?limit=2'), await list('?limit=2&offset=2')]
    expect([first.runs.length, rest.runs.length, first.total, rest.total]).toEqual([2, 1, 3, 3])
    expect((await list('?offset=99')).runs).toEqual([])
  })

  test('lists no runs of other accounts', async () => {
    expect((await (await world.caller(0)).call('GET', '/v1/runs')).body).toMatchObject({ runs: [], total: 0 })
    // The creator can't see it either: inputs belong to the callers.
    expect((await world.creator.call('GET', '/v1/runs')).body.total).toBe(0)
  })

  test.each(['?status=done', '?limit=101', '?limit=0', '?offset=-1'])('%s is a 400', async (query) => {
    expect((await caller.call('GET', `/v1/runs${query}`)).status).toBe(400)
  })
})
