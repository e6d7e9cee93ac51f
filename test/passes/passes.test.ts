import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { canonicalHash } from '../../service/kit/hash.ts'
import { findPassDifferences } from '../../service/passes/store.ts'
import { LIVE, openWorld, signed, until, type World } from '../checkouts/world.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { lockWaitedFor } from '../harness/locks.ts'
import { buy as buyAt } from '../harness/wallet.ts'

const RUNS = { id: 'twenty', name: 'Twenty runs', price: 5, kind: 'runs', runs: 21 }
const FIELDS = [{ name: 'name', label: 'Name', type: 'text' }]
const MONTH = { id: 'month', name: 'A month', price: 20, kind: 'period', days: 30 }

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  const differences = await findPassDifferences(world.service.database.statements)
  await world.close()
  expect(differences).toEqual([])
})

const newWallet = () => privateKeyToAccount(generatePrivateKey())
type TestWallet = ReturnType<typeof newWallet>

/** What a wallet signs to use what it has here. */
async function proofOf(
  wallet: Pick<TestWallet, 'address' | 'signMessage'>,
  checkout: string,
  input: unknown,
  { minutes = 5, at = world } = {},
) {
  const expires = new Date(at.service.clock.now().getTime() + minutes * 60_000).toISOString()
  const { body } = await at.call('GET', `/p/${checkout}`)
  const url = String(body.checkout.url)
  const message = [
    `${new URL(url).host} asks you to sign for a run that you do not pay for.`,
    '',
    `URI: ${url}`,
    `Checkout: ${checkout}`,
    `Chain ID: ${String(body.checkout.chainId)}`,
    `Input: 0x${canonicalHash(input).toString('hex')}`,
    `Expiration Time: ${expires}`,
  ].join('\n')
  return { address: wallet.address, expires, signature: await wallet.signMessage({ message }) }
}

const pay = (checkout: string, body: object, headers: Record<string, string> = {}) =>
  world.call('POST', `/p/${checkout}/pay`, { body: { input: {}, ...body }, headers })

/** A plan that is bought in test mode, and its token. */
async function buy(checkout: string, plan = RUNS.id, input: object = {}) {
  const purchase = await pay(checkout, { simulate: true, choice: { plan }, input })
  expect(purchase.status).toBe(200)
  return purchase.body.payment as { id: string; amount: number; pass: { id: string; token: string } }
}

const delivered = (checkout: string) =>
  world.workflow.deliveries.filter(({ json }) => json.metadata?.checkoutId === checkout && json.payment.amount === 0)

