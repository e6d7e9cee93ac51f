import { agentBody, ALLOWED } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda/{identifier}/publish → 400 when a setting is no longer allowed', async () => {
  const before = await testService(ALLOWED)
  const creator = await before.person()
  const body = agentBody()
  const { rda } = (await creator.call('POST', '/v1/rda', { body })).body
  // As if the host had moved to a private address since.
  await before.testDatabase.statements.run(
    `UPDATE rda_version SET content = jsonb_set(content, '{config,webhookUrl}', '"http://10.0.0.1/"') WHERE rda_id = $1`,
    [rda.id],
  )
  const answer = await creator.call('POST', `/v1/rda/${rda.id as string}/publish`)
  expect(answer.status).toBe(400)
  expect(answer.body.details).toEqual({ 'agentConfig.webhookUrl': expect.stringContaining('cannot be called') })
  expect((await creator.call('GET', `/v1/rda/${rda.id as string}`)).body.rda.status).toBe('draft')
  await before.close()
})
