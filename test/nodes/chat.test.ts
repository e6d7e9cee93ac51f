import { createHmac } from 'node:crypto'
import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { readChat, turnOf } from '../../nodes/PaidChatTrigger/chat.ts'
import { PaidChatTrigger } from '../../nodes/PaidChatTrigger/PaidChatTrigger.node.ts'
import { termsBody, toTerms } from '../../service/checkouts/http/bodies.ts'
import { assertChat, CHAT_FIELDS } from '../../service/checkouts/rules/chat.ts'
import { deliveryOf } from '../../service/checkouts/rules/lifecycle.ts'
import { linesOfTotal } from '../../service/checkouts/rules/price.ts'
import { usdc } from '../../service/kit/money.ts'
import { hook, SECRET, webhook, type Played } from './n8n.ts'

const PARAMETERS = {
  ...{ productName: 'Tax assistant', greeting: 'Hello!', price: 1, messages: 20, returnFailed: true },
}
const trigger = new PaidChatTrigger()
const { checkExists, create, delete: remove } = trigger.webhookMethods.default

const sentWith = (parameters: IDataObject): IDataObject =>
  JSON.parse(JSON.stringify(readChat(hook({ parameters: { ...PARAMETERS, ...parameters } }).context))) as IDataObject

describe('the settings of a chat', () => {
  it('have the form that the service accepts', () => {
    const sent = sentWith({})
    expect(sent).toMatchObject({
      price: 0.05,
      responseMode: 'lastNode',
      refundOnFailure: true,
      chat: { greeting: 'Hello!' },
      plans: [{ id: 'messages', name: '20 messages', price: 1, kind: 'runs', runs: 20 }],
    })
    const terms = toTerms(termsBody.parse(sent))
    expect(() => {
      assertChat(terms)
    }).not.toThrow()
    expect(CHAT_FIELDS.map(({ name }) => name)).toEqual(['message'])
  })

  it.each([
    [{ price: 1, messages: 3 }, 0.333334],
    [{ price: 0.000001, messages: 2 }, 0.000001],
  ])('a single message of %j costs %d: never less than in a plan', (parameters, price) => {
    expect(sentWith(parameters)['price']).toBe(price)
    expect(termsBody.safeParse(sentWith(parameters)).success).toBe(true)
  })

  it('have no greeting where none was written, and no codes unless chosen', () => {
    expect(sentWith({ greeting: ' ' })).toMatchObject({ chat: { greeting: null } })
    expect(sentWith({})).not.toHaveProperty('coupons')
    expect(sentWith({ options: { coupons: true } })).toMatchObject({ coupons: true })
  })

  it('read only parameters that the panel has', () => {
    const names = new Set(trigger.description.properties.map(({ name }) => name))
    const { context } = hook({ parameters: PARAMETERS })
    const read: string[] = []
    const { getNodeParameter } = context
    context.getNodeParameter = ((name: string, ...rest: unknown[]) => {
      read.push(name)
      return (getNodeParameter as (...all: unknown[]) => unknown)(name, ...rest)
    }) as typeof getNodeParameter
    readChat(context)
    expect(read.filter((name) => !names.has(name))).toEqual([])
    const options = trigger.description.properties.find(({ name }) => name === 'options')?.options as INodeProperties[]
    expect(options.map(({ name }) => name)).toEqual(['callbackUrl', 'coupons'])
  })
})

