import type { ImportRequest } from '../../service/tools/service/catalogue/importing.ts'
import { usdc, ZERO } from '../../service/kit/money.ts'
import { payFor, sendMcp, type Json } from '../harness/mcp.ts'
import type { Answer } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { submit, type Payment } from '../harness/wallet.ts'
import { payWorld, type PayWorld } from './calls/pay-world.ts'
import { DOCUMENT, importRequest } from './calls/world.ts'

/** What is for sale changes between a payment and its answer. */
describe('a call that was paid without a key, of a tool that is not for sale any more', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await importTools()
    world.upstream.respondWith('/notes', { id: 3 }, 201)
    world.upstream.respondWith('/anything', { well: true })
  })

  const note = { title: 'Paid' }
  const remove = () => world.service.catalogue.removeProvider('sandbox', null, 'acme')

  async function importTools(more: Partial<ImportRequest> = {}, document: object = DOCUMENT): Promise<void> {
    await world.service.catalogue.importDocument(importRequest(world.upstream.url, more), JSON.stringify(document))
  }

  /** The schema of a note's input has one more required field. */
  function importStricter(): Promise<void> {
    const document = structuredClone(DOCUMENT)
    document.paths['/notes'].post.requestBody.content['application/json'].schema = {
      type: 'object',
      required: ['title', 'pages'],
      properties: { title: { type: 'string' }, pages: { type: 'integer' } },
    }
    return importTools({}, document)
  }

  /** The tools act in accounts of their callers. */
  function importConnected(): Promise<void> {
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
    return importTools({}, { ...DOCUMENT, components, security: [{ key: [] }] })
  }

  /** A call that was paid and made, and whose answer never arrived. */
  async function lose(slug: string, path: string, input: object): Promise<{ id: string; payment: Payment }> {
    const payer = await world.chain.payer(1_000_000n)
    const open = world.upstream.holds(path, { done: true })
    const payment = await world.sign(payer, await world.buy(slug, input))
    const controller = new AbortController()
    const times = world.upstream.to(path).length
    const request = fetch(`${world.service.origin}/tools/pay/${slug}`, {
      method: 'POST',
      headers: { [payment.header]: payment.value, 'x-payment-token': TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify(input),
      signal: controller.signal,
    })
    await world.upstream.waitForRequest(path, times + 1)
    controller.abort()
    await expect(request).rejects.toThrow()
    open()
    let id = ''
    await until(async () => {
      const [row] = await world.service.database.statements.run<{ id: string }>(
        `SELECT id FROM sale JOIN sale_answer ON sale_id = id WHERE payer = $1 AND state = 'paid' AND lease_until IS NULL`,
        [payer.address.toLowerCase()],
      )
      id = row?.id ?? ''
      return id !== ''
    })
    return { id, payment }
  }

  /** A call of a writing tool that was paid, and that the tool has answered with an error. */
  async function owe(): Promise<{ id: string; token: string; payment: Payment }> {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', note))
    world.upstream.respondWith('/notes', { message: 'Not today' }, 500)
    const { body } = await world.buy('acme-create-note', note, payment)
    expect(body).toMatchObject({ code: 'upstream_error', paid: true })
    world.upstream.respondWith('/notes', { id: 3 }, 201)
    return { id: String(body.callId), token: String(body.paymentToken), payment }
  }

  function repeat(slug: string, input: object, id: string, token: string | null = TOKEN): Promise<Answer> {
    const proof = token === null ? null : { 'X-Payment-Token': token }
    return world.service.call('POST', `/tools/${slug}`, { body: input, headers: { 'X-Payment-ID': id, ...proof } })
  }

  test.each([
    ['acme-get-anything', '/anything', {}],
    ['acme-create-note', '/notes', note],
  ])('fetches the stored answer of %s, which was removed', async (slug, path, input) => {
    const { id } = await lose(slug, path, input)
    const times = world.upstream.to(path).length
    await remove()
    const stranger = await repeat(slug, input, id, null)
    expect([stranger.status, stranger.body.code]).toEqual([400, 'invalid_payment'])
    const other = await repeat(slug, { title: 'Another' }, id)
    expect([other.status, other.body.code]).toEqual([410, 'tool_removed'])
    const elsewhere = await repeat('acme-get-text', input, id)
    expect([elsewhere.status, elsewhere.body.code]).toEqual([410, 'tool_removed'])
    const answer = await repeat(slug, input, id)
    expect([answer.status, answer.body.output, answer.body.callId]).toEqual([200, { done: true }, id])
    expect(world.upstream.to(path)).toHaveLength(times)
  })

  test('fetches it with the same authorization and the token', async () => {
    const { id, payment } = await lose('acme-get-anything', '/anything', {})
    await remove()
    const answer = await world.buy('acme-get-anything', {}, payment, TOKEN)
    expect([answer.status, answer.body.output, answer.body.callId]).toEqual([200, { done: true }, id])
  })

  test.each([
    ['has a schema that the input does not fit', importStricter],
    ['acts in the account of its caller', importConnected],
    ['is free, which needs a key', () => importTools({ pricing: { otherwise: ZERO } })],
  ])('fetches the stored answer of a tool that now %s', async (_, change) => {
    const { id } = await lose('acme-create-note', '/notes', note)
    await change()
    const answer = await repeat('acme-create-note', note, id)
    expect([answer.status, answer.body.output]).toEqual([200, { done: true }])
  })

  test('fetches the stored answer over MCP', async () => {
    const call = async (meta: Json): Promise<Json> => {
      const params = { name: 'acme-create-note', arguments: note, _meta: meta }
      const { result } = await sendMcp(`${world.service.origin}/tools/mcp`, { method: 'tools/call', params })
      return result as Json
    }
    const payer = await world.chain.payer(1_000_000n)
    const paid = await call({ 'x402/payment': await payFor(world.chain, payer, await call({})) })
    await remove()
    const proof = (paid['_meta'] as Json)['coinslot/payment']
    expect(await call({ 'coinslot/payment': proof })).toMatchObject({ structuredContent: { id: 3 } })
    expect(await call({})).toMatchObject({ isError: true, structuredContent: { error: { code: 'tool_removed' } } })
  })

  test.each([
    ['removed', remove, 410, 'tool_removed'],
    ['changed', importStricter, 400, 'invalid_input'],
    ['connected', importConnected, 409, 'connection_required'],
  ])('an unanswered call of a %s tool says who refunds it, until the tool is back', async (_, change, status, code) => {
    const { id, token } = await owe()
    const times = world.upstream.to('/notes').length
    await change()
    const answer = await repeat('acme-create-note', note, id, token)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body).toMatchObject({ paid: true, deliverable: false, callId: id, paymentToken: token })
    expect(answer.body.error).toMatch(
      /\. The payment arrived, but this can no longer be delivered\. Ask the operator of this server for a refund, and name the callId\.$/,
    )
    expect(world.upstream.to('/notes')).toHaveLength(times)
    await importTools()
    const back = await repeat('acme-create-note', note, id, token)
    expect([back.status, back.body.output]).toEqual([200, { id: 3 }])
  })

  test('an unanswered call over MCP is not advised to call again', async () => {
    const { id, token } = await owe()
    await remove()
    const _meta = { 'coinslot/payment': { paymentId: id, paymentToken: token } }
    const params = { name: 'acme-create-note', arguments: note, _meta }
    const { result } = await sendMcp(`${world.service.origin}/tools/mcp`, { method: 'tools/call', params })
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/name the callId\.$/) }],
      structuredContent: { error: { code: 'tool_removed', paid: true } },
    })
  })

  test('an unanswered call of a tool that is free now is made', async () => {
    const { id, token } = await owe()
    await importTools({ pricing: { otherwise: ZERO } })
    const answer = await repeat('acme-create-note', note, id, token)
    expect([answer.status, answer.body.output]).toEqual([200, { id: 3 }])
  })

  test('an authorization that paid for nothing yet is refused, and charged nothing', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.respondWith('/anything', { message: 'Not today' }, 500)
    const required = await world.buy('acme-get-anything', {})
    const payment = await world.sign(payer, required)
    expect((await world.buy('acme-get-anything', {}, payment)).status).toBe(502)
    await remove()
    for (const unpaid of [payment, await world.sign(payer, required)]) {
      const { status, body } = await world.buy('acme-get-anything', {}, unpaid)
      expect([status, body.code, body.paid]).toEqual([410, 'tool_removed', undefined])
    }
    await importTools({ pricing: { otherwise: ZERO } })
    const free = await world.buy('acme-get-anything', {}, payment)
    expect([free.status, free.body.code]).toEqual([401, 'needs_key'])
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test('an authorization that paid for nothing yet buys nothing at another price, until its own is back', async () => {
    const payer = await world.chain.payer(2_000_000n)
    const [own, token] = [await world.chain.payer(1_000_000n), `tok_${'s'.repeat(43)}`]
    world.upstream.respondWith('/anything', { message: 'Not today' }, 500)
    const required = await world.buy('acme-get-anything', {})
    const [payment, submitted] = [await world.sign(payer, required), await world.sign(own, required)]
    expect((await world.buy('acme-get-anything', {}, payment)).status).toBe(502)
    expect((await world.buy('acme-get-anything', {}, submitted, token)).status).toBe(502)
    world.upstream.respondWith('/anything', { well: true })
    const times = world.upstream.to('/anything').length
    for (const price of [1_000_000n, 5_000n]) {
      await importTools({ pricing: { otherwise: usdc(price) } })
      for (const unpaid of [payment, await world.sign(payer, required)]) {
        const { status, body } = await world.buy('acme-get-anything', {}, unpaid)
        expect([status, body.reason]).toEqual([402, expect.stringMatching(/value(_mismatch)?$/)])
        expect(body.amount).toBe(price === 5_000n ? '0.005' : '1')
      }
    }
    // Nor by moving its money alone.
    await submit(world.chain, submitted.value)
    const late = await world.buy('acme-get-anything', {}, submitted, token)
    expect([late.status, late.body.code]).toEqual([409, 'authorization_used'])
    expect(world.upstream.to('/anything')).toHaveLength(times)
    expect(await world.usdc(payer.address)).toBe(2_000_000n)
    await importTools()
    expect((await world.buy('acme-get-anything', {}, payment)).status).toBe(200)
    expect(await world.usdc(payer.address)).toBe(1_990_000n)
  })
})

const TOKEN = `tok_${'t'.repeat(43)}`
