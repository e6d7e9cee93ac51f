import { openWorld, until, type World } from './world.ts'

const BY_TIME = { model: 'per-minute', amount: 0.6, minimum: 0.01, maximum: 1 }

describe('a price by the minute', () => {
  let world: World
  beforeAll(async () => {
    // The chain takes its time.
    const reach = (name: string): void => {
      if (name === 'sale settled') world.service.clock.forward(20_000)
    }
    world = await openWorld({ chain: true, failpoints: { reach } })
    world.upstream.on('/stream', (_request, response) => {
      world.service.clock.forward(3_000)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: 1\n\n')
    })
    world.upstream.on('/whole', (_request, response) => {
      world.service.clock.forward(3_000)
      response.writeHead(200, { 'content-type': 'text/plain' }).end('done')
    })
  })
  afterAll(() => world.close())

  const drawnBy = async (payer: string): Promise<bigint> =>
    await until(async () => {
      const [row] = await world.service.database.statements.run<{ held: bigint; drawn: bigint }>(
        'SELECT held, drawn FROM paywall_balance WHERE payer = $1',
        [payer],
      )
      return row?.held === 0n && row.drawn > 0n && row.drawn
    })

  it.each([
    ['before', '/whole'],
    ['before', '/stream'],
    ['after', '/whole'],
    ['after', '/stream'],
  ])('counts no second in which the chain settles (%s the call, %s)', async (settle, path) => {
    const { gate } = await world.sell([{ path, pricing: BY_TIME, settle }])
    const payer = await world.chain.payer(2_000_000n)
    expect((await world.pay(payer, gate + path)).status).toBe(200)
    // Three seconds of work, and the test's own time; far from the twenty of the chain.
    const drawn = await drawnBy(payer.address)
    expect(drawn).toBeGreaterThanOrEqual(30_000n)
    expect(drawn).toBeLessThan(100_000n)
  })
})
