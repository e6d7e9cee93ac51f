import { randomBytes } from 'node:crypto'
import type { PaymentView } from '../../service/checkouts/views.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { Answer } from '../harness/service.ts'
import { refund } from '../refunds/sales.ts'
import { openWorld, until, type World } from './world.ts'

describe('the status of a payment', () => {
  let world: World
  beforeAll(async () => {
    // No block is mined by itself: an outcome is unknown until a test mines one.
    world = await openWorld({ chain: true, environment: { SETTLE_WAIT_MS: '300' } })
    await world.chain.call('evm_setAutomine', false)
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({})
  })

  const statusPath = ({ body }: Answer) => {
    const { pathname, search } = new URL(String(body.payment.statusUrl))
    return pathname + search
  }
  const look = async (path: string) => (await world.call('GET', path)).body as PaymentView
  const sweep = () => world.service.sales.sales(world.service.clock.now())

  async function paying(terms: Record<string, unknown> = {}) {
    const checkout = await world.sell(terms)
    const payer = await world.chain.payer(5_000_000n)
    const paymentPayload = await world.sign(payer, checkout.id)
    const token = `tok_${randomBytes(32).toString('base64url')}`
    const answer = await world.call('POST', `/p/${checkout.id}/pay`, { body: { input: {}, paymentPayload, token } })
    return { ...checkout, payer, paymentPayload, token, answer }
  }

  it('is settling (202), never failed, while the outcome is unknown, and ends with the block', async () => {
    const { answer, payer } = await paying()
    expect(answer).toMatchObject({
      status: 202,
      body: { payment: { status: 'settling', txHash: null, reason: null }, delivery: null },
    })
    await world.chain.mine()
    // The buyer has disconnected; the sweeper checks the outcome for them.
    const end = await until(async () => {
      world.service.clock.forward(1_000)
      await sweep()
      const view = await look(statusPath(answer))
      return view.payment.status === 'paid' && view
    })
    expect(end.payment).toMatchObject({ id: answer.body.payment.id, txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(await usdcOf(world.chain, payer.address)).toBe(4_000_000n)
    await until(() => world.workflow.deliveries.some(({ json }) => json.payment.payer === payer.address))
  })

  it('is found and continued by a page reloaded in the middle', async () => {
    const { id, answer, payer, paymentPayload, token } = await paying()
    await world.chain.mine()
    const again = await until(async () => {
      const reposted = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload, token } })
      return reposted.status === 200 && reposted
    })
    expect(again.body.payment).toMatchObject({ id: answer.body.payment.id, status: 'paid' })
    expect(await usdcOf(world.chain, payer.address)).toBe(4_000_000n)
  })

  it('is failed with the reason when the money is gone before the block, and nothing moves', async () => {
    const { body: created } = await world.seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: world.workflow.url, events: ['payment.failed'] },
    })
    const { answer, payer } = await paying()
    await world.chain.fund(payer.address, 0n)
    await world.chain.mine()
    world.service.clock.forward(6_000)
    await sweep()
    // A block that may be reorganised away ends nothing.
    expect((await look(statusPath(answer))).payment.status).toBe('settling')
    const end = await until(async () => {
      await world.chain.mine()
      world.service.clock.forward(2_000)
      await sweep()
      const view = await look(statusPath(answer))
      return view.payment.status === 'failed' && view
    })
    expect(end).toMatchObject({
      payment: { reason: { code: expect.stringMatching(/^invalid_exact_evm_/), sentence: expect.any(String) } },
      delivery: null,
    })
    expect(world.workflow.deliveries.filter(({ json }) => json.payment?.payer === payer.address)).toHaveLength(0)
    const { body } = await world.seller.call('GET', `/v1/deliveries?target=${created.webhookEndpoint.id as string}`)
    expect(body.total).toBe(1)
  })

  it('is streamed at its address until the payment and the delivery have ended', async () => {
    await world.chain.call('evm_setAutomine', true)
    const { answer } = await paying()
    const response = await fetch(world.service.origin + statusPath(answer), {
      headers: { accept: 'text/event-stream' },
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const text = await response.text()
    const states = [...text.matchAll(/^event: state\ndata: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as PaymentView,
    )
    expect(states.at(-1)).toMatchObject({ payment: { status: 'paid' }, delivery: { status: 'delivered', attempts: 1 } })
  })

  it('is streamed with its refunds', async () => {
    await world.chain.call('evm_setAutomine', true)
    world.workflow.answers({ delivery: { status: 500, body: '{}' } })
    const { answer } = await paying()
    const path = statusPath(answer)
    expect((await refund(world.seller, String(answer.body.payment.id), {})).status).toBe(202)
    const stream = await fetch(world.service.origin + path, { headers: { accept: 'text/event-stream' } })
    const first = await readUntil(stream, '\n\n')
    const { payment } = await look(path)
    expect(payment).toMatchObject({ status: 'paid', refunds: [{ state: 'requested', amount: 1 }] })
    expect(JSON.parse(/^data: (.*)$/m.exec(first)![1]!)).toMatchObject({ payment: { refunds: payment.refunds } })
  })

  it("includes the last node's answer, for the buyer and for an agent", async () => {
    world.workflow.answers({ delivery: { status: 200, body: '{"report":"<b>all good</b>"}' } })
    const { id, answer } = await paying({ responseMode: 'lastNode' })
    const end = await until(async () => {
      const view = await look(statusPath(answer))
      return view.delivery?.status === 'delivered' && view
    })
    expect(end.delivery?.answer).toBe('{"report":"<b>all good</b>"}')

    const payment = Buffer.from(JSON.stringify(await world.sign(await world.chain.payer(5_000_000n), id, 1)))
    // A busy chain takes longer than the request waits; the same payment asks again.
    const agent = await until(async () => {
      const headers = { 'X-PAYMENT': payment.toString('base64') }
      const answer = await world.call('POST', `/p/${id}`, { body: {}, headers })
      return answer.status !== 202 && answer
    })
    expect(agent).toMatchObject({
      status: 200,
      body: { delivery: { status: 'delivered', answer: '{"report":"<b>all good</b>"}' } },
    })
  })

  it("includes the workflow's progress, for its buyer only, bounded, until it has ended", async () => {
    const finish = world.workflow.holds()
    const { answer } = await paying({ responseMode: 'lastNode' })
    const path = statusPath(answer)
    const id = String(answer.body.payment.id)
    const write = (body: Record<string, unknown>, by = world.seller) =>
      by.call('POST', `/v1/payments/${id}/progress`, { body })
    await until(() => world.workflow.deliveries.length === 1)
    const stream = await fetch(world.service.origin + path, { headers: { accept: 'text/event-stream' } })
    const stranger = await world.service.person()

    expect(await write({ text: 'Reading <b>the site</b>' })).toMatchObject({ status: 200, body: { shown: true } })
    await write({ text: 'Half of it', percent: 49.6 })
    const lines = [
      { text: 'Reading <b>the site</b>', percent: null, at: expect.any(String) },
      { text: 'Half of it', percent: 50, at: expect.any(String) },
    ]
    expect((await look(path)).delivery?.progress).toEqual(lines)
    expect((await look(new URL(String(answer.body.payment.statusUrl)).pathname)).delivery?.progress).toEqual([])
    expect((await write({ text: 'mine' }, stranger)).status).toBe(404)
    for (const text of ['', 'x'.repeat(201), 'two\nlines']) expect((await write({ text })).status).toBe(400)
    expect((await write({ text: 'x', percent: 101 })).status).toBe(400)

    // Only what is shown while it works is streamed: before the end, which takes the lines away.
    await readUntil(stream, '"text":"Half of it"')
    world.service.clock.forward(1_000)
    const burst = await world.service.clock.still(() =>
      Promise.all(Array.from({ length: 6 }, () => write({ text: 'at once' }))),
    )
    expect(burst.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429])
    world.service.clock.forward(1_000)
    await world.service.database.statements.run('UPDATE checkout_progress SET written = 500', [])
    expect(await write({ text: 'more' })).toMatchObject({ status: 409, body: { code: 'progress_too_long' } })

    finish()
    await until(async () => (await look(path)).delivery?.status === 'delivered')
    expect((await look(path)).delivery).toMatchObject({ status: 'delivered', progress: [] })
    expect(await write({ text: 'late' })).toMatchObject({ status: 200, body: { shown: false } })
  })

  it('hides the answer of a workflow that responds immediately', async () => {
    world.workflow.answers({ delivery: { status: 200, body: '{"internal":"secret"}' } })
    const { answer } = await paying()
    const end = await until(async () => {
      const view = await look(statusPath(answer))
      return view.delivery?.status === 'delivered' && view
    })
    expect(end.delivery?.answer).toBeNull()
  })

  describe('claimed by its workflow', () => {
    const claim = async (delivery: string) =>
      (await world.seller.call('POST', `/v1/deliveries/${delivery}/claim`)).body.claimed as boolean

    async function claimed(terms: Record<string, unknown> = {}) {
      world.workflow.answers({ delivery: { status: 500, body: '{}' } })
      const { answer } = await paying(terms)
      const path = statusPath(answer)
      const delivery = String(answer.body.payment.id).replace('pay_', 'dlv_')
      await until(async () => ((await look(path)).delivery?.attempts ?? 0) > 0)
      const claims = await Promise.all(Array.from({ length: 10 }, () => claim(delivery)))
      expect(claims.filter(Boolean)).toHaveLength(1)
      return { path, delivery }
    }

    it('it runs once; without a confirmation it is unconfirmed until its owner redelivers it', async () => {
      const { path, delivery } = await claimed()
      world.service.clock.forward(3_600_000)
      await until(async () => (await look(path)).delivery?.status === 'unconfirmed')
      const before = world.workflow.deliveries.length
      world.workflow.answers({})
      expect((await world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)).status).toBe(202)
      await until(async () => (await look(path)).delivery?.status === 'delivered')
      expect(world.workflow.deliveries.length).toBeGreaterThan(before)
      expect(new Set(world.workflow.deliveries.map(({ headers }) => headers['webhook-id']))).toEqual(
        new Set([delivery]),
      )
    })

    it('with onUnconfirmed: redeliver it is sent again by itself, with a new claim', async () => {
      const { path, delivery } = await claimed({ onUnconfirmed: 'redeliver' })
      world.workflow.answers({})
      world.service.clock.forward(3_600_000)
      await until(async () => {
        // According to its schedule, whose pauses grow.
        world.service.clock.forward(5_000)
        return (await look(path)).delivery?.status === 'delivered'
      })
      expect(await claim(delivery)).toBe(true)
    })
  })
})

/** Reads a stream until it has said this, and leaves it. */
async function readUntil(stream: Response, words: string): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.includes(words)) return text
  }
  throw new Error(`the stream ended and said: ${text}`)
}
