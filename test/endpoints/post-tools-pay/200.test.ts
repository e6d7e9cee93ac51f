import { cancelCall } from '../../chain/world.ts'
import { notBusy, payWorld, type PayWorld } from '../../tools/calls/pay-world.ts'
import type { Answer } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'

describe('POST {tools_url}/pay/{slug} → 200, 409, 502', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
    world.upstream.respondWith('/notes', { id: 3 }, 201)
  })
  afterAll(async () => {
    await world.close()
  })

  const input = { title: 'Paid' }

  test.each([1, 2] as const)('paid by version %i: the answer, a receipt, and the money once', async (version) => {
    const payer = await world.chain.payer(1_000_000n)
    const before = await world.usdc(world.seller)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input), version)
    const answer = await world.buy('acme-create-note', input, payment)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: true,
      output: { id: 3 },
      cost: 0.01,
      credits: null,
      balance: null,
      callId: expect.stringMatching(/^call_/),
      payer: payer.address,
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const receipt = answer.headers.get(version === 1 ? 'x-payment-response' : 'payment-response')!
    const signed = { format: 'jws', signature: expect.stringMatching(/^eyJ/) }
    const extensions = { 'offer-receipt': { info: { receipt: signed }, schema: expect.anything() } }
    // Version 1 has no place for extensions.
    expect(answer.headers.has('x-payment-signed-receipt')).toBe(version === 1)
    expect(JSON.parse(Buffer.from(receipt, 'base64').toString())).toMatchObject({
      ...(version === 1 ? {} : { extensions }),
      success: true,
      transaction: answer.body.txHash,
      network: version === 1 ? 'base-sepolia' : 'eip155:84532',
    })
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect((await world.usdc(world.seller)) - before).toBe(10_000n)
    const state = await world.service.call('GET', `/tools/pay/acme-create-note/calls/${String(answer.body.callId)}`)
    expect(state.body).toMatchObject({ status: 'paid', txHash: answer.body.txHash, amount: 0.01 })
    expect(JSON.stringify(state.body)).not.toContain('output')

    // The response was already delivered: a stranger who reads the authorization on chain gets nothing with it.
    const stranger = await world.buy('acme-create-note', input, payment)
    expect([stranger.status, stranger.body.code, stranger.body.callId]).toEqual([409, 'payment_submitted', undefined])
    const other = await world.buy('acme-create-note', { title: 'Other' }, payment)
    expect([other.status, other.body.code]).toEqual([409, 'payment_submitted'])
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test("lists the tool in discovery in its own words, not in the buyer's", async () => {
    for (const version of [1, 2] as const) {
      const payer = await world.chain.payer(1_000_000n)
      const required = await world.buy('acme-create-note', input)
      const payment = await world.sign(payer, required, version)
      const sent = JSON.parse(Buffer.from(payment.value, 'base64').toString()) as object
      const forged = { ...sent, resource: { url: 'https://evil.example/' }, extensions: { bazaar: { info: 'forged' } } }
      const value = Buffer.from(JSON.stringify(forged)).toString('base64')
      expect((await world.buy('acme-create-note', input, { ...payment, value })).status).toBe(200)
    }
    const { body } = await world.service.call('GET', '/facilitator/discovery/search?query=create%20note')
    expect(body.resources).toMatchObject([
      {
        resource: expect.stringMatching(/\/tools\/acme-create-note$/),
        accepts: [{ amount: '10000', network: 'eip155:84532' }],
        extensions: { bazaar: { info: { input: { method: 'POST', body: { title: 'text' } } } } },
      },
    ])
  })

  test('one authorization sent a hundred times at once makes one call, one payment and one answer', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input))
    const requestsBefore = world.upstream.to('/notes').length
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.buy('acme-create-note', input, payment)))
    const of = (status: number) => answers.filter((answer) => answer.status === status).length
    expect(of(200)).toBeGreaterThanOrEqual(1)
    expect(of(200) + of(409)).toBe(100)
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore + 1)
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => String(body.callId))).size).toBe(1)
  })

  test('a failed tool costs nothing, and the authorization can be used again', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.respondWith('/anything', { message: 'Not today' }, 500)
    const payment = await world.sign(payer, await world.buy('acme-get-anything', {}))
    const failed = await world.buy('acme-get-anything', {}, payment)
    expect([failed.status, failed.body.code, failed.body.upstream]).toEqual([
      502,
      'upstream_error',
      { status: 500, message: 'Not today' },
    ])
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
    world.upstream.respondWith('/anything', { well: true })
    const answer = await world.buy('acme-get-anything', {}, payment)
    expect([answer.status, answer.body.output, answer.body.callId]).toEqual([200, { well: true }, failed.body.callId])
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test.each([
    ['acme-get-slow', '/slow', {}],
    ['acme-create-note', '/notes', input],
  ])('a client that hangs up while %s works pays, and the work is finished', async (slug, path, input) => {
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
    await until(async () => (await world.usdc(payer.address)) === 990_000n)
    // The response was not delivered yet: the buyer gets it with the chosen token, without a second call of the tool.
    const answer = await notBusy(() => world.buy(slug, input, payment, TOKEN))
    expect([answer.status, answer.body.output]).toEqual([200, { done: true }])
    expect(world.upstream.to(path)).toHaveLength(times + 1)
    world.upstream.respondWith('/notes', { id: 3 }, 201)
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('calls a writing tool after the money has arrived; a failed call can be repeated with its token', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input))
    const requestsBefore = world.upstream.to('/notes').length
    world.upstream.respondWith('/notes', { message: 'Not today' }, 500)
    const failed = await world.buy('acme-create-note', input, payment)
    expect([failed.status, failed.body.code, failed.body.paid]).toEqual([502, 'upstream_error', true])
    expect(failed.body.error).toMatch(/with the callId as X-Payment-ID and the paymentToken as X-Payment-Token/)
    expect(failed.body.error).not.toMatch(/Nothing was charged/)
    expect(await world.usdc(payer.address)).toBe(990_000n)
    world.upstream.respondWith('/notes', { id: 3 }, 201)
    const token = String(failed.body.paymentToken)
    const other = await world.buy('acme-create-note', { title: 'Another' }, payment, token)
    expect([other.status, other.body.code]).toEqual([409, 'authorization_used'])
    const stranger = await world.buy('acme-create-note', input, payment)
    expect([stranger.status, stranger.body.code]).toEqual([409, 'payment_submitted'])
    const answer = await world.buy('acme-create-note', input, payment, token)
    expect([answer.status, answer.body.output]).toEqual([200, { id: 3 }])
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore + 2)
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('charges a payer who has become a wallet with code before it calls the tool again', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.respondWith('/anything', { message: 'Not today' }, 500)
    const payment = await world.sign(payer, await world.buy('acme-get-anything', {}))
    expect((await world.buy('acme-get-anything', {}, payment)).status).toBe(502)
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
    await world.chain.delegate(payer.address)
    const [open, times] = [world.upstream.holds('/anything', { well: true }), world.upstream.to('/anything').length]
    const answer = world.buy('acme-get-anything', {}, payment)
    await world.upstream.waitForRequest('/anything', times + 1)
    expect(await world.usdc(payer.address)).toBe(990_000n)
    await world.chain.delegate(payer.address, 'refusing')
    open()
    expect(await answer).toMatchObject({ status: 200, body: { output: { well: true } } })
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('an authorization cancelled after a failed try makes no further call', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.respondWith('/anything', { message: 'Not today' }, 500)
    const payment = await world.sign(payer, await world.buy('acme-get-anything', {}))
    expect((await world.buy('acme-get-anything', {}, payment, TOKEN)).status).toBe(502)
    world.upstream.respondWith('/anything', { well: true })
    const { payload } = JSON.parse(Buffer.from(payment.value, 'base64').toString()) as {
      payload: { authorization: { nonce: `0x${string}` } }
    }
    const { nonce } = payload.authorization
    const from = world.chain.accounts[1]!.address
    const canceled = cancelCall(
      world.chain.network,
      { from: payer.address, nonce },
      await payer.cancel(world.chain.network, nonce),
    )
    await world.chain.call('anvil_impersonateAccount', from)
    await world.chain.call('eth_sendTransaction', { from, ...canceled, gas: '0x493e0' })
    await world.chain.mine()
    const requestsBefore = world.upstream.to('/anything').length
    for (let again = 0; again < 3; again++) {
      expect((await world.buy('acme-get-anything', {}, payment, TOKEN)).status).toBe(409)
    }
    expect(world.upstream.to('/anything')).toHaveLength(requestsBefore)
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test('calls a writing tool once when six payments compete for one balance', async () => {
    const payer = await world.chain.payer(10_000n)
    const required = await world.buy('acme-create-note', input)
    const payments = await Promise.all(Array.from({ length: 6 }, () => world.sign(payer, required)))
    const requestsBefore = world.upstream.to('/notes').length
    const buying = payments.map((payment) => world.buy('acme-create-note', input, payment))
    await Promise.any(buying.map(async (answer) => expect((await answer).status).toBe(200)))
    // The others wait until their failure is final; no longer than this.
    world.service.clock.forward(20_000)
    const answers = await Promise.all(buying)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore + 1)
  })

  test('lets the buyer repeat the call while the chain is slow, and charges once', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input))
    const requestsBefore = world.upstream.to('/notes').length
    await world.chain.call('anvil_setAutomine', false)
    const first = world.buy('acme-create-note', input, payment, TOKEN)
    await until(async () => (await pendingOf(payer.address)) > 0)
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore)
    await world.chain.call('anvil_setAutomine', true)
    await world.chain.mine()
    expect([200, 503]).toContain((await first).status)
    await until(async () => [200, 409].includes((await world.buy('acme-create-note', input, payment, TOKEN)).status))
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect(world.upstream.to('/notes')).toHaveLength(requestsBefore + 1)
  })

  describe('of the two places of a provider', () => {
    let small: PayWorld
    beforeAll(async () => {
      small = await payWorld({ TOOL_PROVIDER_AT_ONCE: '2' })
      small.upstream.respondWith('/text', 'text')
      small.upstream.respondWith('/notes', { id: 3 }, 201)
    })
    afterAll(async () => {
      await small.close()
    })

    async function signed(slug: string, input: unknown = {}) {
      const payer = await small.chain.payer(1_000_000n)
      const payment = await small.sign(payer, await small.buy(slug, input))
      return { payer, buy: (token?: string) => small.buy(slug, input, payment, token) }
    }

    test('buyers without an account take one together, and an account gets the other', async () => {
      const open = small.upstream.holds('/slow', {})
      const [one, two] = [await signed('acme-get-slow'), await signed('acme-get-slow')]
      const first = one.buy()
      await small.upstream.waitForRequest('/slow', 1)
      const second = two.buy()
      await Promise.race([second, small.upstream.waitForRequest('/slow', 2)])
      const keyed = await small.call(await small.caller(), 'acme-get-text')
      open()
      expect(keyed.status).toBe(200)
      expect((await first).status).toBe(200)
      expect(await second).toMatchObject({ status: 503, body: { code: 'provider_busy' } })
      expect((await two.buy()).status).toBe(200)
    })

    test('none is free for a call that was paid before: its buyer is told that the payment arrived', async () => {
      small.upstream.respondWith('/notes', {}, 500)
      const [slow, owed] = [await signed('acme-get-slow'), await signed('acme-create-note', input)]
      const { paymentToken } = (await owed.buy()).body
      small.upstream.respondWith('/notes', { id: 3 }, 201)
      const open = small.upstream.holds('/slow', {})
      const times = small.upstream.to('/slow').length
      const first = slow.buy()
      await small.upstream.waitForRequest('/slow', times + 1)
      const again = await owed.buy(String(paymentToken))
      open()
      expect([again.status, again.body.code, again.body.paid]).toEqual([503, 'provider_busy', true])
      expect(again.body.error).not.toContain('Nothing was charged')
      expect((await first).status).toBe(200)
      expect((await notBusy(() => owed.buy(String(paymentToken)))).status).toBe(200)
    })

    test.each([
      ['acme-get-text', {}],
      ['acme-create-note', input],
    ])('none is taken while a payment for %s settles', async (slug, input) => {
      const caller = await small.caller()
      const buyers = [await signed(slug, input), await signed(slug, input)]
      const bought: Promise<Answer>[] = []
      await small.chain.call('anvil_setAutomine', false)
      try {
        for (const { payer, buy } of buyers) {
          const buying = buy()
          bought.push(buying)
          expect(await Promise.race([buying, until(() => isSettling(payer.address))])).toBe(true)
        }
        expect((await small.call(caller, 'acme-get-text')).status).toBe(200)
      } finally {
        await small.chain.call('anvil_setAutomine', true)
        await small.chain.mine()
      }
      const answers = await Promise.all(bought)
      // Of two that have paid at the same moment one may find no place: its payment buys the call a moment later.
      for (const [place, { status, body }] of answers.entries()) {
        if (status === 503) answers[place] = await notBusy(() => buyers[place]!.buy(String(body.paymentToken)))
      }
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    })

    async function isSettling(payer: string): Promise<boolean> {
      const rows = await small.service.database.statements.run(
        `SELECT 1 FROM sale WHERE payer = $1 AND state = 'settling'`,
        [payer.toLowerCase()],
      )
      return rows.length > 0
    }
  })

  async function pendingOf(payer: string): Promise<number> {
    const rows = await world.service.database.statements.run(
      `SELECT 1 FROM facilitator_settlement WHERE payer = decode(substr($1, 3), 'hex') AND state = 'broadcast'`,
      [payer],
    )
    return rows.length
  }
})

const TOKEN = `tok_${'t'.repeat(43)}`
