import { randomBytes } from 'node:crypto'
import { testService } from '../../harness/service.ts'
import { agentBody, toolBody } from '../bodies.ts'
import { runWorld } from './world.ts'

/* Servers of assets on the machine that the service runs on, as checkouts' callbacks. */
test('in a sandbox, servers of agents and tools may be on localhost', async () => {
  const world = await runWorld({ ALLOW_HOSTS: '' })
  const local = (path: string): string => world.server.url(path).replace('127.0.0.1', 'localhost')
  world.server.on('/agent', () => ({ body: { status: 'completed', output: 'by the agent' } }))
  world.server.on('/tool', () => ({ body: { said: 'by the tool' } }))
  const caller = await world.caller()
  const agent = await world.agent({ webhookUrl: local('/agent') })
  const tool = await world.tool({ apiEndpoint: local('/tool') })
  expect((await world.run(caller, agent, { inputs: { topic: 'bees' } })).body.output).toBe('by the agent')
  expect((await world.run(caller, tool, { inputs: { city: 'Oslo' } })).text).toContain('by the tool')
  const metadata = agentBody({ agentConfig: { webhookUrl: 'http://169.254.169.254/latest' } })
  expect((await world.creator.call('POST', '/v1/rda', { body: metadata })).status).toBe(400)
  await world.close()
})

test('on a live server never, also where callbacks may be on a private network', async () => {
  const service = await testService({
    LIVE: 'true',
    AUTH_SECRET: randomBytes(32).toString('hex'),
    VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    ALLOW_PRIVATE_CALLBACKS: 'true',
  })
  const person = await service.person({ environment: 'production' })
  for (const body of [agentBody(), toolBody()]) {
    const answer = await person.call('POST', '/v1/rda', { body })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('cannot be called')])
  }
  await service.close()
})
