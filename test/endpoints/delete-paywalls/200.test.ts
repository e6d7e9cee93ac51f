import { testService, type TestService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

describe('DELETE /paywalls/{id} → 200', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('removes it: it is not listed, not shown, and its gate is closed', async () => {
    const person = await service.person()
    const { paywall } = (await person.call('POST', '/v1/paywalls', { body: PAYWALL })).body
    const removed = await person.call('DELETE', `/v1/paywalls/${String(paywall.id)}`)
    expect(removed).toMatchObject({ status: 200, body: { paywall: { id: paywall.id } } })
    expect((await person.call('GET', '/v1/paywalls')).body.total).toBe(0)
    expect((await person.call('DELETE', `/v1/paywalls/${String(paywall.id)}`)).status).toBe(404)
    expect(await service.call('GET', '/gate/weather/data')).toMatchObject({
      status: 404,
      body: { code: 'paywall_not_found' },
    })
  })
})
