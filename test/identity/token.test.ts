import { generateKeyPair } from 'jose'
import { createDiscovery } from '../../service/identity/discovery.ts'
import { createTokenIssuer } from '../../service/identity/issuer.ts'
import type { TokenIssuer } from '../../service/identity/ports.ts'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { startIssuer, type IssuerServer } from './issuer-server.ts'
import { callerOf, grantsOf, openWorld, type World } from './world.ts'

describe('tokens', () => {
  let world: World
  let server: IssuerServer
  let outbound: Outbound
  beforeAll(async () => {
    server = await startIssuer()
    outbound = outboundClient({ policy: { allowPrivate: false, allowHosts: [new URL(server.url).host] } })
    world = await openWorld({ issuer: issuerAt(server.url) })
  })
  afterAll(async () => {
    await world.close()
    await outbound.close()
    await server.close()
  })

  function issuerAt(issuer: string): TokenIssuer {
    const silent = () => undefined
    const discover = createDiscovery({
      issuer,
      log: { info: silent, warn: silent, error: silent },
      fetchDocument: async (url) => {
        const { status, body } = await outbound.send({ url })
        return { status, text: body.toString() }
      },
    })
    return createTokenIssuer({ issuer, audience: 'coinslot', discover })
  }

  describe('a token of the configured issuer', () => {
    it('is a caller without a user before sign-up', async () => {
      const caller = await callerOf(world, await server.sign({ sub: 'stranger' }))
      expect(caller).toMatchObject({
        user: null,
        subject: 'stranger',
        issuer: server.url,
        via: 'token',
        environment: 'sandbox',
      })
    })

    it('signs up with its name and address, confirmed if verified there', async () => {
      const token = await server.sign({ sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann' })
      const first = await world.identity.signUpCaller(await callerOf(world, token), '198.51.100.7')
      expect(first.created).toBe(true)
      expect(first.caller.user).toMatchObject({ email: 'ann@example.com', emailConfirmed: true, name: 'Ann' })
      expect(await grantsOf(world, first.caller.user.id)).toEqual([5, 5])
      const second = await world.identity.signUpCaller(await callerOf(world, token), '198.51.100.7')
      expect(second).toMatchObject({ created: false, caller: { user: { id: first.caller.user.id } } })
      expect(await grantsOf(world, first.caller.user.id)).toEqual([5, 5])
      await world.deliver()
      expect(world.mails).toEqual([])
    })

    it('without a verified address waits for the production credits', async () => {
      for (const claims of [
        { email: 'b@example.com' },
        { email_verified: true },
        { email: 'b@example.com', email_verified: 'no' },
      ]) {
        const token = await server.sign({ sub: `b${JSON.stringify(claims).length}`, ...claims })
        const { caller } = await world.identity.signUpCaller(await callerOf(world, token), '198.51.100.7')
        expect(await grantsOf(world, caller.user.id)).toEqual([5, 0])
      }
    })

    it('is valid for 30 seconds beyond its expiry, for clock skew, and no longer', async () => {
      const at = Math.floor(Date.now() / 1000)
      const authorization = `Bearer ${await server.sign({ exp: at })}`
      const request = { authorization, environmentHeader: undefined }
      await world.identity.identify({ ...request, now: new Date((at + 29) * 1000) })
      const late = world.identity.identify({ ...request, now: new Date((at + 31) * 1000) })
      await expect(late).rejects.toMatchObject({ kind: 'unauthenticated' })
    })

    it.each<[string, Record<string, unknown>]>([
      ['another audience', { aud: 'somebody-else' }],
      ['no audience', { aud: undefined }],
      ['another issuer', { iss: 'https://evil.example' }],
      ['no subject', { sub: undefined }],
      ['an empty subject', { sub: '' }],
      ['a subject that no text column takes', { sub: 'a\u0000b' }],
      ['a subject without end', { sub: 'x'.repeat(300) }],
      ['no end', { exp: undefined }],
      ['a beginning in the future', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ])('with %s is refused', async (_, claims) => {
      await expect(callerOf(world, await server.sign(claims))).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('signed by another key, by a shared secret, or not at all is refused', async () => {
      const other = await generateKeyPair('ES256')
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"ann"}').toString('base64url')}.`
      const tokens = [
        await server.sign({}, { key: other.privateKey }),
        await server.sign({}, { alg: 'HS256', key: Buffer.from('a secret that is long enough to sign') }),
        `${unsigned}x`,
        unsigned,
        'a.b.c',
      ]
      for (const token of tokens)
        await expect(callerOf(world, token)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('is refused where no issuer is configured', async () => {
      const without = await openWorld()
      try {
        await expect(callerOf(without, await server.sign({}))).rejects.toMatchObject({ code: 'unauthenticated' })
      } finally {
        await without.close()
      }
    })
  })

  describe('the issuer', () => {
    it('is read once for many tokens', async () => {
      const fresh = issuerAt(server.url)
      server.requests.length = 0
      const token = await server.sign({})
      await Promise.all(Array.from({ length: 20 }, () => fresh.verify(token, new Date())))
      expect(server.requests).toEqual(['/.well-known/openid-configuration', '/jwks'])
    })

    it('may spell its name with a slash at the end; its users stay the same', async () => {
      const slashed = await startIssuer({ slash: true })
      const client = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
      const fetchDocument = async (url: string) => {
        const { status, body } = await client.send({ url })
        return { status, text: body.toString() }
      }
      const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
      const discover = createDiscovery({ issuer: slashed.url, log, fetchDocument })
      const issuer = createTokenIssuer({ issuer: slashed.url, audience: 'coinslot', discover })
      expect(await issuer.verify(await slashed.sign({}), new Date())).toMatchObject({
        issuer: slashed.url,
        subject: 'ann',
      })
      await client.close()
      await slashed.close()
    })

    it.each([
      ['its discovery fails', '/.well-known/openid-configuration', { status: 500, body: 'no' }],
      [
        'its discovery is about another',
        '/.well-known/openid-configuration',
        { status: 200, body: '{"issuer":"https://evil.example","jwks_uri":"https://evil.example/jwks"}' },
      ],
      ['its discovery is no JSON', '/.well-known/openid-configuration', { status: 200, body: '<html>' }],
      ['its keys fail', '/jwks', { status: 503, body: 'no' }],
      ['its keys are invalid', '/jwks', { status: 200, body: '{"hello":"world"}' }],
      ['its keys lead elsewhere', '/jwks', { status: 302, body: '' }],
    ])('is unavailable, not the token wrong, while %s; and recovers', async (_, path, fault) => {
      const fresh = issuerAt(server.url)
      const token = await server.sign({})
      server.broken.set(path, fault)
      await expect(fresh.verify(token, new Date())).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'identity_provider_unavailable',
      })
      server.broken.delete(path)
      expect((await fresh.verify(token, new Date())).subject).toBe('ann')
    })

    it('that cannot be reached is unavailable', async () => {
      const stopped = await startIssuer()
      const token = await stopped.sign({})
      await stopped.close()
      await expect(issuerAt(stopped.url).verify(token, new Date())).rejects.toMatchObject({
        code: 'identity_provider_unavailable',
      })
    })

    it('that changed its key is not read again for every token', async () => {
      const fresh = issuerAt(server.url)
      await fresh.verify(await server.sign({}), new Date())
      await server.rotate()
      const token = await server.sign({})
      server.requests.length = 0
      for (let tries = 0; tries < 10; tries++) {
        await expect(fresh.verify(token, new Date())).rejects.toMatchObject({ code: 'unauthenticated' })
      }
      expect(server.requests).toEqual([])
      // One that starts after the change knows the new key.
      expect((await issuerAt(server.url).verify(token, new Date())).subject).toBe('ann')
    })
  })
})
