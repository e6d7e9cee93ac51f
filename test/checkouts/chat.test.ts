import { createHash } from 'node:crypto'
import { assertChat, bounded, CHAT_FIELDS, historyOf, turnFrom } from '../../service/checkouts/rules/chat.ts'
import type { Turn } from '../../service/checkouts/model.ts'
import { findPassDifferences } from '../../service/passes/store.ts'
import { openWorld, until, type World } from './world.ts'

const PLAN = { id: 'five', name: 'Five turns', price: 1, kind: 'runs', runs: 5 }
const CHAT = { chat: { greeting: 'Ask me anything.' }, plans: [PLAN], responseMode: 'lastNode', testMode: true }

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  const differences = await findPassDifferences(world.service.database.statements)
  await world.close()
  expect(differences).toEqual([])
})

const pay = (checkout: string, body: object, headers: Record<string, string> = {}) =>
  world.call('POST', `/p/${checkout}/pay`, { body, headers })

/** A message that a pass pays for. */
const send = (checkout: string, pass: string, message: string, key = message) => {
  const named = createHash('sha256').update(`${pass} ${key}`).digest('hex')
  return pay(checkout, { pass, input: { message } }, { 'idempotency-key': named })
}

const chatOf = (checkout: string, pass: string) =>
  world.call('GET', `/p/${checkout}/chat`, { headers: { 'x-pass': pass } })

const answersWith = (answer: unknown) => {
  world.workflow.answers({ delivery: { status: 200, body: JSON.stringify(answer) } })
}

/** The statuses of a chat's turns. */
async function statuses(checkout: string, pass: string): Promise<string[]> {
  const { body } = await chatOf(checkout, pass)
  return (body.turns as { status: string }[]).map(({ status }) => status)
}

const settled = (checkout: string, pass: string) =>
  until(async () => !(await statuses(checkout, pass)).includes('working'))

const deliveriesOf = (payment: unknown) =>
  world.workflow.deliveries.filter(({ json }) => (json as Delivered).metadata?.paymentId === payment)

interface Delivered {
  input?: { message: string }
  metadata?: { paymentId: string; chat: { turn: number } }
}

/** A chat whose first message was paid for with a plan, and answered. */
async function openChat(terms: object = {}, message = 'Hello?') {
  const { id } = await world.sell({ ...CHAT, ...terms })
  answersWith({ output: `Answer to ${message}` })
  const purchase = await pay(id, { simulate: true, choice: { plan: 'five' }, input: { message } })
  expect(purchase.status).toBe(200)
  const { id: payment, pass } = purchase.body.payment as { id: string; pass: { id: string; token: string } }
  await settled(id, pass.token)
  return { id, payment, passId: pass.id, token: pass.token }
}

