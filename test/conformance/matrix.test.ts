import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { usdcOf } from '../facilitator/world.ts'
import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'
import { startUpstream, type Upstream } from '../paywall/upstream.ts'
import { dialectsOf } from '../harness/mpp.ts'
import { openShopIn, PRICE, PRODUCTS, type Product, type Shop } from '../harness/shop.ts'
import { startBuyer, type Buyer, type Purchase } from './stock.ts'

/** Everything that is sold, to the stock clients of every protocol: each pays each, and each payment buys one thing. */
const CLIENTS = [1, 2, 'mpp'] as const
type Client = (typeof CLIENTS)[number]

describe('the matrix of clients and products', () => {
  let world: GuestWorld
  let upstream: Upstream
  let buyers: Record<Client | 'models', Buyer>
  let shop: Shop
  const table = new Map<string, string>()

  beforeAll(async () => {
    ;[world, upstream] = await Promise.all([
      guestWorld({ RATE_GATE_PER_MINUTE: '0', RATE_TOOLS_PER_MINUTE: '0' }),
      startUpstream(),
    ])
    buyers = { 1: startBuyer(1), 2: startBuyer(2), mpp: startBuyer('mpp'), models: startBuyer('models') }
    shop = await openShopIn(world.service, world.creator, upstream)
  })
  afterAll(async () => {
    await Promise.all(Object.values(buyers).map((buyer) => buyer.stop()))
    await upstream.close()
    await world.close()
    const rows = [...table].map(([name, result]) => `  ${name.padEnd(44)}${result}`)
    console.log(['client and product, and what was tried', ...rows].join('\n'))
  })

  const cells = CLIENTS.flatMap((client) => PRODUCTS.map((product) => [client, product] as const))

  it.each(cells)('a stock client %s buys a %s once; the same payment again buys nothing', async (client, product) => {
    const { url, requestOf } = shop[product]
    const request = requestOf('bought')
    const payer = await world.chain.payer(1_000_000n)
    const purchase = await buyers[client].buy({ url, privateKey: payer.privateKey, request })
    expect({ ...purchase, body: JSON.stringify(purchase.body) }).toMatchObject({ status: 200 })
    expect(transactionOf(purchase)).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await spentBy(payer)).toBe(PRICE)
    note(client, product, 'fresh', '200, paid once')

    const again = await send(product, purchase.header)
    expect([again.status, again.body['code']]).toEqual([409, 'payment_submitted'])
    expect(await spentBy(payer)).toBe(PRICE)
    note(client, product, 'replayed', '409, nothing paid')
  })

  it.each(cells)('a payment of %s for a %s does not pay for the next product too', async (client, product) => {
    const other = PRODUCTS[(PRODUCTS.indexOf(product) + 1) % PRODUCTS.length]!
    const { url, requestOf } = shop[product]
    const request = requestOf('bought')
    const payer = await world.chain.payer(1_000_000n)
    const { header } = await buyers[client].buy({ url, privateKey: payer.privateKey, request, hold: true })
    const answers = await Promise.all([send(product, header), send(other, header)])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    // What answers a challenge pays where the challenge was given; elsewhere it is known as used, or answers no challenge.
    if (client === 'mpp') expect([statuses[0], [402, 409].includes(statuses[1]!)]).toEqual([200, true])
    expect(await spentBy(payer)).toBe(PRICE)
    note(client, product, `crossed with ${other}`, `${statuses.join(' and ')}, paid once`)
  })

  it.each(cells)('a payment of %s for a %s buys once in every dialect together', async (client, product) => {
    const { url, requestOf } = shop[product]
    const request = requestOf('bought')
    const payer = await world.chain.payer(1_000_000n)
    const { header } = await buyers[client].buy({ url, privateKey: payer.privateKey, request, hold: true })
    const forms = dialectsOf(header, world.chain.network)
    const answers = await Promise.all(forms.map((form) => send(product, form)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses.every((status) => [200, 402, 409, 503].includes(status))).toBe(true)
    expect(await spentBy(payer)).toBe(PRICE)
    note(client, product, 'in every dialect at once', `${statuses.join(', ')}, paid once`)
  })

  const models = (['x402', 'mpp'] as const).flatMap((wallet) => [
    [wallet, 'tool', '/tools/mcp?view=all', 'acme-create-note'] as const,
    [wallet, 'checkout', '/mcp', 'a-report'] as const,
  ])
  it.each(models)('a model whose wallet is of %s buys a %s over MCP', async (wallet, product, path, tool) => {
    const url = product === 'tool' ? world.service.origin + path : shop.checkout.url + path
    const payer = await world.chain.payer(1_000_000n)
    const call = { url, tool, input: { title: 'bought' }, privateKey: payer.privateKey, wallet }
    const { tools, result } = await buyers.models.call(call)
    const { description } = tools.find(({ name }) => name === tool)!
    // Cloudflare's client announces the price of what it knows as paid.
    if (wallet === 'x402') expect(description).toContain('you will be charged $0.02')
    expect(result).not.toHaveProperty('isError')
    const { 'x402/payment-response': response, 'org.paymentauth/receipt': receipt } = result['_meta'] as Record<
      string,
      unknown
    >
    expect(wallet === 'x402' ? response : receipt).toMatchObject(
      wallet === 'x402' ? { success: true } : { method: 'evm', status: 'success' },
    )
    expect(await spentBy(payer)).toBe(PRICE)
    table.set(`MCP, wallet of ${wallet}, ${product}`, 'delivered, paid once')
  })

  async function spentBy(payer: TestAccount): Promise<bigint> {
    return 1_000_000n - (await usdcOf(world.chain, payer.address))
  }

  async function send(product: Product, { name, value }: Purchase['header']) {
    const { url, requestOf } = shop[product]
    const request = requestOf('bought')
    const headers = { ...(request.headers as Record<string, string>), [name]: value }
    const response = await fetch(url, { ...request, headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  function note(client: Client, product: Product, tried: string, result: string): void {
    const name = client === 'mpp' ? 'MPP' : `x402 v${String(client)}`
    table.set(`${name} ${product}, ${tried}`, result)
  }
})

function transactionOf({ receipt }: Purchase): Hex | undefined {
  return receipt?.reference ?? receipt?.transaction
}
