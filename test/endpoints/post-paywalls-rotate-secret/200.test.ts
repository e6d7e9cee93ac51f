import { testService, type TestService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

describe('POST /paywalls/{id}/rotate-secret → 200', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('returns a new secret, once', async () => {
    const person = await service.person()
    const created = await person.call('POST', '/v1/paywalls', { body: PAYWALL })
    const path = `/v1/paywalls/${String(created.body.paywall.id)}/rotate-secret`
    const headers = { 'idempotency-key': 'rotate' }
    const rotated = await person.call('POST', path, { headers })
    expect(rotated).toMatchObject({ status: 200, body: { paywall: { slug: 'weather', version: 1 } } })
    expect(rotated.body.secret).toMatch(/^whsec_/)
    expect(rotated.body.secret).not.toBe(created.body.secret)
    expect((await person.call('POST', path, { headers })).body.secret).toBeNull()
  })
})
