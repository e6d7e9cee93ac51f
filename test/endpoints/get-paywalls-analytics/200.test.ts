import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

describe('GET /paywalls/{id}/analytics → 200', () => {
  let service: TestService
  let person: TestPerson
  let path: string
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    path = `/v1/paywalls/${String((await person.call('POST', '/v1/paywalls', { body: PAYWALL })).body.paywall.id)}`
  })
  afterAll(() => service.close())

  it('counts refusals by their reason, in the chosen period, without any payment', async () => {
    const empty = { calls: 0, payments: 0, revenue: 0, drawn: 0, refusals: {} }
    const before = await person.call('GET', `${path}/analytics`)
    expect(before.body.analytics).toMatchObject({ revenue: 0, customers: 0, total: empty, routes: [], days: [] })
    await service.call('GET', '/gate/weather/data')
    await service.call('GET', '/gate/weather/free')
    await service.paywalls.flush()
    const { body } = await person.call('GET', `${path}/analytics?from=2000-01-01&to=2000-12-31`)
    expect(body.analytics).toMatchObject({ from: '2000-01-01', to: '2000-12-31', total: empty })
    const today = await person.call('GET', `${path}/analytics`)
    expect(today.body.analytics).toMatchObject({
      total: { ...empty, refusals: { unpaid: 1, upstream_error: 1 } },
      routes: [
        { route: '* /*', refusals: { upstream_error: 1 } },
        { route: 'GET /data', refusals: { unpaid: 1 } },
      ],
    })
    expect((await person.call('GET', `${path}/payments`)).body).toMatchObject({ payments: [], total: 0 })
  })

  it.each([
    ['from', 'from=yesterday'],
    ['to', 'to=2026-13-01'],
    ['from', 'from=2026-02-01&to=2026-01-01'],
    ['from', 'from=2020-01-01&to=2026-01-01'],
  ])('says 400 and names %s', async (field, query) => {
    const answer = await person.call('GET', `${path}/analytics?${query}`)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toEqual([field])
  })
})
