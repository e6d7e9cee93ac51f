import { testService, type TestService } from '../../harness/service.ts'

describe('PATCH /v1/me → 409', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  test('of three accounts that request one handle at once, one gets it, and the others keep theirs', async () => {
    const people = [await service.person(), await service.person(), await service.person()]
    for (const [place, person] of people.entries()) {
      await person.call('PATCH', '/v1/me', { body: { handle: `own-${String(place)}` } })
    }
    const answers = await Promise.all(
      people.map((person) => person.call('PATCH', '/v1/me', { body: { handle: 'wanted' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    for (const [place, { status, body }] of answers.entries()) {
      const { handle } = (await people[place]!.call('GET', '/v1/me')).body as { handle: string }
      expect(handle).toBe(status === 200 ? 'wanted' : `own-${String(place)}`)
      if (status === 409) {
        expect(body).toMatchObject({
          code: 'handle_taken',
          error: 'This handle is taken. Choose another one.',
        })
      }
    }
  })

  test('two accounts that swap their handles concurrently are both refused and keep them', async () => {
    const people = [await service.person(), await service.person()]
    await people[0]!.call('PATCH', '/v1/me', { body: { handle: 'left-one' } })
    await people[1]!.call('PATCH', '/v1/me', { body: { handle: 'right-one' } })
    const answers = await Promise.all([
      people[0]!.call('PATCH', '/v1/me', { body: { handle: 'right-one' } }),
      people[1]!.call('PATCH', '/v1/me', { body: { handle: 'left-one' } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([409, 409])
    expect((await people[0]!.call('GET', '/v1/me')).body.handle).toBe('left-one')
  })
})