describe('trial runs', () => {
  it('200 concurrent buyers of 20 trials get 20, and all of them are delivered', async () => {
    const { id } = await world.sell({ trialRuns: 20, fields: FIELDS })
    const wallet = newWallet()
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const input = { name: String(at) }
        return await pay(id, { input, proof: await proofOf(wallet, id, input) })
      }),
    )
    const served = answers.filter(({ status }) => status === 200)
    expect(served).toHaveLength(20)
    expect(served[0]!.body.payment).toMatchObject({ amount: 0, free: 'trial', pass: null, status: 'paid' })
    expect(answers.filter(({ body }) => body.code === 'no_run_left')).toHaveLength(180)
    await until(() => delivered(id).length === 20)
    expect(new Set(delivered(id).map(({ json }) => String(json.metadata.paymentId))).size).toBe(20)
    const { body } = await world.call('GET', `/p/${id}/pass?address=${wallet.address}`)
    expect(body).toEqual({ pass: null, trialRunsLeft: 0 })
    const { statements } = world.service.database
    const methods = await statements.run('SELECT DISTINCT method::text FROM sale WHERE subject = $1', [id])
    expect(methods).toEqual([{ method: 'free' }])
  })

  it('are limited per day for all wallets together', async () => {
    const { id } = await world.sell({ trialRuns: 1, trialsPerDay: 3 })
    const tried = async () => await pay(id, { proof: await proofOf(newWallet(), id, {}) })
    const answers = await Promise.all([tried(), tried(), tried(), tried(), tried()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ body }) => body.code === 'trials_used_up')).toHaveLength(2)
  })

  it('are one sale for one signature and input; another input, checkout or wallet is refused', async () => {
    const { id } = await world.sell({ trialRuns: 5, fields: FIELDS })
    const other = await world.sell({ trialRuns: 5, fields: FIELDS })
    const wallet = newWallet()
    const proof = await proofOf(wallet, id, { name: 'a' })
    const [one, again] = await Promise.all([
      pay(id, { input: { name: 'a' }, proof }),
      pay(id, { input: { name: 'a' }, proof }),
    ])
    expect([one.status, again.status]).toEqual([200, 200])
    expect(again.body.payment.id).toBe(one.body.payment.id)
    expect((await pay(id, { input: { name: 'b' }, proof })).body).toMatchObject({ code: 'invalid_proof' })
    expect((await pay(other.id, { input: { name: 'a' }, proof })).body).toMatchObject({ code: 'invalid_proof' })
    const stolen = { ...proof, address: newWallet().address }
    expect((await pay(id, { input: { name: 'a' }, proof: stolen })).body).toMatchObject({ code: 'invalid_proof' })
    expect((await pay(id, { proof: await proofOf(wallet, id, {}, { minutes: 11 }) })).body).toMatchObject({
      code: 'proof_expired',
    })
    expect((await pay(id, { proof: await proofOf(wallet, id, {}, { minutes: -1 }) })).body).toMatchObject({
      code: 'proof_expired',
    })
    const left = await world.call('GET', `/p/${id}/pass?address=${wallet.address}`)
    expect(left.body.trialRunsLeft).toBe(4)
  })

  it('show their result for a day to whoever has its token, though the signature has expired', async () => {
    const { id } = await world.sell({ trialRuns: 2 })
    const wallet = newWallet()
    const proof = await proofOf(wallet, id, {})
    const token = `tok_${'r'.repeat(43)}`
    const run = await pay(id, { proof, token })
    expect(run.body.payment).toMatchObject({ free: 'trial', status: 'paid' })
    world.service.clock.forward(6 * 60_000)
    const again = await pay(id, { proof, token })
    expect([again.status, again.body.payment.id]).toEqual([200, run.body.payment.id])
    for (const other of [{ proof }, { proof, token: `tok_${'s'.repeat(43)}` }]) {
      expect((await pay(id, other)).body).toMatchObject({ code: 'proof_expired' })
    }
    // It makes no new run.
    const unused = await proofOf(wallet, id, {}, { minutes: -1 })
    expect((await pay(id, { proof: unused, token })).body).toMatchObject({ code: 'proof_expired' })
    const left = await world.call('GET', `/p/${id}/pass?address=${wallet.address}`)
    expect(left.body.trialRunsLeft).toBe(1)
    world.service.clock.forward(86_400_000)
    expect((await pay(id, { proof, token })).body).toMatchObject({ code: 'proof_expired' })
  })

  it("are of today's version, whatever quote is sent", async () => {
    const { id } = await world.sell({ trialRuns: 2 })
    const { quoteId } = (await world.call('GET', `/p/${id}`)).body.quote as { quoteId: string }
    const change = async (body: object) => {
      expect((await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body })).status).toBe(200)
    }
    const tried = async (wallet: TestWallet) => await pay(id, { quoteId, proof: await proofOf(wallet, id, {}) })
    // The workflow was removed, so that the run is the link that is sold now.
    const url = 'https://example.com/'
    await change({ after: { kind: 'link', url } })
    const first = await tried(newWallet())
    expect([first.status, first.body.payment]).toMatchObject([200, { free: 'trial', status: 'paid' }])
    expect(JSON.stringify(first.body)).toContain(url)
    expect(delivered(id)).toEqual([])
    await change({ trialRuns: 0 })
    expect((await tried(newWallet())).body.code).toBe('no_run_left')
  })

  it('are given back once when their work fails', async () => {
    const { id } = await world.sell({ trialRuns: 1, capture: 'onSuccess', fields: FIELDS })
    const wallet = newWallet()
    const held = await pay(id, { proof: await proofOf(wallet, id, {}) })
    expect(held.body.payment).toMatchObject({ status: 'created', free: 'trial', capture: 'onSuccess' })
    expect((await pay(id, { input: { name: 'b' }, proof: await proofOf(wallet, id, { name: 'b' }) })).body.code).toBe(
      'no_run_left',
    )
    const failed = { body: { status: 'failed', answer: 'No.' } }
    const reports = await Promise.all(
      [1, 2, 3].map(() => world.seller.call('POST', `/v1/payments/${held.body.payment.id}/outcome`, failed)),
    )
    expect(reports.map(({ status }) => status)).toEqual([200, 200, 200])
    const left = await world.call('GET', `/p/${id}/pass?address=${wallet.address}`)
    expect(left.body.trialRunsLeft).toBe(1)
  })
})

