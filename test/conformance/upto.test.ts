import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { ownSale, payUpto, uptoBody, uptoTerms, type UptoTerms } from '../harness/upto.ts'
import { openWorld, usdcOf, type World } from '../facilitator/world.ts'
import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'
import { json, startUpstream, type Upstream } from '../paywall/upstream.ts'
import { startBuyer, type Buyer } from './stock.ts'

const USED = 120_000n

/** A seller that serves first, and takes what was used of what the buyer permitted. */
describe('the scheme upto', () => {
  let world: World
  let facilitator: Hex
  let payer: TestAccount
  let buyer: Buyer
  let shop: Server
  let terms: UptoTerms
  beforeAll(async () => {
    world = await openWorld()
    facilitator = world.chain.accounts[0]!.address
    payer = await world.chain.payer(10_000_000n)
    buyer = startBuyer(2)
    terms = uptoTerms(world.chain, { facilitator, receiver: world.seller })
    shop = createServer((request, response) => {
      const payment = request.headers['payment-signature'] as string | undefined
      void serve(payment).then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
    })
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    await buyer.stop()
    await new Promise((resolve) => shop.close(resolve))
    await world.close()
  })

  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
  const url = () => `http://127.0.0.1:${String((shop.address() as AddressInfo).port)}/metered`

  async function serve(payment: string | undefined) {
    if (payment === undefined) {
      const extensions = { eip2612GasSponsoring: { info: {}, schema: {} } }
      const required = { x402Version: 2, error: 'Pay first.', resource: { url: url() }, accepts: [terms], extensions }
      return { status: 402, headers: { 'PAYMENT-REQUIRED': base64(required) }, body: JSON.stringify(required) }
    }
    const paymentPayload = JSON.parse(Buffer.from(payment, 'base64').toString()) as unknown
    const paid = { x402Version: 2, paymentPayload, paymentRequirements: terms }
    const { verify, settle } = ownSale(world.service.facilitator)
    const { refusal } = await verify(paid)
    if (refusal !== null) return { status: 402, headers: {}, body: JSON.stringify({ refusal }) }
    const taken = { ...paid, paymentRequirements: { ...terms, amount: String(USED) } }
    const { success, txHash: transaction, payer: from } = await settle(taken)
    const receipt = { success, transaction, network: terms.network, payer: from, amount: String(USED) }
    return { status: 200, headers: { 'PAYMENT-RESPONSE': base64(receipt) }, body: JSON.stringify({ page: 'worth it' }) }
  }

  it('is paid by the stock client, who approved nothing before', async () => {
    const before = await usdcOf(world.chain, payer.address)
    const purchase = await buyer.buy({ url: url(), privateKey: payer.privateKey, rpc: world.chain.url })
    expect(purchase).toMatchObject({ status: 200, body: { page: 'worth it' }, receipt: { success: true } })
    expect(before - (await usdcOf(world.chain, payer.address))).toBe(USED)
  })

  it('is judged and settled by the reference on the same contracts as here', async () => {
    const { chainId } = world.chain.network
    const at = { rpc: world.chain.url, privateKey: world.chain.accounts[1]!.privateKey, chainId }
    const own = uptoTerms(world.chain, { facilitator: world.chain.accounts[1]!.address, receiver: world.seller })
    const { body, payload, extensions } = await payUpto(world.chain, payer, own)
    expect(await buyer.judge({ ...at, body })).toBeNull()
    const before = await usdcOf(world.chain, payer.address)
    const taken = uptoBody(own, payload, extensions, USED)
    expect(await buyer.settle({ ...at, body: taken })).toMatchObject({ success: true, amount: String(USED) })
    expect(before - (await usdcOf(world.chain, payer.address))).toBe(USED)
  })

  it('is refused here for the reasons of the reference', async () => {
    const { chainId } = world.chain.network
    const at = { rpc: world.chain.url, privateKey: world.chain.accounts[0]!.privateKey, chainId }
    const nobody = '0x00000000000000000000000000000000000000aa'
    for (const signing of [
      { spender: nobody },
      { to: nobody },
      { facilitator: nobody },
      { deadline: 1_000n },
      { validAfter: 99_999_999_999n },
      { amount: 999_999n },
      { sponsored: false },
      { sponsored: { spender: nobody } },
      { sponsored: { deadline: 1_000n } },
      { sponsored: { signedBy: 'another' } },
    ] as const) {
      const stranger = await world.chain.payer(10_000_000n)
      const { body } = await payUpto(world.chain, stranger, terms, signing)
      const reason = await buyer.judge({ ...at, body })
      expect(reason).not.toBeNull()
      expect(await ownSale(world.service.facilitator).verify(body)).toMatchObject({ refusal: reason })
    }
  })
})

describe('the stock client pays by use', () => {
  let world: GuestWorld
  let upstream: Upstream
  let buyer: Buyer
  beforeAll(async () => {
    ;[world, upstream] = await Promise.all([guestWorld({ RATE_GATE_PER_MINUTE: '0' }), startUpstream()])
    buyer = startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await upstream.close()
    await world.close()
  })

  async function buy(url: string, body: string) {
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const { privateKey, address } = payer
    const purchase = await buyer.buy({ url, privateKey, request, rpc: world.chain.url, scheme: 'upto' })
    const { name, value } = purchase.header
    const again = await fetch(url, { ...request, headers: { ...request.headers, [name]: value } })
    expect(again.status).toBe(409)
    return { purchase, taken: 1_000_000n - (await usdcOf(world.chain, address)) }
  }

  it('a call of an API whose price is measured', async () => {
    upstream.on('/chat', (_request, response) => {
      json(response, 200, { text: 'hello', usage: { input_tokens: 1_000, output_tokens: 2_000 } })
    })
    const pricing = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }
    const created = await world.creator.call('POST', '/v1/paywalls', {
      body: {
        slug: 'by-use',
        name: 'By use',
        upstreamUrl: upstream.url,
        routes: [{ method: 'POST', path: '/chat', pricing }],
        network: world.chain.network.name,
        recipient: world.chain.accounts[3]!.address,
      },
    })
    expect(created.status).toBe(201)
    const { purchase, taken } = await buy(`${world.service.origin}/gate/by-use/chat`, '{"prompt":"hi"}')
    expect(purchase).toMatchObject({ status: 200, body: { text: 'hello' }, receipt: { success: true, amount: '5000' } })
    expect(taken).toBe(5_000n)
  })

  it('a run of an asset that is priced by its tokens', async () => {
    const slug = await world.prompt({ slug: 'by-use', pricing: { model: 'per-token', amount: 0.01 } })
    const { purchase, taken } = await buy(
      `${world.service.origin}/v1/rda/${slug}/run`,
      JSON.stringify({ inputs: { say: 'bought by its use '.repeat(20) } }),
    )
    const { cost, usage } = purchase.body as { cost: number; usage: { total_tokens: number } }
    expect(purchase).toMatchObject({ status: 200, receipt: { success: true, amount: String(taken) } })
    expect(taken).toBe(BigInt(Math.round(cost * 1_000_000)))
    expect(taken).toBe(BigInt(usage.total_tokens * 10))
  })
})
