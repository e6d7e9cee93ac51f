import { echoed } from '../../../service/models/models.ts'
import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('GET /runs/{id}/events', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('200: streams the states, the output with the last one only, then ends', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt(), { async: true })
    const stream = caller.call('GET', `/v1/runs/${body.runId as string}/events`)
    await world.service.start()
    const { status, headers, text } = await stream
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const events = text
      .split('\n\n')
      .filter((part) => part.includes('event: status'))
      .map((part) => JSON.parse(/^data: (.*)$/m.exec(part)![1]!) as Record<string, unknown>)
    expect(events[0]).toMatchObject({ id: body.runId, status: 'queued', cost: 0 })
    expect(events.at(-1)).toMatchObject({ id: body.runId, status: 'succeeded', output: echoed('hello'), cost: 0.02 })
    // No output leaves before the capture.
    for (const event of events.slice(0, -1)) expect(event).not.toHaveProperty('output')
  })

  test('200: a run that has ended sends its last status', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt())
    const { text } = await caller.call('GET', `/v1/runs/${body.runId as string}/events`)
    expect(text.match(/event: status/g)).toHaveLength(1)
    expect(text).toContain('"status":"succeeded"')
  })

  test('404: another user’s', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt())
    expect((await (await world.caller(0)).call('GET', `/v1/runs/${body.runId as string}/events`)).status).toBe(404)
  })
})