describe('passes', () => {
  it('are used exactly 20 times by 200 concurrent requests with 20 runs left, each delivered', async () => {
    const { id } = await world.sell({ testMode: true, plans: [RUNS] })
    const { pass, amount } = await buy(id)
    expect(amount).toBe(5)
    expect(pass).toMatchObject({
      plan: { id: 'twenty', name: 'Twenty runs' },
      runs: 21,
      runsLeft: 20,
      status: 'active',
    })
    const answers = await Promise.all(Array.from({ length: 200 }, () => pay(id, { pass: pass.token })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.filter(({ body }) => body.code === 'pass_used_up')).toHaveLength(180)
    await until(() => delivered(id).length === 20)
    const { body } = await world.call('GET', `/p/${id}/pass`, { headers: { 'x-pass': pass.token } })
    expect(body.pass).toMatchObject({ id: pass.id, runsLeft: 0, status: 'used_up' })
    // The receipt of a run shows the pass and not its token.
    const run = answers.find(({ status }) => status === 200)!.body.payment
    expect(run).toMatchObject({ amount: 0, free: 'pass', pass: { id: pass.id, token: null } })
  })

  it('use one run for a repeated request with one key, and refuse another input with it', async () => {
    const { id } = await world.sell({ testMode: true, plans: [RUNS], fields: FIELDS })
    const { pass } = await buy(id)
    const headers = { 'idempotency-key': `key-${pass.id}` }
    const once = await pay(id, { pass: pass.token, input: { name: 'a' } }, headers)
    const again = await pay(id, { pass: pass.token, input: { name: 'a' } }, headers)
    expect(again.body.payment.id).toBe(once.body.payment.id)
    const agents = { 'x-pass': pass.token, 'idempotency-key': `agent-${pass.id}` }
    const agent = await world.call('POST', `/p/${id}`, { body: {}, headers: agents })
    expect([agent.status, agent.body.payment.free]).toEqual([200, 'pass'])
    expect((await pay(id, { pass: pass.token, input: { name: 'b' } }, headers)).status).toBe(409)
    const { body } = await world.call('GET', `/p/${id}/pass`, { headers: { 'x-pass': pass.token } })
    expect(body.pass.runsLeft).toBe(18)
  })

  it('work at their own checkout and in their own mode only', async () => {
    const { id, checkout } = await world.sell({ testMode: true, plans: [RUNS] })
    const other = await world.sell({ testMode: true, plans: [RUNS] })
    const { pass } = await buy(id)
    for (const token of [`pst_${'a'.repeat(43)}`, 'pst_short', pass.id]) {
      expect((await pay(id, { pass: token })).body.code).toBe('pass_not_found')
    }
    expect((await pay(other.id, { pass: pass.token })).body.code).toBe('pass_not_found')
    await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { testMode: false, version: checkout.version } })
    expect((await pay(id, { pass: pass.token })).body.code).toBe('pass_not_found')
  })

  it('and trials and plans do not include an option that costs more than the listed price', async () => {
    const size = { name: 'size', label: 'Size', type: 'select', options: ['small', 'large'], required: true }
    const pricing = { kind: 'byField', field: 'size', prices: { small: 2, large: 500 } }
    const terms = { testMode: true, plans: [RUNS], fields: [size], pricing, price: undefined, trialRuns: 3 }
    const { id } = await world.sell(terms)
    const { pass } = await buy(id, RUNS.id, { size: 'small' })
    const wallet = newWallet()
    const choice = { plan: RUNS.id }
    const tries = (input: { size: string }) => [
      async () => await world.call('POST', `/p/${id}/quote`, { body: { input, choice } }),
      async () => await pay(id, { simulate: true, choice, input }),
      async () => await pay(id, { pass: pass.token, input }),
      async () => await pay(id, { input, proof: await proofOf(wallet, id, input) }),
    ]
    for (const attempt of tries({ size: 'large' })) {
      const { status, body } = await attempt()
      expect([status, body.details]).toEqual([
        400,
        { 'input.size': expect.stringContaining('must be an option for 2') },
      ])
    }
    for (const attempt of tries({ size: 'small' })) expect((await attempt()).status).toBe(200)
    const large = await pay(id, { simulate: true, input: { size: 'large' } })
    expect(large.body.payment).toMatchObject({ amount: 500, status: 'paid' })
  })

  it('work on their own network only', async () => {
    const { id } = await world.sell({ testMode: true, plans: [RUNS] })
    const { pass } = await buy(id)
    const switchTo = async (network: string) => {
      const changed = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { network } })
      expect(changed.status).toBe(200)
    }
    await switchTo('base')
    expect((await pay(id, { pass: pass.token })).body.code).toBe('pass_not_found')
    const shown = await world.call('GET', `/p/${id}/pass`, { headers: { 'x-pass': pass.token } })
    expect([shown.status, shown.body.code]).toEqual([404, 'pass_not_found'])
    await switchTo('base-sepolia')
    expect((await pay(id, { pass: pass.token })).status).toBe(200)
  })

  it.each([
    ['runs', RUNS, 20],
    ['period', MONTH, null],
  ])(
    'of a plan by %s go on when its first run fails after others were used; one not used is refunded',
    async (...[, plan, runsLeft]) => {
      const { id } = await world.sell({ testMode: true, plans: [plan], refundOnFailure: true })
      const [used, unused] = [await buy(id, plan.id), await buy(id, plan.id)]
      expect((await pay(id, { pass: used.pass.token })).status).toBe(200)
      const fail = (payment: string) =>
        world.seller.call('POST', `/v1/payments/${payment}/outcome`, { body: { status: 'failed' } })
      const passOf = async ({ pass }: typeof used) =>
        (await world.seller.call('GET', `/v1/passes/${pass.id}`)).body.pass as { endReason: string | null }
      // The second one changes nothing: the run comes back once.
      expect((await fail(used.id)).status).toBe(200)
      expect((await fail(used.id)).status).toBe(200)
      expect(await passOf(used)).toMatchObject({ status: 'active', runsLeft })
      expect((await pay(id, { pass: used.pass.token })).status).toBe(200)
      const kept = (await world.seller.call('GET', `/v1/payments/${used.id}`)).body.payment
      expect(kept).toMatchObject({ refunded: 0, refunds: [] })
      expect((await fail(unused.id)).status).toBe(200)
      await until(async () => (await passOf(unused)).endReason === 'refunded')
      const returned = (await world.seller.call('GET', `/v1/payments/${unused.id}`)).body.payment
      expect(returned).toMatchObject({ refunded: plan.price })
    },
  )

  it('give no run while their refund is being written', async () => {
    const { id } = await world.sell({ testMode: true, plans: [RUNS] })
    const { id: payment, pass } = await buy(id)
    const { pool, statements } = world.service.database
    const refund = await pool.connect()
    await refund.query('BEGIN')
    await refund.query('SELECT 1 FROM pass WHERE id = $1 FOR UPDATE', [pass.id])
    const run = pay(id, { pass: pass.token })
    await lockWaitedFor(statements)
    await refund.query('UPDATE sale SET refunded = amount WHERE id = $1', [payment])
    await refund.query('COMMIT')
    refund.release()
    expect((await run).body.code).toBe('pass_suspended')
  })

  it('end with their time, by their seller, and when their payment is refunded', async () => {
    const { id } = await world.sell({ testMode: true, plans: [RUNS, MONTH] })
    const month = await buy(id, MONTH.id)
    const [ended, refunded] = [await buy(id), await buy(id)]
    const stranger = await world.service.person()
    expect((await stranger.call('POST', `/v1/passes/${ended.pass.id}/end`)).status).toBe(404)
    expect((await world.seller.call('POST', `/v1/passes/${ended.pass.id}/end`)).body.pass.endReason).toBe('owner')
    expect((await pay(id, { pass: ended.pass.token })).body.code).toBe('pass_ended')

    const partly = { body: { amount: 1, reason: 'A part.' } }
    await world.seller.call('POST', `/v1/payments/${refunded.id}/refund`, partly)
    expect((await pay(id, { pass: refunded.pass.token })).status).toBe(200)
    await world.seller.call('POST', `/v1/payments/${refunded.id}/refund`, { body: { reason: 'The rest.' } })
    expect(['pass_ended', 'pass_suspended']).toContain((await pay(id, { pass: refunded.pass.token })).body.code)
    await until(
      async () => (await world.seller.call('GET', `/v1/passes/${refunded.pass.id}`)).body.pass.endReason === 'refunded',
    )

    const run = await pay(id, { pass: month.pass.token })
    expect(run.body.payment.pass).toMatchObject({ runs: null, runsLeft: null })
    const free = await world.seller.call('POST', `/v1/payments/${run.body.payment.id}/refund`, {
      body: { reason: 'No.' },
    })
    expect(free.body.code).toBe('nothing_paid')
    const { body } = await world.seller.call('GET', `/v1/passes?checkout=${id}&limit=2`)
    expect([body.passes.length, typeof body.cursor]).toEqual([2, 'string'])
    const rest = await world.seller.call('GET', `/v1/passes?checkout=${id}&limit=2&cursor=${body.cursor}`)
    expect([rest.body.passes.length, rest.body.cursor]).toEqual([1, null])
    world.service.clock.forward(30 * 86_400_000 + 1_000)
    expect((await pay(id, { pass: month.pass.token })).body.code).toBe('pass_ended')
    await until(
      async () => (await world.seller.call('GET', `/v1/passes/${month.pass.id}`)).body.pass.endReason === 'time',
    )
  })
})

