import { newId } from '../../service/kit/ids.ts'
import { isGenuine } from './receiver.ts'
import { startWorld, type World } from './world.ts'

/** A secret is replaced, and every delivery in between has a signature that its receiver can check. */
describe('a secret that is rotated', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  async function call() {
    const id = await world.write()
    await world.reaches(id, 'delivered')
    return world.receiver.of(id)[0]!
  }

  test('stays valid beside the new one for a day; repeating the rotation changes nothing', async () => {
    const { service, target, owner, secret: old } = world
    const { deliveries, database, clock } = service
    const operation = newId('op', clock.now())
    const { secret: fresh } = await deliveries.targets.rotate({ id: target, owner }, operation)
    expect(fresh).not.toBe(old)
    expect(await deliveries.targets.rotate({ id: target, owner }, operation)).toEqual({ secret: fresh })
    expect(await deliveries.targets.secrets(target, owner)).toEqual({ secret: fresh })
    const put = { id: target, owner, url: world.receiver.url }
    expect(await deliveries.targets.put(database.statements, put)).toEqual({ secret: fresh })

    const both = await call()
    expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2)
    expect([isGenuine(old, both), isGenuine(fresh, both)]).toEqual([true, true])

    clock.forward(24 * 3_600_000 + 1)
    const later = await call()
    expect(String(later.headers['webhook-signature']).split(' ')).toHaveLength(1)
    // Its time is a day ahead of the library's clock: with that clock moved, the library judges the signature alone.
    const real = Date.now
    const ahead = clock.now().getTime()
    Date.now = () => ahead
    try {
      expect([isGenuine(old, later), isGenuine(fresh, later)]).toEqual([false, true])
    } finally {
      Date.now = real
    }
  })

  test('stays valid for its day when it is rotated again', async () => {
    const { service, owner } = world
    const { deliveries, database, clock } = service
    const target = newId('chk', clock.now())
    const made = await deliveries.targets.put(database.statements, { id: target, owner, url: world.receiver.url })
    const secrets = [made.secret]
    for (let rotations = 0; rotations < 11; rotations++) {
      secrets.push((await deliveries.targets.rotate({ id: target, owner }, newId('op', clock.now()))).secret)
      if (rotations !== 1) continue
      expect(await validAt(target, secrets)).toEqual([true, true, true])
    }
    // So that a delivery's header stays short, ten sign at most.
    expect(await validAt(target, secrets)).toEqual(secrets.map((_, place) => place >= 2))
  })

  async function validAt(target: string, secrets: readonly string[]): Promise<boolean[]> {
    const id = await world.write({ to: { target } })
    await world.reaches(id, 'delivered')
    const call = world.receiver.of(id)[0]!
    const real = Date.now
    const ahead = world.service.clock.now().getTime()
    Date.now = () => ahead
    try {
      return secrets.map((secret) => isGenuine(secret, call))
    } finally {
      Date.now = real
    }
  }

  test("of another account's target is refused and stays unchanged", async () => {
    const { service, target } = world
    const other = { userId: (await service.person()).caller.user.id, environment: 'sandbox' as const }
    const operation = newId('op', service.clock.now())
    const before = await service.deliveries.targets.secrets(target, world.owner)
    await expect(service.deliveries.targets.rotate({ id: target, owner: other }, operation)).rejects.toThrow(
      'no target',
    )
    await expect(
      service.deliveries.targets.put(service.database.statements, {
        id: target,
        owner: other,
        url: 'https://evil.example',
      }),
    ).rejects.toThrow('another account')
    expect(await service.deliveries.targets.secrets(target, world.owner)).toEqual(before)
  })

  test('is never in the database in plain text', async () => {
    const { secret } = await world.service.deliveries.targets.secrets(world.target, world.owner)
    const { rows } = await world.service.database.pool.query<{ row: string }>(
      'SELECT t::text AS row FROM delivery_target t',
    )
    for (const { row } of rows) expect(row).not.toContain(secret.slice(6))
  })
})