describe('a paid chat', () => {
  it('sells its turns ahead, and sends each message with the earlier turns', async () => {
    const { id, payment, passId, token } = await openChat()
    expect(deliveriesOf(payment)[0]!.json).toMatchObject({
      input: { message: 'Hello?' },
      payment: { amount: 1 },
      metadata: { plan: 'five', chat: { id: passId, turn: 1, turnsLeft: 4, history: [] } },
    })
    answersWith([{ text: 'Second' }])
    const second = await send(id, token, 'And then?')
    expect(second.body.payment).toMatchObject({ amount: 0, free: 'pass', pass: { runsLeft: 3 } })
    await settled(id, token)
    const third = await send(id, token, 'Last')
    await settled(id, token)
    expect(deliveriesOf(third.body.payment.id)[0]!.json).toMatchObject({
      payment: { amount: 0 },
      metadata: {
        free: 'pass',
        chat: {
          id: passId,
          turn: 3,
          turnsLeft: 2,
          history: [
            { message: 'Hello?', answer: 'Answer to Hello?' },
            { message: 'And then?', answer: 'Second' },
          ],
        },
      },
    })
    const { body, status } = await chatOf(id, token)
    expect(status).toBe(200)
    expect(body.pass).toMatchObject({ id: passId, runsLeft: 2, status: 'active' })
    expect(body.turns).toHaveLength(3)
    expect(body.turns[1]).toEqual({
      turn: 2,
      status: 'answered',
      message: 'And then?',
      answer: 'Second',
      isCut: false,
      paymentId: second.body.payment.id,
      token: second.body.payment.token,
      receiptUrl: second.body.payment.receiptUrl,
      at: expect.any(String),
    })
  })

  it("shows a turn's progress, and then the answer that its workflow reports", async () => {
    const { id, token } = await openChat()
    const release = world.workflow.holds()
    const sent = await send(id, token, 'Slow one')
    const payment = String(sent.body.payment.id)
    await until(() => deliveriesOf(payment).length === 1)
    expect(await statuses(id, token)).toEqual(['answered', 'working'])
    const progress = { body: { text: 'So far' } }
    expect((await world.seller.call('POST', `/v1/payments/${payment}/progress`, progress)).status).toBe(200)
    const followed = await world.call('GET', `/p/${id}/payments/${payment}?token=${sent.body.payment.token}`)
    expect(followed.body.delivery.progress).toMatchObject([{ text: 'So far' }])
    const report = { body: { status: 'succeeded', answer: '**Done**' } }
    expect((await world.seller.call('POST', `/v1/payments/${payment}/outcome`, report)).status).toBe(200)
    expect((await chatOf(id, token)).body.turns[1]).toMatchObject({ status: 'answered', answer: '**Done**' })
    release()
  })

  it('sells one of two concurrent turns, and refuses the other at no cost', async () => {
    const { id, token } = await openChat()
    const release = world.workflow.holds()
    const answers = await Promise.all([send(id, token, 'One'), send(id, token, 'Two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)!.body.code).toBe('turn_under_way')
    const third = await send(id, token, 'Three')
    expect([third.status, third.body.code]).toEqual([409, 'turn_under_way'])
    release()
    await settled(id, token)
    const { body } = await chatOf(id, token)
    expect([body.turns.length, body.pass.runsLeft]).toEqual([2, 3])
    expect((await send(id, token, 'Three', 'a new key')).status).toBe(200)
    await settled(id, token)
  })

  it('makes one turn of a message sent twice, also concurrently', async () => {
    const { id, token } = await openChat()
    const release = world.workflow.holds()
    const twice = await Promise.all([send(id, token, 'Same'), send(id, token, 'Same')])
    const again = await send(id, token, 'Same')
    const served = [...twice, again].map(({ status, body }): [number, unknown] => [status, body.payment?.id])
    expect(new Set(served.map(String)).size).toBe(1)
    expect(served[0]![0]).toBe(200)
    release()
    await settled(id, token)
    expect((await chatOf(id, token)).body).toMatchObject({ pass: { runsLeft: 3 }, turns: [{}, { message: 'Same' }] })
    expect(deliveriesOf(served[0]![1])).toHaveLength(1)
  })

  it('gives a failed turn back, and leaves it out of the history that the workflow gets', async () => {
    const { id, token } = await openChat({ refundOnFailure: true })
    const release = world.workflow.holds()
    const failed = await send(id, token, 'Fails')
    await until(() => deliveriesOf(failed.body.payment.id).length === 1)
    const report = { body: { status: 'failed', answer: 'No.' } }
    await world.seller.call('POST', `/v1/payments/${failed.body.payment.id}/outcome`, report)
    release()
    expect(await statuses(id, token)).toEqual(['answered', 'failed'])
    expect((await chatOf(id, token)).body.pass.runsLeft).toBe(4)
    const next = await send(id, token, 'Works')
    await settled(id, token)
    expect(deliveriesOf(next.body.payment.id)[0]!.json.metadata.chat).toMatchObject({
      turn: 3,
      turnsLeft: 3,
      history: [{ message: 'Hello?' }],
    })
  })

  it('refuses the turn after the last one', async () => {
    const { id, token } = await openChat()
    for (const message of ['2', '3', '4', '5']) {
      expect((await send(id, token, message)).status).toBe(200)
      await settled(id, token)
    }
    const refused = await send(id, token, '6')
    expect([refused.status, refused.body.code]).toEqual([409, 'pass_used_up'])
    const { body } = await chatOf(id, token)
    expect([body.turns.length, body.pass.runsLeft, body.pass.status]).toEqual([5, 0, 'used_up'])
  })

  it('accepts the next message ten minutes after an unanswered turn', async () => {
    const { id, token } = await openChat()
    const release = world.workflow.holds()
    expect((await send(id, token, 'Lost')).status).toBe(200)
    expect((await send(id, token, 'Next')).body.code).toBe('turn_under_way')
    world.service.clock.forward(601_000)
    expect((await send(id, token, 'Next')).status).toBe(200)
    release()
  })

  it('can be read and used with its own pass only', async () => {
    const one = await openChat({}, 'A secret')
    const other = await openChat()
    for (const token of ['', `pst_${'a'.repeat(43)}`, one.passId, one.payment]) {
      const { status, body, text } = await chatOf(one.id, token)
      expect([status, body.code]).toEqual([404, 'pass_not_found'])
      expect(text).not.toContain('A secret')
    }
    // A genuine pass, of another checkout, and of the same one.
    expect((await chatOf(one.id, other.token)).body.code).toBe('pass_not_found')
    expect((await send(one.id, other.token, 'Hi')).body.code).toBe('pass_not_found')
    const neighbour = await pay(one.id, { simulate: true, choice: { plan: 'five' }, input: { message: 'Mine' } })
    const { token } = neighbour.body.payment.pass as { token: string }
    expect((await chatOf(one.id, token)).body.turns).toMatchObject([{ turn: 1, message: 'Mine' }])
    await settled(one.id, token)
    const { id: plain } = await world.sell({ testMode: true, plans: [PLAN] })
    expect((await chatOf(plain, one.token)).body.code).toBe('chat_not_found')
  })

  it("limits a message's length, and accepts no other field", async () => {
    const { id, token } = await openChat()
    expect((await send(id, token, '€'.repeat(4_000), 'long')).status).toBe(200)
    await settled(id, token)
    expect((await send(id, token, 'x'.repeat(4_001), 'longer')).status).toBe(400)
    expect((await send(id, token, '', 'empty')).body.details).toEqual({ 'input.message': 'is required' })
    const more = await pay(id, { pass: token, input: { message: 'Hi', history: [] } })
    expect(more.body.details).toEqual({ 'input.history': 'is not known' })
    expect((await chatOf(id, token)).body.pass.runsLeft).toBe(3)
  })

  it('limits the turns of a pass per minute', async () => {
    const { id, token } = await openChat({ plans: [{ ...PLAN, runs: 100 }] })
    await world.service.database.statements.run(
      `INSERT INTO chat_turn (sale_id, pass_id, number, user_id, environment, created_at)
       SELECT 'pay_' || n, pass_id, number + n, user_id, environment, created_at
       FROM chat_turn, generate_series(1, 29) n WHERE sale_id = (SELECT max(sale_id) FROM chat_turn WHERE sale_id LIKE 'pay_0%')`,
      [],
    )
    const refused = await send(id, token, 'Again')
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_turns'])
    world.service.clock.forward(61_000)
    expect((await send(id, token, 'Again', 'later')).status).toBe(200)
    await settled(id, token)
  })

  it.each([
    [{ plans: [] }, 'plans'],
    [{ responseMode: 'immediately' }, 'responseMode'],
    [{ capture: 'onSuccess', price: 0.01, plans: [{ ...PLAN, price: 0.01 }] }, 'capture'],
    [{ fields: [{ name: 'name', label: 'Name', type: 'text' }] }, 'fields'],
    [{ trialRuns: 1 }, 'trialRuns'],
    [{ redirectUrl: 'https://example.com/' }, 'redirectUrl'],
    [{ pricing: { kind: 'quantity', min: 1, max: 2 } }, 'pricing'],
    [{ after: { kind: 'text', text: 'Hi' }, callbackUrl: null, responseMode: 'immediately' }, 'after'],
  ])('is refused with %j', async (terms, field) => {
    await expect(world.sell({ ...CHAT, ...terms })).rejects.toThrow(field)
  })

  it('stays a chat until its owner changes that, with a version for each change', async () => {
    const { id, checkout } = await world.sell(CHAT)
    expect(checkout).toMatchObject({ chat: { greeting: 'Ask me anything.' }, fields: CHAT_FIELDS })
    const greeted = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { chat: { greeting: null } } })
    expect(greeted.body.checkout).toMatchObject({ chat: { greeting: null }, fields: CHAT_FIELDS, version: 2 })
    const { body } = await world.call('GET', `/p/${id}`)
    expect(body.checkout.chat).toEqual({ greeting: null })
    const ended = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { chat: null } })
    expect(ended.body.checkout).toMatchObject({ chat: null, version: 3 })
  })
})