describe('a pass that was paid for with money', () => {
  let paid: World
  /** The process stops after the claim until it resolves. Null: it does not stop. */
  let stopped: Promise<void> | null = null
  beforeAll(async () => {
    const reach = (place: string) => (place === 'sale claimed' ? (stopped ?? undefined) : undefined)
    paid = await openWorld({ chain: true, hooks: { failpoints: { reach } } })
  })
  afterAll(() => paid.close())

  /** Bought as an agent does: the answer to the address of the plan has its price. */
  async function buyMonth(checkout: string, payer: Awaited<ReturnType<World['chain']['payer']>>) {
    const { body } = await paid.call('POST', `/p/${checkout}?plan=month`, { body: {} })
    expect(body).toMatchObject({
      amount: '20',
      plans: [{ id: 'month', price: 20, url: expect.stringContaining('?plan=month') }],
    })
    const [v1] = body.accepts
    const header = Buffer.from(
      JSON.stringify(
        await signed(payer, paid.chain, { v1, v2: { payTo: v1.payTo, amount: v1.maxAmountRequired } } as never, 1),
      ),
    )
    const headers = { 'X-PAYMENT': header.toString('base64') }
    const purchase = await paid.call('POST', `/p/${checkout}?plan=month`, { body: {}, headers })
    expect(purchase.status).toBe(200)
    return purchase.body.payment as {
      id: string
      pass: { id: string; token: string; until: string; runsLeft: number | null }
    }
  }

  it('is extended from its end when the same wallet buys again, and reminds once', async () => {
    const { id } = await paid.sell({ plans: [MONTH] })
    const payer = await paid.chain.payer(50_000_000n)
    const one = await buyMonth(id, payer)
    const two = await buyMonth(id, payer)
    expect(two.pass.id).toBe(one.pass.id)
    expect(Date.parse(two.pass.until) - Date.parse(one.pass.until)).toBe(30 * 86_400_000)
    const { pass } = (await paid.seller.call('GET', `/v1/passes/${one.pass.id}`)).body
    expect(pass).toMatchObject({ holder: payer.address.toLowerCase(), runs: null, testMode: false, status: 'active' })
    await paid.seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['pass.ending'] },
    })
    const soon = new Date(Date.parse(two.pass.until) - 3 * 86_400_000 + 1_000)
    await Promise.all([1, 2, 3].map(() => paid.service.passes.sweepers.reminders(soon)))
    const { deliveries } = (await paid.seller.call('GET', '/v1/deliveries')).body
    expect((deliveries as { subject: string }[]).filter(({ subject }) => subject.startsWith('evt_'))).toHaveLength(1)
  })

  it('is not paid back when its first run fails after it was used by a signature from its first minutes', async () => {
    const { id } = await paid.sell({ plans: [MONTH], refundOnFailure: true })
    const payer = await paid.chain.payer(50_000_000n)
    const bought = await buyMonth(id, payer)
    const proof = await proofOf(privateKeyToAccount(payer.privateKey), id, {}, { at: paid })
    expect((await paid.call('POST', `/p/${id}/pay`, { body: { input: {}, proof } })).status).toBe(200)
    await paid.seller.call('POST', `/v1/payments/${bought.id}/outcome`, { body: { status: 'failed' } })
    expect((await paid.seller.call('GET', `/v1/payments/${bought.id}`)).body.payment.refunded).toBe(0)
  })

  it('answers its last run again to the same signature', async () => {
    const { id } = await paid.sell({ plans: [{ ...MONTH, runs: 2 }] })
    const payer = await paid.chain.payer(50_000_000n)
    await buyMonth(id, payer)
    const wallet = privateKeyToAccount(payer.privateKey)
    const proof = await proofOf(wallet, id, {}, { at: paid })
    const run = async (by: typeof proof) => await paid.call('POST', `/p/${id}/pay`, { body: { input: {}, proof: by } })
    const [first, again] = [await run(proof), await run(proof)]
    expect([first.status, again.status, again.body.payment?.id]).toEqual([200, 200, first.body.payment.id])
    expect((await run(await proofOf(wallet, id, {}, { at: paid, minutes: 4 }))).body.code).toBe('no_run_left')
    expect((await run({ ...proof, address: newWallet().address })).body.code).toBe('invalid_proof')
  })

  it('pays back one of its two payments when both first runs fail after half of the other runs were used', async () => {
    const { id } = await paid.sell({ plans: [{ ...MONTH, runs: 10 }], refundOnFailure: true })
    const payer = await paid.chain.payer(50_000_000n)
    const bought = [await buyMonth(id, payer), await buyMonth(id, payer)]
    expect(bought[1]?.pass).toMatchObject({ id: bought[0]?.pass.id, runsLeft: 18 })
    for (let run = 0; run < 9; run++) {
      const answer = await paid.call('POST', `/p/${id}/pay`, { body: { input: {}, pass: bought[1]?.pass.token } })
      expect(answer.status).toBe(200)
    }
    // The seller has no balance, so the first refund waits, and its runs are still on the pass.
    const refunded = []
    for (const { id: payment } of bought) {
      await paid.seller.call('POST', `/v1/payments/${payment}/outcome`, { body: { status: 'failed' } })
      refunded.push((await paid.seller.call('GET', `/v1/payments/${payment}`)).body.payment.refunded)
    }
    expect(refunded).toEqual([MONTH.price, 0])
  })

  it('is left as it is while its payment is being refunded: the same plan bought again is a pass of its own', async () => {
    const { id } = await paid.sell({ plans: [MONTH] })
    const payer = await paid.chain.payer(70_000_000n)
    const first = await buyMonth(id, payer)
    // The seller has no balance, so the refund waits.
    const asked = await paid.seller.call('POST', `/v1/payments/${first.id}/refund`, {
      body: { reason: 'Bought twice.' },
    })
    expect(asked.body.refund.state).toBe('requested')
    const second = await buyMonth(id, payer)
    expect(second.pass.id).not.toBe(first.pass.id)
    const run = (token: string) => paid.call('POST', `/p/${id}/pay`, { body: { input: {}, pass: token } })
    expect((await run(second.pass.token)).body.payment).toMatchObject({ free: 'pass', pass: { id: second.pass.id } })
    expect((await run(first.pass.token)).body.code).toBe('pass_suspended')
    // The next payment extends the one that can be used.
    const third = await buyMonth(id, payer)
    expect(third.pass.id).toBe(second.pass.id)
    const { passes } = (await paid.seller.call('GET', `/v1/passes?checkout=${id}`)).body
    expect((passes as { id: string }[]).map((pass) => pass.id)).toEqual([second.pass.id, first.pass.id])
  })

  it('is not extended by a plan of the same id that ends otherwise, or counts otherwise', async () => {
    const { id } = await paid.sell({ plans: [MONTH] })
    const payer = await paid.chain.payer(100_000_000n)
    const change = async (plan: object) => {
      const changed = await paid.seller.call('PATCH', `/v1/checkouts/${id}`, {
        body: { plans: [{ ...plan, id: MONTH.id, price: MONTH.price }] },
      })
      expect(changed.status).toBe(200)
    }
    const month = await buyMonth(id, payer)
    await change(RUNS)
    const runs = await buyMonth(id, payer)
    expect(runs.pass.id).not.toBe(month.pass.id)
    expect(runs.pass).toMatchObject({ until: null, runsLeft: 20 })
    await change({ ...MONTH, runs: 10 })
    const counted = await buyMonth(id, payer)
    expect([month.pass.id, runs.pass.id]).not.toContain(counted.pass.id)
    expect(counted.pass.runsLeft).toBe(9)
    // Back to the plan as it was: its pass still runs, and is extended.
    await change(MONTH)
    const again = await buyMonth(id, payer)
    expect(again.pass).toMatchObject({ id: month.pass.id, runsLeft: null })
    expect(Date.parse(again.pass.until) - Date.parse(month.pass.until)).toBe(30 * 86_400_000)
  })

  it('loses no run and delivers once where the process ends between the claim and the delivery', async () => {
    const { id } = await paid.sell({ plans: [MONTH], trialRuns: 1 })
    const { pass } = await buyMonth(id, await paid.chain.payer(50_000_000n))
    let resume: () => void = () => undefined
    stopped = new Promise((resolve) => (resume = resolve))
    const headers = { 'x-pass': pass.token, 'idempotency-key': 'stopped' }
    const first = paid.call('POST', `/p/${id}`, { body: {}, headers })
    const bySweeper = async () => {
      await paid.service.sales.sales(new Date(paid.service.clock.now().getTime() + 60_000))
      const { body } = await paid.seller.call('GET', `/v1/checkouts/${id}/payments`)
      return body.total === 2 && body.payments[0].status === 'paid'
    }
    await until(bySweeper)
    stopped = null
    resume()
    // The process that was thought to be gone comes back, and finds that all is done.
    expect((await first).body.payment).toMatchObject({ status: 'paid', free: 'pass' })
    const { payments } = (await paid.seller.call('GET', `/v1/checkouts/${id}/payments`)).body
    expect((payments as { status: string; free: string | null }[]).map(({ status, free }) => [status, free])).toEqual([
      ['paid', 'pass'],
      ['paid', null],
    ])
    const again = await paid.call('POST', `/p/${id}`, { body: {}, headers })
    expect(again.body.payment).toMatchObject({ id: payments[0].id, status: 'paid', free: 'pass' })
    await until(() => paid.workflow.deliveries.some(({ json }) => json.metadata.paymentId === payments[0].id))
    expect(paid.workflow.deliveries.filter(({ json }) => json.metadata.paymentId === payments[0].id)).toHaveLength(1)
    expect(await findPassDifferences(paid.service.database.statements)).toEqual([])
  })
})

