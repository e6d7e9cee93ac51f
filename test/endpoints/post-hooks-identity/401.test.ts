import { testService, type TestService } from '../../harness/service.ts'
import { SECRET, sendEvent } from './hook.ts'

describe('POST /hooks/identity → 401', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ IDENTITY_HOOK_SECRET: SECRET })
  })
  afterAll(() => service.close())

  const event = { type: 'user.created', user: { id: 'did:1' } }
  test.each<[string, Parameters<typeof sendEvent>[2] & { minutes?: number }]>([
    ['another secret', { secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }],
    ['another body', { body: JSON.stringify({ ...event, user: { id: 'did:2' } }) }],
    ['a signature of another version', { headers: { 'webhook-signature': 'v2,AAAA' } }],
    ['an empty signature', { headers: { 'webhook-signature': 'v1,' } }],
    ['no signature', { headers: { 'webhook-signature': '' } }],
    ['another id', { headers: { 'webhook-id': 'msg_2' } }],
    ['an invalid timestamp', { headers: { 'webhook-timestamp': 'now' } }],
    ['a message of six minutes ago', { minutes: -6 }],
    ['a message of the future', { minutes: 6 }],
  ])('%s', async (_, { minutes, ...change }) => {
    // Counted from here: the list is read long before its last line is tested.
    const at = minutes === undefined ? {} : { at: new Date(Date.now() + minutes * 60_000) }
    const { status, body } = await sendEvent(service, event, { ...change, ...at })
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_signature' })
  })

  test('without any signature headers', async () => {
    expect((await service.call('POST', '/v1/hooks/identity', { body: event })).status).toBe(401)
  })
})

test('POST /hooks/identity → 404 where no provider is configured', async () => {
  const service = await testService()
  expect((await sendEvent(service, { type: 'user.created' })).status).toBe(404)
  await service.close()
})
