import { newId } from '../../service/kit/ids.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'
import { listen, type Listener } from './stream.ts'

/** The changes that the dashboard's open pages receive. */
describe('changes', () => {
  let world: RunWorld
  let open: Listener[] = []
  beforeAll(async () => {
    world = await runWorld()
  })
  afterEach(() => {
    for (const one of open) one.leave()
    open = []
  })
  afterAll(() => world.close())

  const follow = async (headers: Record<string, string>, lastId?: string | null): Promise<Listener> => {
    const one = await listen(world.service.origin, headers, lastId)
    open.push(one)
    return one
  }
  const by = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` })

  test('are announced once per kind, to the account they belong to and to no other', async () => {
    const slug = await world.prompt()
    const [person, other] = [await world.caller(10), await world.caller(10)]
    const [mine, theirs] = [await follow(by(person)), await follow(by(other))]
    expect([await mine.next(), await theirs.next()]).toEqual([[], []])

    await world.run(person, slug)
    await mine.waitFor('runs')
    const { body } = await person.call('POST', '/v1/agents', { body: { name: 'Buyer', approvalAbove: 0.001 } })
    await mine.waitFor('agents')
    const { secret } = (await person.call('POST', '/v1/keys', { body: { name: 'b', agentId: body.agent.id } })).body
    await mine.waitFor('keys')
    await world.service.call('POST', '/v1/run', { key: secret, body: { rdaSlug: slug, inputs: { say: 'x' } } })
    await mine.waitFor('agents')
    await person.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] },
    })
    await mine.waitFor('deliveries')
    await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 1, to: `0x${'22'.repeat(20)}` } })
    await mine.waitFor('wallet')
    await person.call('POST', '/v1/paywalls', { body: PAYWALL })
    await mine.waitFor('paywalls')
    const { checkout } = (await person.call('POST', '/v1/checkouts', { body: CHECKOUT })).body
    await mine.waitFor('checkouts')
    await person.call('POST', `/v1/checkouts/${String(checkout.id)}/test-payment`, { body: {} })
    await mine.waitFor('checkouts')

    // The other user got no event while only the first user's data changed; their first event is about their own
    // change.
    await other.call('POST', '/v1/keys', { body: { name: 'mine' } })
    expect(await theirs.next()).toEqual(['keys'])
  })

  test('reach a creator when another user runs their asset', async () => {
    const slug = await world.prompt()
    const creator = await follow(by(world.creator))
    await creator.next()
    await world.run(await world.caller(1), slug)
    await creator.waitFor('wallet')
  })

  test('are found from the row, also when another process wrote it', async () => {
    const person = await world.caller(1)
    const page = await follow(by(person))
    await page.next()
    const { statements } = world.service.testDatabase
    await statements.run('UPDATE identity_api_key SET revoked_at = now() WHERE user_id = $1', [person.caller.user.id])
    expect(await page.next()).toEqual(['keys'])
  })

  test('a client that reconnects gets the changes since then, and no others', async () => {
    const person = await world.caller(1)
    const first = await follow(by(person))
    await first.next()
    first.leave()
    await person.call('POST', '/v1/keys', { body: { name: 'second' } })
    const again = await follow(by(person), first.lastId)
    expect(await again.next()).toEqual(['keys'])
    const unchanged = await follow(by(person), again.lastId)
    expect(await unchanged.next()).toEqual([])
    // A cursor from another release is unknown: then every kind of data may have changed.
    const lost = await follow(by(person), 'somewhere')
    expect((await lost.next()).length).toBeGreaterThan(8)
  })

  test('a stream ends with the session that opened it', async () => {
    const { cookie, signOut } = await signedIn()
    const page = await follow({ cookie })
    expect(await page.next()).toEqual([])
    await signOut()
    world.service.clock.forward(15_000)
    expect(await page.next()).toBe('over')
    expect((await follow({ cookie })).status).toBe(401)
  })

  test('an account has at most twelve open streams; other accounts have their own', async () => {
    const [person, other] = [await world.caller(0), await world.caller(0)]
    const all = await Promise.all(Array.from({ length: 12 }, () => follow(by(person))))
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
    expect((await follow(by(person))).status).toBe(429)
    expect((await follow(by(other))).status).toBe(200)
    all[0]!.leave()
    // The slot is free as soon as the service has noticed the disconnect.
    await world.until(
      async () => (await follow(by(person))).status,
      (status) => status === 200,
    )
  })

  test('refuse requests without a session (401) and with an agent’s key (403)', async () => {
    const person = await world.caller(0)
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'Buyer' } })).body
    const bound = await person.call('POST', '/v1/keys', { body: { name: 'bound', agentId: agent.id } })
    expect((await follow({})).status).toBe(401)
    expect((await follow({ authorization: `Bearer ${String(bound.body.secret)}` })).status).toBe(403)
  })

  async function signedIn(): Promise<{ cookie: string; signOut: () => Promise<void> }> {
    const { origin } = new URL(world.service.served.surfaces.find(({ name }) => name === 'api')!.address)
    const email = `${newId('op', new Date())}@example.com`
    const created = await world.service.call('POST', '/auth/sign-up/email', {
      headers: { origin },
      body: { email, name: 'Ada', password: 'correct horse battery' },
    })
    const cookie = created.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    return {
      cookie,
      signOut: async () => {
        const { status } = await world.service.call('POST', '/auth/sign-out', { headers: { cookie, origin }, body: {} })
        expect(status).toBe(200)
      },
    }
  }
})

const PAYWALL = {
  slug: 'news',
  name: 'News',
  upstreamUrl: 'http://127.0.0.1:9',
  routes: [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }],
  network: 'base-sepolia',
  testMode: true,
}

const CHECKOUT = {
  callbackUrl: 'http://127.0.0.1:9/flow',
  product: { name: 'Audit' },
  price: 5,
  network: 'base-sepolia',
  testMode: true,
}
