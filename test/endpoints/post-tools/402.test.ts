import { toolWorld, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 402', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ SIGNUP_CREDITS: '1' })
    world.upstream.says('/notes', { id: 1 })
  })
  afterAll(async () => {
    await world.close()
  })

  test('says what is required and what is available of credits and wallet together; the tool is not asked', async () => {
    const caller = await world.caller(0.004)
    await world.spend(caller, 1_000_000n)
    const asked = world.upstream.asked.length
    const answer = await world.call(caller, 'acme-create-note', { title: 'x' })
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({ code: 'insufficient_credits', required: 0.01, available: 0.004 })
    expect(world.upstream.asked).toHaveLength(asked)
  })

  test('200 at once on credits for 100: exactly 100 are charged, and no answer goes out unpaid', async () => {
    const caller = await world.caller()
    const asked = world.upstream.asked.length
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.call(caller, 'acme-create-note', { title: 'x' })),
    )
    const of = (status: number) => answers.filter((answer) => answer.status === status).length
    const others = answers.filter(({ status }) => status !== 200 && status !== 402)
    expect(others.map(({ text }) => text)).toEqual([])
    expect([of(200), of(402)]).toEqual([100, 100])
    expect(world.upstream.asked.length - asked).toBe(100)
    expect(await world.left(caller)).toMatchObject({ credits: 0, balance: 0, locks: 0 })
    expect(await world.locks()).toBe(0)
    expect(await world.service.ledger.differences()).toEqual([])
  })
})