describe('a pass that was bought with test money, once its checkout sells for real money', () => {
  let live: World
  let base: TestChain
  beforeAll(async () => {
    base = await startChain({ chainId: 8453 })
    const environment = { ...LIVE, BASE_RPC_URLS: base.url, ALLOW_HOSTS: '127.0.0.1' }
    live = await openWorld({ chain: true, person: 'production', environment })
  })
  afterAll(async () => {
    await live.close()
    await base.stop()
  })

  const change = async (checkout: string, body: object) => {
    expect((await live.seller.call('PATCH', `/v1/checkouts/${checkout}`, { body })).status).toBe(200)
  }

  async function buyMonth(checkout: string, chain: TestChain, payer: TestAccount) {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const purchase = await buyAt({ chain, payer }, `${live.service.origin}/p/${checkout}?plan=month`, request)
    expect([purchase.status, purchase.text]).toEqual([200, expect.any(String)])
    return purchase.body.payment.pass as { id: string; token: string; until: string }
  }

  it('gives no run there, and the same plan bought again is a pass of its own', async () => {
    const { id } = await live.sell({ plans: [MONTH] })
    const payer = await live.chain.payer(50_000_000n)
    await base.fund(payer.address, 50_000_000n)
    const wallet = privateKeyToAccount(payer.privateKey)
    const byToken = (token: string) => live.call('POST', `/p/${id}/pay`, { body: { input: {}, pass: token } })
    const bySignature = async (input = {}) => {
      const proof = await proofOf(wallet, id, input, { at: live })
      return await live.call('POST', `/p/${id}/pay`, { body: { input, proof } })
    }
    const test = await buyMonth(id, live.chain, payer)
    expect((await bySignature()).body.payment).toMatchObject({ free: 'pass', pass: { id: test.id } })

    await change(id, { network: 'base' })
    expect((await byToken(test.token)).body.code).toBe('pass_not_found')
    expect((await bySignature()).body.code).toBe('no_run_left')
    const real = await buyMonth(id, base, payer)
    expect(real.id).not.toBe(test.id)
    const month = live.service.clock.now().getTime() + 30 * 86_400_000
    expect(Math.abs(Date.parse(real.until) - month)).toBeLessThan(600_000)
    expect((await bySignature()).body.payment).toMatchObject({ free: 'pass', pass: { id: real.id } })

    // The other way round, what was paid with real money is worth nothing where nothing is.
    await change(id, { network: 'base-sepolia' })
    expect((await byToken(real.token)).body.code).toBe('pass_not_found')
    expect((await buyMonth(id, live.chain, payer)).id).toBe(test.id)
    expect(await findPassDifferences(live.service.database.statements)).toEqual([])
  })

  it('gives no run by a quote from before, however old', async () => {
    const { id } = await live.sell({ plans: [MONTH] })
    const payer = await live.chain.payer(50_000_000n)
    const test = await buyMonth(id, live.chain, payer)
    const { quoteId } = (await live.call('GET', `/p/${id}`)).body.quote as { quoteId: string }
    const byQuote = (right: object) => live.call('POST', `/p/${id}/pay`, { body: { input: {}, quoteId, ...right } })
    expect((await byQuote({ pass: test.token })).body.payment).toMatchObject({ free: 'pass', pass: { id: test.id } })
    await change(id, { network: 'base' })
    for (const ms of [0, 601_000]) {
      live.service.clock.forward(ms)
      const answer = await byQuote({ pass: test.token })
      expect([answer.status, answer.body.code]).toEqual([404, 'pass_not_found'])
      const proof = await proofOf(privateKeyToAccount(payer.privateKey), id, {}, { at: live })
      expect((await byQuote({ proof })).body.code).toBe('no_run_left')
    }
    expect(await findPassDifferences(live.service.database.statements)).toEqual([])
  })

  it('is never extended by a payment on another network, not even by a process of the version before', async () => {
    const { id } = await live.sell({ plans: [MONTH] })
    const { statements } = live.service.database
    const bought = async () => await buyMonth(id, live.chain, await live.chain.payer(50_000_000n))
    const [one, other] = [await bought(), await bought()]
    const older = `
INSERT INTO pass (id, checkout_id, user_id, environment, plan_id, plan_name, holder, simulated, token_hash, used, until, created_at)
SELECT id || 'x', checkout_id, user_id, environment, plan_id, plan_name, holder, simulated, 'x'::bytea, used, until, created_at
FROM pass WHERE id = $1 RETURNING network`
    expect(await statements.run(older, [one.id])).toEqual([{ network: 'base-sepolia' }])
    await statements.run("UPDATE pass SET network = 'base' WHERE id = $1", [one.id])
    const [paid] = await statements.run<{ sale_id: string }>(
      'DELETE FROM pass_sale WHERE pass_id = $1 RETURNING sale_id',
      [other.id],
    )
    const added = statements.run('INSERT INTO pass_sale (sale_id, pass_id) VALUES ($1, $2)', [paid!.sale_id, one.id])
    await expect(added).rejects.toThrow(/another network/)
  })
})
