import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 404', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test.each(['no-such-thing', 'rda_01arz3ndektsv4rrffq69g5fav'])('for the unknown asset %s', async (name) => {
    const answer = await world.run(await world.caller(1), name)
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code: 'rda_not_found',
      requestId: expect.any(String),
      didYouMean: null,
      runId: expect.stringMatching(/^run_/),
    })
  })

  test('suggests a published asset for a mistyped name, and never a draft', async () => {
    const slug = await world.prompt()
    const mistyped = `${slug.slice(0, -1)}${slug.endsWith('x') ? 'y' : 'x'}x`
    const caller = await world.caller(1)
    expect((await world.run(caller, mistyped)).body).toMatchObject({
      error: expect.stringMatching(/Did you mean .+\?$/),
      code: 'rda_not_found',
    })
    const { rda } = (await world.creator.call('GET', `/v1/rda/${slug}`)).body
    await world.creator.call('POST', `/v1/rda/${rda.id as string}/unpublish`)
    const { body } = await world.run(caller, mistyped)
    expect(body.didYouMean).not.toBe(slug)
  })

  test('for another user’s draft', async () => {
    const slug = await world.prompt()
    const { rda } = (await world.creator.call('GET', `/v1/rda/${slug}`)).body
    await world.creator.call('POST', `/v1/rda/${rda.id as string}/unpublish`)
    expect((await world.run(await world.caller(1), slug)).status).toBe(404)
  })

  test('for an archived asset, except to earlier callers', async () => {
    const slug = await world.prompt()
    const [before, after] = [await world.caller(1), await world.caller(1)]
    expect((await world.run(before, slug)).status).toBe(200)
    const { rda } = (await world.creator.call('GET', `/v1/rda/${slug}`)).body
    await world.creator.call('POST', `/v1/rda/${rda.id as string}/archive`)
    expect((await world.run(before, slug)).status).toBe(200)
    expect((await world.run(after, slug)).status).toBe(404)
  })
})
