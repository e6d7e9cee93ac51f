import { until } from '../facilitator/world.ts'
import { startWorker } from './processes.ts'
import { liveSettings, openWorld, send, type World } from './world.ts'

describe('two processes that watch', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  test('one works; when it is killed the other takes over', async () => {
    const { chain, service } = world
    const { url } = service.testDatabase
    const environment = {
      ...(await liveSettings(chain)),
      LOG_LEVEL: 'silent',
      DATABASE_URL: url,
      DATABASE_POOL: '4',
      DATA_DIR: '/tmp',
      PORT: '0',
      ROLES: 'worker',
    }
    const order = { work: 'everything', environment, url } as const
    const person = await world.person()
    const credited = (balance: number) => until(async () => (await person.balance()) === balance)

    const leader = startWorker(order)
    await leader.ready
    await send(chain, [{ to: person.address, value: 1_000_000n }])
    await chain.mine(3)
    await credited(1)
    const other = startWorker(order)
    await other.ready
    const holder = async () =>
      (
        await service.database.statements.run<{ holder: string }>(
          `SELECT holder FROM lease WHERE name = 'sweepers'`,
          [],
        )
      )[0]?.holder
    const first = await holder()
    await send(chain, [{ to: person.address, value: 2_000_000n }])
    await chain.mine(3)
    await credited(3)
    expect(await holder()).toBe(first)

    leader.child.kill('SIGKILL')
    await leader.dead
    await send(chain, [{ to: person.address, value: 4_000_000n }])
    await chain.mine(3)
    await credited(7)
    expect(await holder()).not.toBe(first)
    other.child.kill('SIGKILL')
    await other.dead
  })
})
