import { randomUUID } from 'node:crypto'
import { newId } from '../../service/kit/ids.ts'
import type { Caller } from '../../service/kit/caller.ts'
import { callerOf, openWorld, post, newPerson, type World } from './world.ts'

describe('identifying a caller', () => {
  let sandbox: World
  let live: World
  beforeAll(async () => {
    sandbox = await openWorld()
    live = await openWorld({ live: true })
  })
  afterAll(async () => {
    await sandbox.close()
    await live.close()
  })

  describe('the environment', () => {
    it('of a key is the key’s, and a header must not contradict it', async () => {
      const test = await keyIn(live, 'sandbox')
      const real = await keyIn(live, 'production')
      expect((await callerOf(live, test.secret)).environment).toBe('sandbox')
      expect((await callerOf(live, real.secret)).environment).toBe('production')
      expect((await callerOf(live, real.secret, 'production')).environment).toBe('production')
      for (const [secret, header] of [
        [test.secret, 'production'],
        [real.secret, 'sandbox'],
      ] as const) {
        await expect(callerOf(live, secret, header)).rejects.toMatchObject({
          kind: 'invalid',
          code: 'environment_mismatch',
        })
      }
    })

    it('of a session is the one in the header, or the sandbox by default', async () => {
      const token = await sessionIn(live)
      expect((await callerOf(live, token)).environment).toBe('sandbox')
      expect((await callerOf(live, token, 'sandbox')).environment).toBe('sandbox')
      expect((await callerOf(live, token, 'production')).environment).toBe('production')
    })

    it('production is refused on a sandbox server, naming the header, and a live key is unknown', async () => {
      const refusal = {
        kind: 'invalid',
        code: 'environment_unavailable',
        fields: { details: { 'Coinslot-Environment': expect.any(String) as string } },
      }
      await expect(callerOf(sandbox, await sessionIn(sandbox), 'production')).rejects.toMatchObject(refusal)
      const { secret } = await keyIn(sandbox, 'production')
      await expect(callerOf(sandbox, secret)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it.each(['', 'Sandbox', 'test', 'production, sandbox'])('is not %p', async (header) => {
      const { secret } = await keyIn(sandbox, 'sandbox')
      for (const credential of [secret, await sessionIn(sandbox)]) {
        await expect(callerOf(sandbox, credential, header)).rejects.toMatchObject({
          kind: 'invalid',
          code: 'environment_unknown',
        })
      }
    })
  })

  describe('an unknown caller', () => {
    it('gets the reason, without facts that only the holder of a key may know', async () => {
      const now = sandbox.clock.now()
      const revoked = await keyIn(sandbox, 'sandbox')
      await sandbox.identity.keys.revoke(revoked.caller, revoked.key.id)
      const expired = await keyIn(sandbox, 'sandbox', new Date(now.getTime() + 60_000))
      const live = await keyIn(sandbox, 'production')
      const authorizations: [string | undefined, string][] = [
        [undefined, 'credential_missing'],
        ['', 'credential_missing'],
        ['Bearer', 'credential_missing'],
        ['Bearer ', 'credential_missing'],
        ['Basic YTpi', 'scheme_unknown'],
        [revoked.secret, 'bearer_missing'],
        ['Bearer two words', 'credential_invalid'],
        ['Bearer schlüssel', 'credential_invalid'],
        [`Bearer ${revoked.secret}`, 'key_revoked'],
        [`Bearer ${expired.secret}`, 'key_expired'],
        [`Bearer ${live.secret}`, 'key_unknown'],
        [`Bearer csk_test_${'0'.repeat(43)}`, 'key_unknown'],
        [`Bearer ${revoked.secret.slice(0, -1)}`, 'key_unknown'],
        [`Bearer csk_`, 'key_unknown'],
        [`Bearer ${'x'.repeat(9000)}`, 'credential_invalid'],
        ['Bearer a.b.c', 'credential_invalid'],
        ['Bearer nothing', 'credential_invalid'],
      ]
      const sentences = new Map<string, string>()
      for (const [authorization, reason] of authorizations) {
        const request = { authorization, environmentHeader: 'production', now: new Date(now.getTime() + 60_001) }
        const error = await sandbox.identity.identify(request).then(
          () => new Error(`${String(authorization)} was let in`),
          (thrown: unknown) => thrown as Error & { kind: string; code: string; fields: object },
        )
        expect([authorization, error]).toMatchObject([
          authorization,
          { kind: 'unauthenticated', code: 'unauthenticated', fields: { reason } },
        ])
        expect(sentences.get(reason) ?? error.message).toBe(error.message)
        sentences.set(reason, error.message)
      }
      expect(new Set(sentences.values()).size).toBe(7)
    })

    it('costs one statement, whether the key is unknown, revoked or expired', async () => {
      const { caller, key, secret } = await keyIn(sandbox, 'sandbox')
      await sandbox.identity.keys.revoke(caller, key.id)
      const expired = await keyIn(sandbox, 'sandbox', new Date(sandbox.clock.now().getTime() + 60_000))
      sandbox.clock.forward(60_001)
      for (const text of [secret, expired.secret, 'csk_test_never', 'csk_live_never', 'csk_whatever']) {
        const statements = await statementsOf(sandbox, () => callerOf(sandbox, text).catch(() => null))
        expect(statements).toEqual(['identity_find_keys'])
      }
    })

    it('the scheme’s name in any letters, the credential exactly', async () => {
      const { secret } = await keyIn(sandbox, 'sandbox')
      const identify = (authorization: string) =>
        sandbox.identity.identify({ authorization, environmentHeader: undefined, now: sandbox.clock.now() })
      for (const good of [`bearer ${secret}`, `BEARER  ${secret} `]) expect((await identify(good)).via).toBe('key')
      await expect(identify(`Bearer ${secret.toUpperCase()}`)).rejects.toMatchObject({ code: 'unauthenticated' })
      await expect(identify(`Bearer ${secret}x`)).rejects.toMatchObject({ code: 'unauthenticated' })
    })
  })
})

async function keyIn(world: World, environment: Caller['environment'], expiresAt: Date | null = null) {
  const { user } = await world.identity.signUp(newPerson('ann'))
  const caller: Caller = {
    user,
    subject: 'ann',
    issuer: user.issuer,
    environment,
    via: 'session',
    keyId: null,
    agentId: null,
  }
  const input = { name: 'k', agentId: null, expiresAt }
  const created = await world.identity.keys.create(caller, input, newId('op', world.clock.now()))
  return { caller, ...created }
}

async function sessionIn(world: World): Promise<string> {
  const email = `s${randomUUID()}@example.com`
  return (await post(world, '/sign-up/email', { email, password: 'correct horse battery', name: 'S' })).body[
    'token'
  ] as string
}

/** The names of the statements that the pool was asked for meanwhile. */
async function statementsOf(world: World, work: () => Promise<unknown>): Promise<(string | undefined)[]> {
  const { pool } = world.database
  const query = pool.query.bind(pool)
  const names: (string | undefined)[] = []
  pool.query = ((config: { name?: string }) => {
    names.push(config.name)
    return query(config as never)
  }) as typeof pool.query
  try {
    await work()
    return names
  } finally {
    pool.query = query
  }
}
