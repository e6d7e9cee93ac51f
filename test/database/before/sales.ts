import type { MethodName, SaleState } from '../../../service/sales/model.ts'
import { newToken } from '../../chaos/token.ts'
import type { TestChain } from '../../harness/chain.ts'
import { answerOf, type Answer, type TestPerson, type TestService } from '../../harness/service.ts'
import { openShopIn, posted, PRODUCTS, type Goods, type Shop } from '../../harness/shop.ts'
import { until } from '../../harness/until.ts'
import { buy, type Version } from '../../harness/wallet.ts'
import { json, type Upstream } from '../../paywall/upstream.ts'
import { refund, work } from '../../refunds/sales.ts'
import type { Places } from './places.ts'

export const START = 1_000_000n

/** Where its product stands still, and how this version ends it. */
export interface Sold {
  at: string
  id: string
  state: SaleState
  method: MethodName
}

export interface Store {
  service: TestService
  places: Places
  chain: TestChain
  upstream: Upstream
  seller: TestPerson
}

/**
 * Sales of a store in every state, by every method of that version. It had no `upto`, and no account bought in the ledger: a
 * later migration added each.
 */
export class Sales {
  readonly sold: Sold[] = []
  private readonly store: Store
  private readonly shop: Shop

  private constructor(store: Store, shop: Shop) {
    this.store = store
    this.shop = shop
  }

  static async open(store: Store): Promise<Sales> {
    return new Sales(store, await openShopIn(store.service, store.seller, store.upstream))
  }

  /** Those that have ended: before anything stands still, because a refund is paid by all workers. */
  async end(): Promise<void> {
    const { upstream } = this.store
    for (const product of PRODUCTS) {
      await this.sell(`paid: ${product}`, 'paid', 'exact', () => this.pay(this.shop[product]))
      await this.sell(`paid: ${product} by MPP`, 'paid', 'exact', () => this.pay(this.shop[product], 'mpp'))
    }
    for (const { product, path, state } of FAILING) {
      upstream.on(path, (_, response) => json(response, 500, {}))
      await this.sell(`not delivered: ${product}`, state, 'exact', () => this.buy(this.shop[product]))
      upstream.on(path, (_, response) => json(response, 200, { message: 'done' }))
    }
    await this.refunded(await this.sell('refunded', 'refunded', 'exact', () => this.pay(this.shop.checkout)))
  }

  /** Those that a wallet has signed for. */
  async standSigned(): Promise<void> {
    for (const product of PRODUCTS) {
      const claimed = product === 'checkout' ? 'paid' : 'released'
      const stop = (place: string, version?: Version) =>
        this.sell(`${product}: ${place} ${version ?? ''}`, place === 'sale claimed' ? claimed : 'paid', 'exact', () =>
          this.stop(place, this.shop[product], version),
        )
      for (const place of ['sale claimed', 'sale settling', 'sale settled', 'sale paid', 'settlement claimed'])
        await stop(place)
      for (const place of ['sale claimed', 'sale settling']) await stop(place, 'mpp')
    }
  }

  /** Those whose work decides whether they are paid. */
  async hold(capture: 'onSuccess' | 'escrow'): Promise<void> {
    const method = capture === 'escrow' ? 'auth-capture' : 'exact'
    const place = capture === 'escrow' ? 'sale authorized' : 'sale claimed'
    const { upstream, places } = this.store
    const goods = await this.checkout({ capture, responseMode: 'lastNode' })
    upstream.on('/fails', (_, response) => json(response, 410, {}))
    const fails = await this.checkout({ capture, responseMode: 'lastNode', callbackUrl: `${upstream.url}/fails` })
    const hold = (at: string, state: SaleState, of = goods) =>
      this.sell(`${capture}: ${at}`, state, method, () => this.stop(place, of))

    await this.report(await hold('paid', 'paid'), 'succeeded')
    await this.report(await hold('failed', 'failed'), 'failed')
    await hold('held, then done', 'paid')
    await hold('held, then failed', 'failed', fails)
    for (const at of ['sale captured', 'settlement claimed', 'sale settled', 'sale paid']) {
      const id = await hold(`${at}, by its seller's report`, 'paid')
      await places.stop(at, () => this.report(id, 'succeeded'))
    }
    if (capture !== 'escrow') return
    for (const at of ['sale claimed', 'sale settling', 'settlement claimed', 'sale settled'])
      await this.sell(`escrow: ${at}`, 'paid', method, () => this.stop(at, goods))
    for (const at of ['sale given up', 'sale settled']) {
      const id = await hold(`${at}, then given back`, 'failed')
      await places.stop(at, () => this.report(id, 'failed'))
    }
  }

