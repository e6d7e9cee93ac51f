import { echoed } from '../../../service/models/models.ts'
import { runWorld } from '../../marketplace/runs/world.ts'

test('GET /runs/{id} → 200 with input, output, cost and timeline; another user’s is 404', async () => {
  const world = await runWorld()
  const caller = await world.caller(1)
  const slug = await world.prompt()
  const { body } = await world.run(caller, slug, { inputs: { say: 'two words' } })
  const answer = await caller.call('GET', `/v1/runs/${body.runId as string}`)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    run: {
      id: body.runId,
      rdaId: expect.stringMatching(/^rda_/),
      rdaSlug: slug,
      rdaType: 'prompt',
      rdaVersion: '1.0.0',
      agentId: null,
      status: 'succeeded',
      maxCost: 0.02,
      cost: 0.02,
      duration: body.duration,
      modelId: 'sandbox/echo',
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
      error: null,
      code: null,
      createdAt: expect.any(String),
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      inputs: { say: 'two words' },
      output: echoed('two words'),
      webhookUrl: null,
      timeline: [
        { status: 'running', at: expect.any(String) },
        { status: 'succeeded', at: expect.any(String) },
      ],
    },
  })
  for (const person of [await world.caller(0), world.creator]) {
    const other = await person.call('GET', `/v1/runs/${body.runId as string}`)
    expect([other.status, other.body.code]).toEqual([404, 'run_not_found'])
  }
  for (const id of ['run_01arz3ndektsv4rrffq69g5fav', 'run_', 'x']) {
    expect((await caller.call('GET', `/v1/runs/${id}`)).status).toBe(404)
  }
  expect((await world.service.call('GET', `/v1/runs/${body.runId as string}`)).status).toBe(401)
  await world.close()
})
