import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/discovery/… → 400', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it.each([
    ['limit', 'resources?limit=0'],
    ['limit', 'resources?limit=101'],
    ['limit', 'search?query=a&limit=ten'],
    ['limit', `merchant?payTo=0x${'1'.repeat(40)}&limit=1e1`],
    ['offset', 'resources?offset=-1'],
    ['offset', 'resources?offset=1e3'],
    ['type', 'resources?type=ftp'],
    ['payTo', 'resources?payTo=vitalik.eth'],
    ['payTo', 'merchant'],
    ['network', 'resources?network=ethereum'],
    ['scheme', 'resources?scheme=EXACT%00'],
    ['extensions', 'resources?extensions=a%20b'],
    ['query', 'search'],
    ['query', 'search?query='],
    ['query', `search?query=${'x'.repeat(401)}`],
    ['query', 'search?query=%26%26'],
    ['cursor', 'search?query=a&cursor=%00'],
    ['cursor', `search?query=a&cursor=${Buffer.from('all 9999').toString('base64url')}`],
  ])('names a wrong %s: %s', async (field, path) => {
    const { status, body } = await service.call('GET', `/facilitator/discovery/${path}`)
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual([field])
  })

  it.each(["'; drop table x", 'a:*|b', '\\', '(((', '<->', 'ü', '😀 x', '\u0000a', 'the'])(
    'searches for %j',
    async (text) => {
      const { status } = await service.call('GET', `/facilitator/discovery/search?query=${encodeURIComponent(text)}`)
      expect([text === '\u0000' ? 400 : 200, 400]).toContain(status)
    },
  )
})
