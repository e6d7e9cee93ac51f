import { payWorld, type PayWorld } from '../../tools/calls/pay-world.ts'

describe('POST {tools_url}/pay/{slug} → 200, 409, 502', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
    world.upstream.says('/notes', { id: 3 }, 201)
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
    expect(JSON.parse(Buffer.from(receipt, 'base64').toString())).toMatchObject({
      success: true,
      transaction: answer.body.txHash,
      network: version === 1 ? 'base-sepolia' : 'eip155:84532',
    })
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect((await world.usdc(world.seller)) - before).toBe(10_000n)
    const state = await world.service.call('GET', `/tools/pay/acme-create-note/calls/${String(answer.body.callId)}`)
    expect(state.body).toMatchObject({ status: 'paid', txHash: answer.body.txHash, amount: 0.01 })
    expect(JSON.stringify(state.body)).not.toContain('output')

    // The answer was given: whoever reads the authorization on the chain gets nothing by it.
    await until(async () => (await world.buy('acme-create-note', input, payment)).body.code === 'answer_given')
    const other = await world.buy('acme-create-note', { title: 'Other' }, payment)
    expect([other.status, other.body.code]).toEqual([409, 'authorization_used'])
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('one authorization a hundred times at once: one call, one payment, one answer', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input))
    const asked = world.upstream.to('/notes').length
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.buy('acme-create-note', input, payment)))
    const of = (status: number) => answers.filter((answer) => answer.status === status).length
    expect(of(200)).toBeGreaterThanOrEqual(1)
    expect(of(200) + of(409)).toBe(100)
    expect(world.upstream.to('/notes')).toHaveLength(asked + 1)
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => String(body.callId))).size).toBe(1)
  })

  test('a tool that fails costs nothing, and the authorization is good for another try', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.says('/anything', { message: 'Not today' }, 500)
    const payment = await world.sign(payer, await world.buy('acme-get-anything', {}))
    const failed = await world.buy('acme-get-anything', {}, payment)
    expect([failed.status, failed.body.code, failed.body.upstream]).toEqual([
      502,
      'upstream_error',
      { status: 500, message: 'Not today' },
    ])
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
    world.upstream.says('/anything', { well: true })
    const answer = await world.buy('acme-get-anything', {}, payment)
    expect([answer.status, answer.body.output, answer.body.callId]).toEqual([200, { well: true }, failed.body.callId])
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('who hangs up before the answer pays nothing', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const open = world.upstream.holds('/slow', { done: true })
    const payment = await world.sign(payer, await world.buy('acme-get-slow', {}))
    const gone = new AbortController()
    const asked = fetch(`${world.service.origin}/tools/pay/acme-get-slow`, {
      method: 'POST',
      headers: { [payment.header]: payment.value },
      signal: gone.signal,
    })
    await world.upstream.wasAsked('/slow')
    gone.abort()
    await expect(asked).rejects.toThrow()
    await until(async () => {
      const [row] = await world.service.database.statements.run<{ state: string }>(
        `SELECT state FROM tool_payment WHERE payer = $1`,
        [payer.address],
      )
      return row?.state === 'failed'
    })
    open()
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test('while the chain is silent the buyer is told to ask again, and then has the answer', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input))
    const asked = world.upstream.to('/notes').length
    await world.chain.call('anvil_setAutomine', false)
    const [first, second] = await Promise.all([
      withinWait(world.buy('acme-create-note', input, payment)),
      until(async () => world.upstream.to('/notes').length > asked).then(async () => {
        await world.chain.call('anvil_setAutomine', true)
        await world.chain.mine()
        return null
      }),
    ])
    expect(second).toBeNull()
    expect([200, 503]).toContain(first.status)
    await until(async () => [200, 409].includes((await world.buy('acme-create-note', input, payment)).status))
    expect(await world.usdc(payer.address)).toBe(990_000n)
    expect(world.upstream.to('/notes')).toHaveLength(asked + 1)
  })
})

function withinWait<T>(answer: Promise<T>): Promise<T> {
  return answer
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}
