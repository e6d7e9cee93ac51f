import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /agents → 400', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterEach(async () => {
    expect((await person.call('GET', '/v1/agents')).body.total).toBe(0)
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['{}', 'name', 'is required'],
    ['{"name":""}', 'name', 'must not be empty'],
    ['{"name":"a\\nb"}', 'name', 'one line'],
    ['{"name":"a","budget":5}', 'budget', 'is not known'],
    ['{"name":"a","limits":{"perYear":5}}', 'limits.perYear', 'is not known'],
    ['{"name":"a","limits":{"perDay":-1}}', 'limits.perDay', 'must not be negative'],
    ['{"name":"a","limits":{"perDay":0.0000001}}', 'limits.perDay', 'at most 6 decimals'],
    ['{"name":"a","limits":{"perDay":"5"}}', 'limits.perDay', 'must be a number'],
    ['{"name":"a","limits":{"lifetime":9007199255}}', 'limits.lifetime', 'at most 9007199254'],
    ['{"name":"a","limits":[]}', 'limits', 'must be'],
    ['{"name":"a","rate":{"callsPerMinute":1.5}}', 'rate.callsPerMinute', 'whole number'],
    ['{"name":"a","rate":{"callsPerMinute":-1}}', 'rate.callsPerMinute', 'at least 0'],
    ['{"name":"a","tools":{"allow":"*"}}', 'tools.allow', 'array'],
    ['{"name":"a","tools":{"allow":[""]}}', 'tools.allow.0', 'must not be empty'],
    ['{"name":"a","rdas":{"deny":["a b"]}}', 'rdas.deny.0', 'visible ASCII'],
    ['{"name":"a","domains":{"deny":["münchen.de"]}}', 'domains.deny.0', 'visible ASCII'],
    ['{"name":"a","domains":{"denied":[]}}', 'domains.denied', 'is not known'],
    ['{"name":"a","approvalAbove":-0.5}', 'approvalAbove', 'must not be negative'],
    ['{"name":"a","alerts":[{"at":0}]}', 'alerts.0.at', 'greater than 0'],
    ['{"name":"a","alerts":[{"at":1.1}]}', 'alerts.0.at', 'at most 1'],
    ['{"name":"a","alerts":[{"at":0.12345}]}', 'alerts.0.at', 'at most 4 decimals'],
    ['{"name":"a","alerts":[{"at":0.5,"limit":"perCall"}]}', 'alerts.0.limit', 'must be one of'],
    ['{"name":"a","status":"deleted"}', 'status', 'must be one of'],
    ['{"name":"a","onExceeded":"shout"}', 'onExceeded', 'must be one of'],
  ])('%s', async (raw, field, message) => {
    const { status, body } = await person.call('POST', '/v1/agents', { raw })
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_input' })
    expect(body.details[field]).toContain(message)
  })

  test.each([
    ['{"nmae":"a"}', 'nmae', 'name'],
    ['{"name":"a","limits":{"per_day":5}}', 'limits.per_day', 'perDay'],
    ['{"name":"a","alerts":[{"att":0.5}]}', 'alerts.0.att', 'at'],
  ])('%s: a field that was probably meant is named', async (raw, field, meant) => {
    const { body } = await person.call('POST', '/v1/agents', { raw })
    expect(body.details[field]).toBe(`is not known. Did you mean ${meant}?`)
    expect(body.didYouMean).toBe(meant)
  })

  test('thousands of unknown fields get suggestions for a few only', async () => {
    const raw = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`nam${String(at)}`, 1])))
    const { status, body } = await person.call('POST', '/v1/agents', { raw })
    expect([status, body.didYouMean]).toEqual([400, 'name'])
    expect(Object.values(body.details as object).filter((text) => String(text).includes('mean')).length).toBeLessThan(
      21,
    )
  })
})