describe('a turn whose process ends after the claim', () => {
  let stopped: Promise<void> | null = null
  let other: World
  beforeAll(async () => {
    const reach = (place: string) => (place === 'sale claimed' ? (stopped ?? undefined) : undefined)
    other = await openWorld({ hooks: { failpoints: { reach } } })
  })
  afterAll(() => other.close())

  it('is pending until the sweeper has delivered it, once', async () => {
    const { id } = await other.sell(CHAT)
    const input = { message: 'First' }
    const purchase = await other.call('POST', `/p/${id}/pay`, {
      body: { simulate: true, choice: { plan: 'five' }, input },
    })
    const { token } = purchase.body.payment.pass as { token: string }
    const read = () => other.call('GET', `/p/${id}/chat`, { headers: { 'x-pass': token } })
    const isSettled = async () =>
      ((await read()).body.turns as { status: string }[]).every(({ status }) => status === 'answered')
    await until(isSettled)
    let resume: () => void = () => undefined
    stopped = new Promise((resolve) => (resume = resolve))
    const body = { pass: token, input: { message: 'Second' } }
    const first = other.call('POST', `/p/${id}/pay`, { body, headers: { 'idempotency-key': 'a-stopped-turn' } })
    await until(async () => (await read()).body.turns.length === 2)
    const next = await other.call('POST', `/p/${id}/pay`, { body: { ...body, input: { message: 'Third' } } })
    expect([next.status, next.body.code]).toEqual([409, 'turn_under_way'])
    await other.service.sales.sales(new Date(other.service.clock.now().getTime() + 60_000))
    await until(isSettled)
    stopped = null
    resume()
    expect((await first).body.payment).toMatchObject({ status: 'paid', free: 'pass' })
    const deliveries = other.workflow.deliveries
      .map(({ json }) => json as Delivered)
      .filter(({ input }) => input?.message === 'Second')
    expect(deliveries.map(({ metadata }) => metadata?.chat.turn)).toEqual([2])
    expect((await read()).body.pass.runsLeft).toBe(3)
  })
})

