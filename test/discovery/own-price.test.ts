import { usdc } from '../../service/kit/money.ts'
import type { QuoteView } from '../../service/checkouts/views.ts'
import { openWorld, signed, until, type World } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { Answer } from '../harness/service.ts'
import { buy as buyAt } from '../harness/wallet.ts'
import { agentBody, published } from '../marketplace/bodies.ts'
import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'

/** Agents read the catalogue before they ask: it says what they will be asked for. */
describe('what this service sells', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
  })
  afterAll(() => world.close())

  async function buy(chk: string, choice: object): Promise<Answer> {
    const quote = (await world.call('POST', `/p/${chk}/quote`, { body: { choice } })).body as QuoteView
    const payer = await world.chain.payer(50_000_000n)
    const paymentPayload = await signed(payer, world.chain, quote.paymentRequirements!)
    return await world.call('POST', `/p/${chk}/pay`, {
      body: { input: {}, choice, quoteId: quote.quote.quoteId, paymentPayload },
    })
  }

  const unpaid = async (chk: string): Promise<string> => {
    const { headers } = await world.call('POST', `/p/${chk}`, { body: {} })
    const required = JSON.parse(Buffer.from(headers.get('payment-required')!, 'base64').toString()) as Accepting
    return required.accepts[0]!.amount
  }

  const listed = async (place: string): Promise<string | undefined> => {
    const { body } = await world.call('GET', `/facilitator/discovery/merchant?payTo=${world.recipient}`)
    const found = (body.resources as Listed[]).find(({ resource }) => resource.endsWith(place))
    return found?.accepts[0]!.amount
  }

  test.each<[string, object]>([
    ['a code', { coupon: 'HALF' }],
    ['a quantity', { quantity: 3 }],
    ['a plan', { plan: 'ten' }],
  ])('is listed at the price of its offer, though its buyer paid another one for %s', async (_name, choice) => {
    await world.seller.call('POST', '/v1/coupons', { body: { code: 'HALF', percent: 50 } })
    const { id } = await world.sell({
      price: 2,
      coupons: true,
      pricing: { kind: 'quantity', max: 5 },
      plans: [{ id: 'ten', name: 'Ten audits', price: 15, kind: 'runs', runs: 10 }],
    })
    const { status, body } = await buy(id, choice)
    expect([status, body.payment.amount === 2]).toEqual([200, false])
    await until(async () => (await listed(`/p/${id}`)) !== undefined)
    expect([await listed(`/p/${id}`), await unpaid(id)]).toEqual(['2000000', '2000000'])
  })

  test('at a gate is listed at the price of the first tier, though its buyer is in the second', async () => {
    const tiers = [{ upTo: 1, amount: 0.03 }, { amount: 0.01 }]
    const created = await world.seller.call('POST', '/v1/paywalls', {
      body: {
        ...{ slug: 'tiers', name: 'Weather', upstreamUrl: world.workflow.url, network: 'base-sepolia' },
        recipient: world.recipient,
        routes: [{ method: 'GET', path: '/data', pricing: { model: 'tiered', tiers, window: 'day' } }],
      },
    })
    expect(created.status).toBe(201)
    const payer = await world.chain.payer(50_000_000n)
    const before = await usdcOf(world.chain, payer.address)
    for (const spent of [30_000n, 40_000n]) {
      const wallet = { chain: world.chain, payer, version: 2 as const, terms: {} }
      const headers = { 'x-payment-payer': payer.address }
      const { status } = await buyAt(wallet, `${world.service.origin}/gate/tiers/data`, { headers })
      expect([status, before - (await usdcOf(world.chain, payer.address))]).toEqual([200, spent])
    }
    await until(async () => (await listed('/gate/tiers/data')) !== undefined)
    expect(await listed('/gate/tiers/data')).toBe('30000')
  })
})

