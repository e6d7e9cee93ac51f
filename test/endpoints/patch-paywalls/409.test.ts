import { testService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

test('PATCH /paywalls/{id} → 409 for a change of an outdated version', async () => {
  const service = await testService()
  const person = await service.person()
  const { id } = (await person.call('POST', '/v1/paywalls', { body: PAYWALL })).body.paywall
  const path = `/v1/paywalls/${String(id)}`
  const change = (name: string) => person.call('PATCH', path, { body: { name, version: 1 } })
  const answers = await Promise.all([change('One'), change('Two'), change('Three')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const late = answers.find(({ status }) => status === 409)
  expect(late?.body).toMatchObject({ code: 'version_conflict', version: 2 })
  const winner = answers.find(({ status }) => status === 200)
  const { paywall } = (await person.call('GET', path)).body
  expect([paywall.name, paywall.version]).toEqual([winner?.body.paywall.name, 2])
  // The current version, and none.
  expect((await person.call('PATCH', path, { body: { status: 'paused', version: 2 } })).status).toBe(200)
  expect((await person.call('PATCH', path, { body: { status: 'active' } })).status).toBe(200)
  await service.close()
})
