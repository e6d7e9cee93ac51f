import { isRecord } from '../../service/kit/schema/merge.ts'
import type { TestAccount } from '../harness/chain.ts'
import { credentialFor, payFor, sendMcp, type Json } from '../harness/mcp.ts'
import { payWorld, type PayWorld } from './calls/pay-world.ts'

/** MCP without a key: each call is paid by itself, in whichever protocol its client has. */
describe('a client of MCP without a key', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
  })
  afterAll(() => world.close())
  beforeEach(() => {
    world.upstream.respondWith('/notes', { written: true })
  })

  const send = (method: string, params: Json, headers: Record<string, string> = {}): Promise<Json> =>
    sendMcp(`${world.service.origin}/tools/mcp?view=all`, { method, params }, headers)
  const call = async (name: string, input: Json, meta: Json = {}): Promise<Json> =>
    (await send('tools/call', { name, arguments: input, _meta: meta }))['result'] as Json
  const metaOf = (result: Json): Json => result['_meta'] as Json
  const NOTE = { title: 'A note' }

  const signed = (result: Json, payer: TestAccount): Promise<Json> => payFor(world.chain, payer, result)

  test('sees the catalogue, with prices, and no balance', async () => {
    const { tools } = (await send('tools/list', {}))['result'] as { tools: Json[] }
    const tool = tools.find(({ name }) => name === 'acme-create-note')!
    expect(tool['_meta']).toMatchObject({ 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': 0.01 })
    expect(await call('get_balance', {})).toMatchObject({ isError: true })
  })

  test('learns the price in every dialect, pays as an object or as base64, and gets its receipt', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await call('acme-create-note', NOTE)
    expect(unpaid).toMatchObject({
      isError: true,
      structuredContent: { x402Version: 2, accepts: [{ scheme: 'exact', amount: '10000' }] },
    })
    expect(JSON.parse((unpaid['content'] as { text: string }[])[0]!.text)).toEqual(unpaid['structuredContent'])
    expect(metaOf(unpaid)['x402/error']).toEqual(unpaid['structuredContent'])
    const paid = await call('acme-create-note', NOTE, { 'x402/payment': await signed(unpaid, payer) })
    expect(paid).toMatchObject({
      structuredContent: { written: true },
      _meta: {
        'x402/payment-response': { success: true, payer: payer.address, network: 'eip155:84532' },
        'coinslot/payment': {
          paymentId: expect.stringMatching(/^call_/),
          paymentToken: expect.stringMatching(/^tok_/),
        },
      },
    })
    expect(await world.usdc(payer.address)).toBe(990_000n)

    const text = Buffer.from(JSON.stringify(await signed(unpaid, payer))).toString('base64')
    expect(await call('acme-create-note', NOTE, { 'x402/payment': text })).not.toHaveProperty('isError')
    expect(await world.usdc(payer.address)).toBe(980_000n)
  })

  test('pays a challenge of MPP, whose terms are an object here', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const meta = await credentialFor(world.chain, payer, await call('acme-create-note', NOTE))
    const { challenge } = meta['org.paymentauth/credential'] as { challenge: Json }
    expect(isRecord(challenge['request'])).toBe(true)
    const paid = await call('acme-create-note', NOTE, meta)
    expect(paid).toMatchObject({
      structuredContent: { written: true },
      _meta: { 'org.paymentauth/receipt': { method: 'evm', status: 'success', challengeId: challenge['id'] } },
    })
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('fetches a lost answer with the payment’s token; a reader of the chain does not', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await signed(await call('acme-create-note', NOTE), payer)
    const first = await call('acme-create-note', NOTE, { 'x402/payment': payment })
    const proof = metaOf(first)['coinslot/payment']
    const requestsBefore = world.upstream.to('/notes').length
    expect(await call('acme-create-note', NOTE, { 'coinslot/payment': proof })).toMatchObject({
      structuredContent: { written: true },
    })
    const stolen = await call('acme-create-note', NOTE, { 'x402/payment': payment })
    expect(stolen).toMatchObject({ isError: true, structuredContent: { error: { code: 'payment_submitted' } } })
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore)
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('is charged nothing for an unreadable payment, a wrong input or a price above its maximum', async () => {
    const bad = await call('acme-create-note', NOTE, { 'x402/payment': 'e30x' })
    expect(bad).toMatchObject({ isError: true, structuredContent: { error: { code: 'invalid_payment' } } })
    expect(await call('acme-create-note', { pages: 1 })).toMatchObject({ isError: true })
    const dear = await call('call_tool', { slug: 'acme-create-note', input: NOTE, maxCost: 0.001 })
    expect(dear).toMatchObject({ structuredContent: { error: { code: 'max_cost_exceeded' } } })
  })

  test('with a key is charged as before', async () => {
    const caller = await world.caller(1)
    const { result } = await send(
      'tools/call',
      { name: 'acme-create-note', arguments: NOTE },
      { authorization: `Bearer ${caller.key}` },
    )
    expect(result).toMatchObject({ _meta: { 'coinslot/billing': { cost: 0.01 } } })
  })
})

/** One HTTP request may contain many messages. */
test('calls without a key are limited one by one, by the address they come from', async () => {
  const world = await payWorld({ RATE_PAY_PER_MINUTE: '3' })
  try {
    const calls = Array.from({ length: 5 }, (_, id) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'acme-create-note', arguments: { title: 'A note' } },
    }))
    const response = await fetch(`${world.service.origin}/tools/mcp?view=all`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(calls),
    })
    const text = await response.text()
    expect([...text.matchAll(/"x402\/error"/g)]).toHaveLength(3)
    expect([...text.matchAll(/"code":"rate_limited"/g)]).toHaveLength(2)
    const order = { name: 'acme-create-note', arguments: { title: 'A note' } }
    const sent = async (_meta: Json) => {
      const params = { ...order, _meta }
      return JSON.stringify(
        await sendMcp(`${world.service.origin}/tools/mcp?view=all`, { method: 'tools/call', params }),
      )
    }
    expect(await sent({})).toContain('Nothing was charged')
    // It may have been paid for before.
    for (const name of ['x402/payment', 'org.paymentauth/credential', 'coinslot/payment']) {
      const limited = await sent({ [name]: {} })
      expect([name, limited]).toEqual([name, expect.stringContaining('"code":"rate_limited"')])
      expect(limited).not.toContain('Nothing was charged')
    }
  } finally {
    await world.close()
  }
})

test('a batch uses up as many requests as it has messages, with a key and without', async () => {
  const world = await payWorld({ RATE_API_PER_MINUTE: '100' })
  const post = async (headers: Record<string, string>, length = 60) => {
    const batch = Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    const response = await fetch(`${world.service.origin}/tools/mcp?view=all`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(batch),
    })
    text = await response.text()
    return [response.status, response.headers.get('RateLimit-Remaining')]
  }
  let text = ''
  try {
    const { key } = await world.caller(1)
    for (const headers of [{ authorization: `Bearer ${key}` }, {}]) {
      // One that is longer than the limit never succeeds: only the request that brought it is counted.
      expect(await post(headers, 101)).toEqual([400, '99'])
      expect(text).toContain('This batch has 101 messages, and at most 100 are allowed a minute.')
      expect(await post(headers)).toEqual([200, '39'])
      expect(await post(headers)).toEqual([429, '0'])
    }
  } finally {
    await world.close()
  }
})