  /** Those of test mode. */
  async simulate(): Promise<void> {
    const { service, upstream, seller } = this.store
    const { url } = await this.checkout({ testMode: true })
    const held = await this.checkout({ testMode: true, capture: 'onSuccess', responseMode: 'lastNode' })
    const sell = (at: string, state: SaleState, outcome: string, of = url) =>
      this.sell(`simulated: ${at}`, state, 'simulated', () => this.take(of, { simulate: true, outcome }))
    await sell('settling', 'paid', 'slow')
    service.clock.forward(2_000)
    await service.sales.sales(service.clock.now())
    await sell('claimed', 'paid', 'slow')
    await sell('failed', 'failed', 'declined')
    await sell('held', 'paid', 'paid', held.url)
    await this.sell('paid: checkout in test mode', 'paid', 'simulated', () => this.take(url, { simulate: true }))
    await this.refunded(await sell('refunded', 'refunded', 'paid'))
    const { paywall } = await posted(seller, '/v1/paywalls', {
      ...{ slug: 'test-gate', name: 'Weather', upstreamUrl: upstream.url, network: 'base', testMode: true },
      routes: [{ method: 'POST', path: '/weather', pricing: { model: 'per-request', amount: 0.02 } }],
    })
    const { testToken } = paywall as { testToken: string }
    const { requestOf } = this.shop.gate
    await this.sell('paid: gate in test mode', 'paid', 'simulated', async () => {
      const request = requestOf('bought')
      const headers = { ...(request.headers as Record<string, string>), 'x-payment-token': testToken }
      assertServed(await answerOf(await fetch(`${service.origin}/gate/test-gate/weather`, { ...request, headers })))
    })
  }

  /** Those that cost nothing. */
  async give(): Promise<void> {
    const { places, seller } = this.store
    await posted(seller, '/v1/coupons', { code: 'ALL', percent: 100 })
    const { url } = await this.checkout({ coupons: true, refundOnFailure: true })
    const held = await this.checkout({ coupons: true, capture: 'onSuccess', responseMode: 'lastNode' })
    const free = { free: true, choice: { coupon: 'ALL' } }
    const sell = (at: string, state: SaleState, of = url) =>
      this.sell(`free: ${at}`, state, 'free', () => this.take(of, { ...free, token: newToken() }))
    await sell('paid', 'paid')
    await this.report(await sell('refunded', 'refunded'), 'failed')
    await sell('held', 'paid', held.url)
    await this.report(await sell('failed', 'failed', held.url), 'failed')
    await this.sell('free: claimed', 'paid', 'free', () =>
      places.stop('sale claimed', () => this.take(url, { ...free, token: newToken() })),
    )
  }

  /** At a gate of a service whose gates another facilitator settles. */
  async sellElsewhere(): Promise<void> {
    const { gate } = this.shop
    await this.sell('paid: gate elsewhere', 'paid', 'remote', () => this.pay(gate))
    await this.sell('paid: gate elsewhere by MPP', 'paid', 'remote', () => this.pay(gate, 'mpp'))
    for (const place of ['sale claimed', 'sale settling', 'sale settled', 'sale paid']) {
      const state = place === 'sale claimed' ? 'released' : 'paid'
      await this.sell(`elsewhere: ${place}`, state, 'remote', () => this.stop(place, gate))
    }
  }

  /** Once the sender of transactions stands still nothing is settled any more. */
  async stopSending(): Promise<void> {
    await this.sell('signed', 'paid', 'exact', () => this.stop('transaction signed', this.shop.gate))
  }

  private async sell(at: string, state: SaleState, method: MethodName, make: () => Promise<unknown>): Promise<string> {
    await make()
    const [newest] = await this.store.service.database.statements.run<{ id: string }>(NEWEST, [])
    const { id } = newest!
    if (this.sold.some((sale) => sale.id === id)) throw new Error(`nothing was sold: ${at}`)
    this.sold.push({ at, id, state, method })
    return id
  }

  private stop(place: string, goods: Goods, version?: Version): Promise<void> {
    return this.store.places.stop(place, () => this.buy(goods, version))
  }

  private async pay(goods: Goods, version?: Version): Promise<void> {
    assertServed(await this.buy(goods, version))
  }

  private async buy({ url, requestOf }: Goods, version?: Version): Promise<Answer> {
    const { chain } = this.store
    const wallet = { chain, payer: await chain.payer(START), ...(version === undefined ? {} : { version }) }
    return await buy(wallet, url, requestOf('bought'))
  }

  /** What nobody signs for. */
  private async take(url: string, body: object): Promise<void> {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${url}/pay`, { ...request, body: JSON.stringify({ input: {}, ...body }) })
    if (answer.status >= 300) throw new Error(await answer.text())
  }

  private async report(id: string, status: 'succeeded' | 'failed'): Promise<void> {
    await posted(this.store.seller, `/v1/payments/${id}/outcome`, { status })
  }

  private async refunded(id: string): Promise<void> {
    const { service, chain, seller } = this.store
    await refund(seller, id, {})
    await until(async () => {
      await work(service)
      await chain.mine(1)
      return (await seller.call('GET', `/v1/payments/${id}`)).body.payment.state === 'refunded'
    })
  }

  private async checkout(terms: object): Promise<Goods> {
    const { service, upstream, seller } = this.store
    const common = { product: { name: 'A report' }, price: 0.02, network: 'base', recipient: RECIPIENT }
    const fields = [{ name: 'title', type: 'text' }]
    const body = { ...common, fields, callbackUrl: `${upstream.url}/hook`, ...terms }
    const { checkout } = await posted(seller, '/v1/checkouts', body)
    return { ...this.shop.checkout, url: `${service.origin}/p/${(checkout as { id: string }).id}` }
  }
}

export const RECIPIENT = '0x00000000000000000000000000000000000000c6'

/** A call that may change something is paid first. */
const FAILING = [
  { product: 'gate', path: '/weather', state: 'released' },
  { product: 'tool', path: '/notes', state: 'paid' },
  { product: 'asset', path: '/ran', state: 'released' },
] as const

const NEWEST = 'SELECT id FROM sale ORDER BY created_at DESC LIMIT 1'

function assertServed({ status, text }: Answer): void {
  if (status !== 200) throw new Error(`${String(status)} ${text}`)
}
