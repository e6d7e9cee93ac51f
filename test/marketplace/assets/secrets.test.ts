import { isId } from '../../../service/kit/ids.ts'
import { agentBody, ALLOWED, toolBody } from '../bodies.ts'
import { testService } from '../../harness/service.ts'
import { sealedPlaces } from '../../vault/opens.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

test("creators' secrets are stored only as vault tokens, bound to their field", async () => {
  const service = await testService({ ...ALLOWED, VAULT_KEY })
  const creator = await service.person()
  const agent = (await creator.call('POST', '/v1/rda', { body: agentBody() })).body.rda
  const tool = (await creator.call('POST', '/v1/rda', { body: toolBody() })).body.rda
  await creator.call('PATCH', `/v1/rda/${agent.id as string}`, {
    body: { agentConfig: { webhookHeaders: { Authorization: '••••', 'X-More': 'even-more-secret' } } },
  })
  const rows = await service.testDatabase.statements.run<{ row: string }>(
    `SELECT row_to_json(v)::text AS row FROM rda_version v UNION ALL SELECT row_to_json(r)::text FROM rda r
     UNION ALL SELECT row_to_json(i)::text FROM idempotent_request i UNION ALL SELECT row_to_json(o)::text FROM outbox o`,
    [],
  )
  const all = rows.map(({ row }) => row).join('\n')
  expect(all).toContain('Authorization')
  expect(all).toMatch(/"token":\s*"v1\./)
  expect(all).not.toMatch(/creators-|even-more-secret/)

  const [stored] = await service.testDatabase.statements.run<{ headers: { names: string[]; token: string } }>(
    `SELECT content->'config'->'webhookHeaders' AS headers FROM rda_version WHERE rda_id = $1 ORDER BY version DESC LIMIT 1`,
    [agent.id],
  )
  expect(await sealedPlaces(service, VAULT_KEY)).toContain('rda_version.content')
  const { assets } = service
  const id = agent.id as string
  const toolId = tool.id as string
  if (!isId('rda', id) || !isId('rda', toolId)) throw new Error('no ids')
  expect(assets.openSecrets(id, 'webhookHeaders', stored!.headers)).toEqual({
    Authorization: 'Bearer creators-own-secret',
    'X-More': 'even-more-secret',
  })
  expect(() => assets.openSecrets(id, 'apiHeaders', stored!.headers)).toThrow()
  expect(() => assets.openSecrets(toolId, 'webhookHeaders', stored!.headers)).toThrow()
  await service.close()
})
