import { testService, type TestService } from '../../harness/service.ts'

describe('PATCH /v1/me → 200', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  const DAY_MS = 86_400_000

  test('the handle is shown, replaced and removed', async () => {
    const person = await service.person()
    expect((await person.call('GET', '/v1/me')).body).toMatchObject({ handle: null })
    for (const handle of ['ann-1', 'a'.repeat(40), null]) {
      const answer = await person.call('PATCH', '/v1/me', { body: { handle } })
      expect([answer.status, answer.body]).toEqual([
        200,
        expect.objectContaining({ handle, userId: person.caller.subject, wallet: expect.any(Object) as object }),
      ])
      expect((await person.call('GET', '/v1/me')).body.handle).toBe(handle)
    }
  })

  test('a released handle is reserved for its account for thirty days, then open to others', async () => {
    const [ann, ben] = [await service.person(), await service.person()]
    const choose = async (person: typeof ann, handle: string): Promise<number> =>
      (await person.call('PATCH', '/v1/me', { body: { handle } })).status
    expect(await choose(ann, 'ann-old')).toBe(200)
    expect(await choose(ann, 'ann-new')).toBe(200)
    expect(await choose(ben, 'ann-old')).toBe(409)
    expect(await choose(ann, 'ann-old')).toBe(200)
    expect(await choose(ann, 'ann-new')).toBe(200)
    service.clock.forward(31 * DAY_MS)
    expect(await choose(ben, 'ann-old')).toBe(200)
    expect(await choose(ann, 'ann-old')).toBe(409)
    expect((await ann.call('GET', '/v1/me')).body.handle).toBe('ann-new')
  })

  test('an account that changes its handle over and over keeps the last three from others', async () => {
    const [ann, ben] = [await service.person(), await service.person()]
    for (const place of [1, 2, 3, 4, 5]) {
      service.clock.forward(1_000)
      await ann.call('PATCH', '/v1/me', { body: { handle: `many-${String(place)}` } })
    }
    const statuses: number[] = []
    for (const place of [1, 2, 3, 4, 5]) {
      statuses.push((await ben.call('PATCH', '/v1/me', { body: { handle: `many-${String(place)}` } })).status)
    }
    expect(statuses).toEqual([200, 409, 409, 409, 409])
  })
})
