import { newId } from '../../service/kit/ids.ts'
import type { Caller } from '../../service/kit/caller.ts'
import { callerOf, openWorld, newPerson, type World } from './world.ts'
const plain = { name: 'a key', agentId: null, expiresAt: null }

describe('keys', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ live: true, agentExists: async (_, agentId) => agentId === 'agt_known' })
  })
  afterAll(() => world.close())

  async function person(subject: string, environment: Caller['environment'] = 'sandbox'): Promise<Caller> {
    const { user } = await world.identity.signUp(newPerson(subject))
    return { user, subject, issuer: user.issuer, environment, via: 'session', keyId: null, agentId: null }
  }

  const operation = () => newId('op', world.clock.now())

  describe('an API key', () => {
    it('is shown once, stored as a hash, and identifies its user and environment', async () => {
      const ann = await person('ann')
      const { key, secret } = await world.identity.keys.create(ann, plain, operation())
      expect(secret).toMatch(/^csk_test_[0-9A-Za-z]{43}$/)
      expect(key).toMatchObject({
        name: 'a key',
        environment: 'sandbox',
        prefix: secret.slice(0, 13),
        lastFour: secret.slice(-4),
      })
      const row = await world.database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })
      expect(JSON.stringify(row)).not.toContain(secret.slice(13, -4))
      const caller = await callerOf(world, secret)
      expect(caller).toEqual({
        user: ann.user,
        subject: 'ann',
        issuer: ann.issuer,
        environment: 'sandbox',
        via: 'key',
        keyId: key.id,
        agentId: null,
      })
    })

    it('that a key makes ends no later than that key, and is revoked with it, as are those that it makes', async () => {
      const ann = await person('maker')
      const until = new Date(world.clock.now().getTime() + 60_000)
      const { create, revoke } = world.identity.keys
      const first = await create(ann, { ...plain, expiresAt: until }, operation())
      const second = await create(await callerOf(world, first.secret), plain, operation())
      const later = { ...plain, expiresAt: new Date(until.getTime() + 1) }
      const third = await create(await callerOf(world, second.secret), later, operation())
      const sooner = { ...plain, expiresAt: new Date(until.getTime() - 1) }
      const fourth = await create(await callerOf(world, second.secret), sooner, operation())
      expect([second, third, fourth].map(({ key }) => key.expiresAt)).toEqual([until, until, sooner.expiresAt])
      const own = await create(ann, plain, operation())
      const [caller, revoked] = [await callerOf(world, third.secret), await callerOf(world, second.secret)]
      await revoke(ann, second.key.id)
      for (const { secret } of [second, third, fourth]) {
        await expect(callerOf(world, secret)).rejects.toMatchObject({ kind: 'unauthenticated' })
      }
      expect(caller.keyId).toBe(third.key.id)
      for (const { secret } of [first, own]) expect((await callerOf(world, secret)).user).toEqual(ann.user)
      // A request that was identified before the revocation.
      await expect(create(revoked, plain, operation())).rejects.toMatchObject({ code: 'key_not_found' })
    })

    it('is reported to its owner’s confirmed address, once', async () => {
      const { user } = await world.identity.signUp(
        newPerson('mailed', { email: 'mailed@example.com', emailConfirmed: true }),
      )
      const { subject, issuer } = user
      const caller = {
        user,
        subject,
        issuer,
        environment: 'sandbox',
        via: 'session',
        keyId: null,
        agentId: null,
      } as const
      const same = operation()
      const named = { ...plain, name: 'Call help@thief.example' }
      const { key } = await world.identity.keys.create(caller, named, same)
      await world.identity.keys.create(caller, named, same)
      await world.deliver()
      const mails = world.mails.filter(({ to }) => to === 'mailed@example.com')
      expect(mails.map(({ subject: line }) => line)).toEqual(['An API key was created in your Coinslot account'])
      // Who stole a session chose the name: it makes no link in our mail.
      expect(mails[0]?.text).not.toContain(key.name)
      expect(mails[0]?.text).toContain('Call help@\u200bthief.\u200bexample')
    })

    it('of production starts with csk_live_ and works in production only', async () => {
      const { secret } = await world.identity.keys.create(await person('ann', 'production'), plain, operation())
      expect(secret).toMatch(/^csk_live_/)
      expect((await callerOf(world, secret)).environment).toBe('production')
    })

    it('is listed to its owner in its environment, newest first, without the revoked', async () => {
      const bob = await person('bob')
      const created = []
      for (const name of ['one', 'two', 'three']) {
        created.push((await world.identity.keys.create(bob, { ...plain, name }, operation())).key)
        world.clock.forward(1)
      }
      await world.identity.keys.create(await person('bob', 'production'), { ...plain, name: 'live' }, operation())
      await world.identity.keys.revoke(bob, created[1]!.id)
      const all = await world.identity.keys.list(bob, { limit: 20, offset: 0 })
      expect(all).toMatchObject({ total: 2, keys: [{ name: 'three' }, { name: 'one' }] })
      expect(await world.identity.keys.list(bob, { limit: 1, offset: 1 })).toMatchObject({
        total: 2,
        keys: [{ name: 'one' }],
      })
      expect(await world.identity.keys.list(await person('nosy'), { limit: 20, offset: 0 })).toEqual({
        total: 0,
        keys: [],
      })
    })

    it('stops working the moment it is revoked, for its owner only to do', async () => {
      const cyd = await person('cyd')
      const { key, secret } = await world.identity.keys.create(cyd, plain, operation())
      for (const stranger of [await person('eve'), await person('cyd', 'production')]) {
        await expect(world.identity.keys.revoke(stranger, key.id)).rejects.toMatchObject({
          kind: 'missing',
          code: 'key_not_found',
        })
      }
      await callerOf(world, secret)
      await world.identity.keys.revoke(cyd, key.id)
      await expect(callerOf(world, secret)).rejects.toMatchObject({ kind: 'unauthenticated' })
      await expect(world.identity.keys.revoke(cyd, key.id)).rejects.toMatchObject({ kind: 'missing' })
      await expect(world.identity.keys.revoke(cyd, 'key_nothing')).rejects.toMatchObject({ kind: 'missing' })
    })

    it('stops working at its expiry, not before', async () => {
      const dan = await person('dan')
      const expiresAt = new Date(world.clock.now().getTime() + 60_000)
      const { secret } = await world.identity.keys.create(dan, { ...plain, expiresAt }, operation())
      const request = { authorization: `Bearer ${secret}`, environmentHeader: undefined }
      await world.identity.identify({ ...request, now: new Date(expiresAt.getTime() - 1) })
      await expect(world.identity.identify({ ...request, now: expiresAt })).rejects.toMatchObject({
        kind: 'unauthenticated',
      })
      const past = { ...plain, expiresAt: world.clock.now() }
      await expect(world.identity.keys.create(dan, past, operation())).rejects.toMatchObject({
        fields: { details: { expiresAt: 'must be in the future' } },
      })
    })

    it('is bound to an existing agent, or refused', async () => {
      const fay = await person('fay')
      const { secret } = await world.identity.keys.create(fay, { ...plain, agentId: 'agt_known' }, operation())
      expect((await callerOf(world, secret)).agentId).toBe('agt_known')
      const unknown = world.identity.keys.create(fay, { ...plain, agentId: 'agt_other' }, operation())
      await expect(unknown).rejects.toMatchObject({
        kind: 'invalid',
        fields: { details: { agentId: expect.any(String) as string } },
      })
    })

    it('is one key when its creation is repeated, and only the latest secret works', async () => {
      const gus = await person('gus')
      const again = operation()
      const lost = await world.identity.keys.create(gus, plain, again)
      const found = await world.identity.keys.create(gus, plain, again)
      expect(found.key.id).toBe(lost.key.id)
      expect((await world.identity.keys.list(gus, { limit: 20, offset: 0 })).total).toBe(1)
      expect((await callerOf(world, found.secret)).keyId).toBe(found.key.id)
      await expect(callerOf(world, lost.secret)).rejects.toMatchObject({ kind: 'unauthenticated' })
      // Another account cannot take a key over by repeating its operation.
      await expect(world.identity.keys.create(await person('eve'), plain, again)).rejects.toMatchObject({
        kind: 'missing',
      })
    })

    it('is unavailable to a token without a user', async () => {
      const tokenCaller: Caller = { ...(await person('gus')), user: null, via: 'token' }
      await expect(world.identity.keys.list(tokenCaller, { limit: 20, offset: 0 })).rejects.toMatchObject({
        kind: 'missing',
      })
    })

    it('remembers its last use, once a minute and not in the way of the request', async () => {
      const { key, secret } = await world.identity.keys.create(await person('hal'), plain, operation())
      const lastUse = async () =>
        (await world.database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })).lastUsedAt
      const use = async () => {
        const now = world.clock.now()
        await Promise.all([1, 2, 3].map(() => callerOf(world, secret)))
        await world.identity.settled()
        return now
      }
      const first = await use()
      const noted = (await lastUse())!
      expect(noted.getTime()).toBeGreaterThanOrEqual(first.getTime())
      world.clock.forward(50_000)
      await use()
      expect(await lastUse()).toEqual(noted)
      world.clock.forward(11_000)
      const later = await use()
      expect((await lastUse())!.getTime()).toBeGreaterThanOrEqual(later.getTime())
    })
  })

  describe('the signing secret', () => {
    it('is created on first use, once for concurrent calls, and differs in production', async () => {
      const ida = await person('ida')
      const secrets = await Promise.all(Array.from({ length: 10 }, () => world.identity.signingSecrets.get(ida)))
      expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(1)
      expect(secrets[0]!.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(secrets[0]!.previous).toEqual([])
      const live = await world.identity.signingSecrets.get(await person('ida', 'production'))
      expect(live.secret).not.toBe(secrets[0]!.secret)
    })

    it('is sealed in the database, and cannot be opened for another account', async () => {
      const jo = await person('jo')
      const { secret } = await world.identity.signingSecrets.get(jo)
      const where = { userId: jo.user!.id, environment: 'sandbox' } as const
      const row = await world.database.prisma.signingSecret.findUniqueOrThrow({ where: { userId_environment: where } })
      expect(row.sealed).not.toContain(secret.slice(6))
      const kim = await person('kim')
      await world.identity.signingSecrets.get(kim)
      await world.database.prisma.signingSecret.updateMany({
        where: { userId: kim.user!.id },
        data: { sealed: row.sealed },
      })
      await expect(world.identity.signingSecrets.get(kim)).rejects.toMatchObject({ code: 'vault_unreadable' })
    })

    it('rotates: the previous one stays valid for a day', async () => {
      const lee = await person('lee')
      const before = await world.identity.signingSecrets.get(lee)
      const after = await world.identity.signingSecrets.rotate(lee, operation())
      expect(after.secret).not.toBe(before.secret)
      expect(after.previous.map(({ secret }) => secret)).toEqual([before.secret])
      const left = after.previous[0]!.expiresAt.getTime() - world.clock.now().getTime()
      expect(Math.abs(left - 24 * 3_600_000)).toBeLessThan(5_000)
      world.clock.forward(24 * 3_600_000)
      expect((await world.identity.signingSecrets.get(lee)).previous).toEqual([])
    })

    it('rotates once when the request is run again', async () => {
      const moe = await person('moe')
      const before = await world.identity.signingSecrets.get(moe)
      const again = operation()
      const first = await world.identity.signingSecrets.rotate(moe, again)
      const second = await world.identity.signingSecrets.rotate(moe, again)
      expect(second.secret).toBe(first.secret)
      expect(second.previous.map(({ secret }) => secret)).toEqual([before.secret])
    })

    it('ends no secret early when it is rotated again', async () => {
      const nia = await person('nia')
      const secrets = [(await world.identity.signingSecrets.get(nia)).secret]
      for (const hours of [1, 1]) {
        world.clock.forward(hours * 3_600_000)
        secrets.unshift((await world.identity.signingSecrets.rotate(nia, operation())).secret)
      }
      const valid = async (): Promise<string[]> => {
        const { secret, previous } = await world.identity.signingSecrets.get(nia)
        return [secret, ...previous.map((one) => one.secret)]
      }
      expect(await valid()).toEqual(secrets)
      world.clock.forward(23 * 3_600_000)
      expect(await valid()).toEqual(secrets.slice(0, 2))
    })
  })
})
