import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('GET /rda/{id}/runs → 200', () => {
  let world: RunWorld
  let customer: TestPerson
  let prompt: string
  let tool: string

  beforeAll(async () => {
    world = await runWorld()
    customer = await world.caller(1)
    prompt = await world.prompt()
    tool = await world.tool({ apiEndpoint: world.server.on('/broken', () => ({ status: 500 })) })
    await world.run(customer, prompt, { inputs: { say: 'a secret of the customer' } })
    await world.run(customer, tool, { inputs: { city: 'Bern' } })
    await world.run(customer, prompt, { inputs: { say: 'another secret' } })
    await world.creator.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    await world.run(world.creator, prompt, { inputs: { say: 'a test of my own' } })
  })
  afterAll(() => world.close())

  const list = async (asset: string, query = '') => {
    const answer = await world.creator.call('GET', `/v1/rda/${asset}/runs${query}`)
    expect(answer.status).toBe(200)
    return answer.body as { runs: Record<string, unknown>[]; total: number }
  }

  test("lists customers' runs without their identity, inputs and outputs", async () => {
    const body = await list(prompt)
    expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 })
    for (const run of body.runs) {
      expect(run).toEqual({
        id: expect.stringMatching(/^run_/),
        rdaId: expect.stringMatching(/^rda_/),
        rdaSlug: prompt,
        rdaVersion: '1.0.0',
        status: 'succeeded',
        cost: 0.02,
        duration: expect.any(Number),
        modelId: 'sandbox/echo',
        usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
        inputsShared: false,
        inputs: null,
        error: null,
        code: null,
        createdAt: expect.stringMatching(/Z$/),
        startedAt: expect.stringMatching(/Z$/),
        endedAt: expect.stringMatching(/Z$/),
      })
    }
    const text = JSON.stringify(body)
    for (const hidden of ['secret', customer.caller.subject, customer.caller.user.id])
      expect(text).not.toContain(hidden)
    const id = String(body.runs[0]?.['id'])
    expect((await world.creator.call('GET', `/v1/runs/${id}`)).status).toBe(404)
    expect((await world.creator.call('GET', `/v1/runs/${id}/events`)).status).toBe(404)
  })

  test('includes the inputs only of runs that agreed while the asset requested them', async () => {
    const asset = await world.prompt()
    const edit = async (sharesInputs: boolean): Promise<void> => {
      const { status, body } = await world.creator.call('PATCH', `/v1/rda/${asset}`, { body: { sharesInputs } })
      expect([status, body.rda.sharesInputs]).toEqual([200, sharesInputs])
    }
    const run = (say: string, body: Record<string, unknown>) => world.run(customer, asset, { inputs: { say }, ...body })
    await run('agreed before it was asked for', { sharesInputs: true })
    await edit(true)
    await run('did not agree', {})
    await run('agreed', { sharesInputs: true })
    await run('agreed, and much', { sharesInputs: true, inputs: { say: 'x'.repeat(9_000) } })
    await edit(false)
    await run('agreed afterwards', { sharesInputs: true })
    const { runs } = await list(asset)
    expect(runs.map(({ inputsShared, inputs }) => [inputsShared, inputs])).toEqual([
      [false, null],
      [true, { say: 'x'.repeat(9_000) }],
      [true, { say: 'agreed' }],
      [false, null],
      [false, null],
    ])
    expect(JSON.stringify(runs)).not.toContain(customer.caller.subject)
  })

  test("accepts the asset's id, and includes the reason of a failure", async () => {
    const [failed] = (await list(tool)).runs
    expect(failed).toMatchObject({
      status: 'failed',
      cost: 0,
      code: 'tool_refused',
      error: expect.stringMatching(/500/),
    })
    expect((await list(String(failed?.['rdaId']))).total).toBe(1)
  })

  test('filters by status, in pages', async () => {
    expect((await list(prompt, '?status=failed')).total).toBe(0)
    expect((await list(prompt, '?status=succeeded')).total).toBe(2)
    const [first, second] = [await list(prompt, '?limit=1'), await list(prompt, '?limit=1&offset=1')]
    expect([first.total, second.total, first.runs.length, second.runs.length]).toEqual([2, 2, 1, 1])
    expect(String(first.runs[0]?.['id']) > String(second.runs[0]?.['id'])).toBe(true)
  })

  test.each(['?status=done', '?limit=101', '?limit=0', '?offset=-1'])('%s is a 400', async (query) => {
    expect((await world.creator.call('GET', `/v1/rda/${prompt}/runs${query}`)).status).toBe(400)
  })

  test('counts buyers and repeat buyers once each, without failed runs and the creator', async () => {
    const buyersOf = async (asset: string, person = world.creator) =>
      (await person.call('GET', `/trpc/runs.buyersOf?input=${encodeURIComponent(JSON.stringify({ id: asset }))}`))
        .body as { result: { data: unknown }; error: { data: { httpStatus: number } } }
    expect((await buyersOf(prompt)).result.data).toEqual({ buyers: 1, repeat: 1 })
    expect((await buyersOf(tool)).result.data).toEqual({ buyers: 0, repeat: 0 })
    await world.run(await world.caller(1), prompt, { inputs: { say: 'once' } })
    expect((await buyersOf(prompt)).result.data).toEqual({ buyers: 2, repeat: 1 })
    expect((await buyersOf(prompt, customer)).error.data.httpStatus).toBe(404)
  })
})