describe('the life of a chat', () => {
  const service = () => ({
    status: 201,
    body: { checkout: { id: 'chk_1', url: 'https://pay.example/p/chk_1', status: 'active' }, secret: SECRET },
  })

  it('is registered, found again after no change, and removed', async () => {
    const memory: IDataObject = {}
    const played = { parameters: PARAMETERS, memory, service } satisfies Played
    const made = hook(played)
    expect(await create.call(made.context)).toBe(true)
    expect(made.calls[0]!.body).toMatchObject({ chat: { greeting: 'Hello!' } })
    expect(await checkExists.call(hook(played).context)).toBe(true)
    expect(await checkExists.call(hook({ ...played, parameters: { ...PARAMETERS, messages: 21 } }).context)).toBe(false)
    expect(await remove.call(hook(played).context)).toBe(true)
    expect(memory).toEqual({})
  })

  it('names the wrong field of the panel', async () => {
    const refused = () => ({
      status: 400,
      body: {
        error: 'plans.0.runs must be at least 1.',
        code: 'invalid_input',
        details: { 'plans.0.runs': 'must be at least 1' },
      },
    })
    const made = hook({ parameters: PARAMETERS, service: refused })
    await expect(create.call(made.context)).rejects.toThrow('Messages per Payment')
  })
})

describe('a message', () => {
  const chat = { id: 'pas_1', turn: 3, turnsLeft: 17, history: [{ message: 'Hello?', answer: 'Hi.' }] }
  const body = bodyOf('And now?')

  it('runs the workflow once, with the earlier turns', async () => {
    const { workflowData } = await receive(body, { service: () => ({ status: 200, body: { claimed: true } }) })
    expect(workflowData![0]![0]!.json).toMatchObject({
      chatId: 'pas_1',
      turn: 3,
      turnsLeft: 17,
      message: 'And now?',
      history: [{ message: 'Hello?', answer: 'Hi.' }],
      payment: { amount: 0 },
      metadata: { paymentId: 'pay_1', free: 'pass' },
    })
    expect(workflowData![0]![0]!.json['metadata']).not.toHaveProperty('chat')
    const again = await receive(body, { service: () => ({ status: 200, body: { claimed: false } }) })
    expect([again.workflowData, again.webhookResponse]).toEqual([undefined, { duplicate: true }])
  })

  it('with a forged signature runs nothing, and a simulated one without a chat is turn 1', async () => {
    const { workflowData } = await receive(body, { parameters: { ...PARAMETERS, testMode: false } }, 'v1,bm9ib2R5')
    expect(workflowData).toBeUndefined()
    expect(turnOf({ payment: {}, input: { message: 'Hi' }, metadata: { paymentId: 'pay_2' } })).toEqual({
      ...{ chatId: 'pay_2', turn: 1, turnsLeft: 0, message: 'Hi', history: [] },
      ...{ payment: {}, input: { message: 'Hi' }, metadata: { paymentId: 'pay_2' } },
    })
  })

  /** What the service sends for a turn. */
  function bodyOf(message: string): string {
    const payment = {
      ...{ id: 'pay_1', checkoutId: 'chk_1', txHash: 'simulated:1', amount: usdc(0n), input: { message } },
      ...{ payer: '0x0000000000000000000000000000000000000000', network: 'base', simulated: true, deadline: null },
      ...{
        lines: linesOfTotal(usdc(0n), { unit: usdc(0n), quantity: 1, coupon: null }),
        right: { kind: 'pass', id: 'pas_1' },
        plan: null,
      },
    } as unknown as Parameters<typeof deliveryOf>[0]
    const checkout = { responseMode: 'lastNode', onUnconfirmed: 'hold', pricing: { kind: 'fixed' } }
    const about = { paidAt: new Date(0), receiptUrl: 'https://coinslot.example/receipts/pay_1', chat }
    return deliveryOf(payment, checkout as Parameters<typeof deliveryOf>[1], about).body
  }

  async function receive(sent: string, played: Played, signature?: string) {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const mac = createHmac('sha256', key).update(`dlv_1.${timestamp}.${sent}`).digest('base64')
    const headers = {
      'webhook-id': 'dlv_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': signature ?? `v1,${mac}`,
    }
    const kept = {
      checkoutId: 'chk_1',
      secret: SECRET,
      formUrl: 'https://pay.example/p/chk_1',
      lifetime: 'persistent',
      fingerprint: 'x',
    }
    const { context } = webhook({ body: sent, headers }, { memory: { ...kept }, parameters: PARAMETERS, ...played })
    return await trigger.webhook.call(context)
  }
})