/** Each buyer of a run pays for an input of its own. */
describe('an asset', () => {
  let world: GuestWorld
  beforeAll(async () => {
    world = await guestWorld({ SETTLE_CONFIRMATIONS: '1' })
  })
  afterAll(() => world.close())

  const listed = async (slug: string): Promise<number | undefined> => {
    const payTo = world.service.wallets.treasury()!
    const { body } = await world.service.call('GET', `/facilitator/discovery/merchant?payTo=${payTo}`)
    const found = (body.resources as Listed[]).find(({ resource }) => resource.endsWith(`/rda/${slug}/run`))
    return found === undefined ? undefined : Number(found.accepts[0]!.amount) / 1e6
  }
  const maxCost = async (slug: string): Promise<number> =>
    (await world.service.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.maxCost as number

  test('is listed at the most that an ordinary run costs, and at its new price once that is changed', async () => {
    const { creator, service } = world
    const pricing = (amount: number) => ({ pricing: { model: 'per-token', amount } })
    const slug = await world.prompt({ slug: 'by-token', ...pricing(0.01) })
    const payer = await world.chain.payer(50_000_000n)
    const before = await usdcOf(world.chain, payer.address)
    const ran = await world.runAsGuest(slug, undefined, await world.payFor(slug, payer))
    expect([ran.status, ran.text]).toEqual([200, expect.any(String)])
    const first = await maxCost(slug)
    expect(await until(async () => (await listed(slug)) ?? false)).toBe(first)
    expect(Number(before - (await usdcOf(world.chain, payer.address))) / 1e6).toBeLessThan(first)

    const edit = async (amount: number) =>
      expect((await creator.call('PATCH', `/v1/rda/${slug}`, { body: pricing(amount) })).status).toBe(200)
    await edit(0.02)
    expect([await maxCost(slug), await listed(slug)]).toEqual([2 * first, 2 * first])

    // The same name in the other environment is another asset, which guests of this server cannot buy.
    const other = await service.person()
    const copied = await published(other, agentBody())
    const { rda } = (await other.call('GET', `/v1/rda/${copied}`)).body
    const move = `UPDATE rda SET environment = 'production', slug = $2 WHERE id = $1`
    await service.database.statements.run(move, [rda.id, slug])
    const price = { model: 'per-run', amount: usdc(400_000n) } as const
    const edited = await service.assets.edit(
      { ...other.caller, environment: 'production' },
      rda.id as string,
      { pricing: price },
      null,
    )
    expect([edited.slug, edited.pricing]).toEqual([slug, price])
    expect(await listed(slug)).toBe(2 * first)

    // Nor does it hide the one that is sold here.
    const production = { ...other.caller, environment: 'production' } as const
    expect((await service.assets.unpublish(production, rda.id as string)).status).toBe('draft')
    expect(await listed(slug)).toBe(2 * first)

    // What is not published is not sold: it is not found, and what it is ranked by stays.
    const known = async () => (await service.database.statements.run(PAYERS, [`%/rda/${slug}/run`]))[0]
    const ranked = await known()
    expect(ranked).toMatchObject({ settled: 1 })
    const act = async (action: string) =>
      expect((await creator.call('POST', `/v1/rda/${slug}/${action}`)).status).toBe(200)
    const found = async () => {
      const { body } = await service.call('GET', '/facilitator/discovery/search?query=by-token')
      const { body: list } = await service.call('GET', '/facilitator/discovery/resources')
      return [...[body.resources, list.items].map((some: unknown[]) => some.length), await listed(slug)]
    }
    expect(await found()).toEqual([1, 1, 2 * first])
    await act('unpublish')
    await edit(0.03)
    expect(await found()).toEqual([0, 0, undefined])
    await act('publish')
    expect(await found()).toEqual([1, 1, 3 * first])
    await act('archive')
    expect(await found()).toEqual([0, 0, undefined])
    // A process of the version before publishes it, and leaves the entry as it is.
    await service.database.statements.run("UPDATE rda SET status = 'published' WHERE slug = $1", [slug])
    expect(await found()).toEqual([0, 0, undefined])
    await act('publish')
    expect(await found()).toEqual([1, 1, 3 * first])

    // What has become free is not sold to anybody who reads the catalogue, until it has a price again.
    const free = { body: { pricing: { model: 'free' } } }
    expect((await creator.call('PATCH', `/v1/rda/${slug}`, free)).status).toBe(200)
    expect(await listed(slug)).toBeUndefined()
    await edit(0.02)
    expect([await listed(slug), await known()]).toEqual([2 * first, ranked])
  })
})

const PAYERS = `
SELECT r.id, p.settled FROM discovery_resource r JOIN discovery_payer p ON p.resource_id = r.id WHERE r.resource LIKE $1`

interface Accepting {
  accepts: { amount: string }[]
}

interface Listed extends Accepting {
  resource: string
}
