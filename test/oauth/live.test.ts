import { liveSettings } from '../harness/live.ts'
import { authorizePath, oauthWorld, REDIRECT, VERIFIER, type OAuthWorld } from './world.ts'

describe('a connection to a live server', () => {
  let world: OAuthWorld

  beforeAll(async () => {
    world = await oauthWorld({
      ...liveSettings(),
      // No worker runs, so no mail is sent.
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'us@example.com',
    })
  })
  afterAll(() => world.close())

  test.each(['sandbox', 'production'] as const)(
    'is for the environment that the owner chose: %s',
    async (environment) => {
      const other = environment === 'sandbox' ? 'production' : 'sandbox'
      const cookie = await world.signUp()
      const clientId = await world.register()
      const path = authorizePath(clientId, world.resource)
      expect(await (await world.get(path, cookie)).text()).toContain('Production (real money)')
      const back = (await world.decide(path, cookie, { environment })).headers.get('location')
      const { body } = await world.post('token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: REDIRECT,
        code_verifier: VERIFIER,
        code: new URL(String(back)).searchParams.get('code')!,
      })
      const token = String(body['access_token'])
      expect((await world.balance(token)).status).toBe(200)
      expect((await world.balance(token, { 'coinslot-environment': environment })).status).toBe(200)
      expect((await world.balance(token, { 'coinslot-environment': other })).status).toBe(400)
      const keysOf = async (at: string) => {
        const headers = { cookie, origin: world.address, 'coinslot-environment': at }
        return Number((await world.service.call('GET', '/v1/keys', { headers })).body.total)
      }
      expect([await keysOf(environment), await keysOf(other)]).toEqual([1, 0])
    },
  )
})
