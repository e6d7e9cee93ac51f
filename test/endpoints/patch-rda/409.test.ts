import { ALLOWED, published } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('PATCH /rda/{identifier} → 409 for an edit of an outdated version', async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const slug = await published(creator)
  const edit = (name: string) => creator.call('PATCH', `/v1/rda/${slug}`, { body: { name, version: '1.0.0' } })
  const answers = await Promise.all([edit('One'), edit('Two'), edit('Three')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const late = answers.find(({ status }) => status === 409)
  expect(late?.body).toMatchObject({ code: 'version_conflict', version: '1.0.1' })
  const winner = answers.find(({ status }) => status === 200)
  expect((await creator.call('GET', `/v1/rda/${slug}`)).body.rda.name).toBe(winner?.body.rda.name)
  await service.close()
})