describe('the history of a chat', () => {
  const turn = (number: number, answer: string, message = 'm'): Turn => ({
    number,
    saleId: `pay_${String(number)}`,
    message,
    status: 'answered',
    answer,
    isCut: false,
    createdAt: new Date(0),
  })

  it('has the latest 50 turns, and no more than 64 KB of them', () => {
    const many = Array.from({ length: 60 }, (_, at) => turn(at, 'a'))
    expect(bounded(many).map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, at) => at + 10))
    const large = Array.from({ length: 10 }, (_, at) => turn(at, '€'.repeat(16_000)))
    // Each has 48,001 bytes.
    expect(bounded(large).map(({ number }) => number)).toEqual([9])
    expect(historyOf([turn(1, 'a'), { ...turn(2, 'b'), status: 'failed', answer: null }])).toEqual([
      { message: 'm', answer: 'a' },
    ])
  })

  const row = { number: 1, saleId: 'pay_1', message: 'm', reported: null, answered: null, createdAt: new Date(0) }

  it.each([
    [{ saleState: 'claimed', outcome: null, deliveryState: null }, 'working'],
    [{ saleState: 'settling', outcome: null, deliveryState: null }, 'working'],
    [{ saleState: 'paid', outcome: null, deliveryState: 'pending' }, 'working'],
    [{ saleState: 'paid', outcome: null, deliveryState: 'claimed' }, 'working'],
    [{ saleState: 'paid', outcome: 'succeeded', deliveryState: 'claimed' }, 'answered'],
    [{ saleState: 'paid', outcome: null, deliveryState: 'delivered' }, 'answered'],
    [{ saleState: 'paid', outcome: null, deliveryState: 'exhausted' }, 'failed'],
    [{ saleState: 'paid', outcome: 'failed', deliveryState: 'delivered' }, 'failed'],
    [{ saleState: 'refunded', outcome: 'succeeded', deliveryState: 'delivered' }, 'failed'],
    [{ saleState: 'failed', outcome: null, deliveryState: null }, 'failed'],
  ])('a turn with %j is %s', (ends, status) => {
    expect(turnFrom({ ...row, ...ends }).status).toBe(status)
  })

  it('shows an answer without its JSON wrapper, and cuts a long one', () => {
    const ends = { saleState: 'paid', outcome: null, deliveryState: 'delivered' }
    const answerOf = (answered: string) => turnFrom({ ...row, ...ends, answered }).answer
    expect(answerOf('{"output":"Hi"}')).toBe('Hi')
    expect(answerOf('[{"text":"Hi"}]')).toBe('Hi')
    expect(answerOf('{"a":1,"b":2}')).toBe('{"a":1,"b":2}')
    expect(answerOf('plain')).toBe('plain')
    expect(turnFrom({ ...row, ...ends, answered: 'x'.repeat(16_001) })).toMatchObject({
      isCut: true,
      answer: 'x'.repeat(16_000),
    })
  })

  it('its rules do not apply to other checkouts', () => {
    expect(() => assertChat({ chat: null } as never)).not.toThrow()
  })
})
