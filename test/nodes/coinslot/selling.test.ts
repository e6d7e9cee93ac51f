import {
  createRunExecutionData,
  Workflow,
  WorkflowDataProxy,
  type IDataObject,
  type IHttpRequestOptions,
  type INode,
  type ITaskData,
} from 'n8n-workflow'
import { changedAgent, newAgent } from '../../../service/budgets/http/policy.ts'
import { changeBody, termsBody } from '../../../service/checkouts/http/bodies.ts'
import { couponBody } from '../../../service/coupons/http.ts'
import { Coinslot } from '../../../nodes/Coinslot/Coinslot.node.ts'
import { viewOf } from '../../../service/pages/browser/answer/read.ts'
import { webhook, type ServiceAnswer } from '../n8n.ts'
import { execute, named, type Executed } from './execution.ts'

const API = 'http://localhost:4020/v1'
const TRIGGER = { type: 'n8n-nodes-coinslot.payToRunTrigger', json: { payment: {}, metadata: { paymentId: 'pay_1' } } }
const PAID: ServiceAnswer = { status: 200, body: { payment: { id: 'pay_1', status: 'paid' } } }

describe('the payer gets', () => {
  it.each<[string, IDataObject, Partial<Executed>, unknown]>([
    ['text', { answerWith: 'text', answerText: ' Done. ' }, {}, { kind: 'text', text: 'Done.' }],
    [
      'a table of all items, with nested values',
      { answerWith: 'table', columns: 'name, of' },
      { input: [{ name: 'Tea', of: { a: 1 }, hidden: 1 }, { name: 'Salt' }] },
      {
        kind: 'table',
        head: ['name', 'of'],
        rows: [
          ['Tea', '{"a":1}'],
          ['Salt', ''],
        ],
      },
    ],
    [
      'a file',
      { answerWith: 'file', fileProperty: 'data' },
      { files: { data: { fileName: 'tea.png', mimeType: 'image/png', bytes: Buffer.from('tea') } } },
      { kind: 'files', files: [expect.objectContaining({ name: 'tea.png', type: 'image/png', sizeBytes: 3 })] },
    ],
    [
      'a link',
      { answerWith: 'link', linkUrl: 'https://example.com/a', linkText: 'Open [it]' },
      {},
      expect.objectContaining({ kind: 'markdown' }),
    ],
    [
      'the fields of an item',
      { answerWith: 'item' },
      { input: [{ a: 1, b: { c: 2 } }] },
      { kind: 'json', text: JSON.stringify({ a: 1, b: { c: 2 } }, null, 2) },
    ],
  ])('%s, as the payment page shows it', async (_, parameters, played, view) => {
    const done = await execute({
      ...{ parameters: { resource: 'payment', operation: 'answer', ...parameters }, answers: [PAID] },
      ...{ triggers: { 'Pay-to-Run Trigger': TRIGGER }, ...played },
    })
    expect(done.error).toBeUndefined()
    expect(done.calls).toHaveLength(1)
    expect(done.calls[0]).toMatchObject({ method: 'POST', url: `${API}/payments/pay_1/outcome` })
    const { status, answer } = done.calls[0]!.body as unknown as { status: string; answer: string }
    expect(status).toBe('succeeded')
    expect(viewOf(answer)).toEqual(view)
  })

  it('once: of several items the first answer counts, and the workflow goes on', async () => {
    const known = {
      code: 'outcome_known',
      error: 'The outcome was reported already.',
      paid: true,
      outcome: 'succeeded',
    }
    const done = await execute({
      parameters: { resource: 'payment', operation: 'answer', answerWith: 'item' },
      ...{ input: [{ a: 1 }, { a: 2 }], triggers: { 'Pay-to-Run Trigger': TRIGGER } },
      answers: [PAID, { status: 409, body: known }],
    })
    expect(done.error).toBeUndefined()
    expect(done.calls).toHaveLength(2)
    expect(done.items?.at(-1)?.json).toMatchObject({ note: expect.stringContaining('first answer counts') })
    const failed = await execute({
      parameters: { resource: 'payment', operation: 'answer', answerWith: 'item' },
      ...{ input: [{ a: 1 }], triggers: { 'Pay-to-Run Trigger': TRIGGER } },
      answers: [{ status: 409, body: { ...known, outcome: 'failed' } }],
    })
    expect(failed.error).toBeDefined()
  })

  it.each<[string, IDataObject, RegExp]>([
    ['nothing', { answerWith: 'text', answerText: ' ' }, /answer is empty/],
    ['too much', { answerWith: 'text', answerText: 'ä'.repeat(40_000) }, /larger than 64 KB.*a link/],
    ['too large a file', { answerWith: 'file', fileProperty: 'data' }, /larger than 45 KB.*a link/],
    ['a link that is a script', { answerWith: 'link', linkUrl: 'javascript:alert(1)' }, /http or https/],
    ['a link that ends early', { answerWith: 'link', linkUrl: 'https://a.example/)[x](https://b' }, /http or https/],
  ])('no %s, and no request is sent', async (_, parameters, sentence) => {
    const done = await execute({
      parameters: { resource: 'payment', operation: 'answer', paymentId: 'pay_1', ...parameters },
      files: { data: { mimeType: 'text/plain', bytes: Buffer.alloc(46_081) } },
    })
    expect((done.error as Error).message).toMatch(sentence)
    expect(done.calls).toEqual([])
  })
})

describe('the order of this execution is', () => {
  const fail = { resource: 'payment', operation: 'fail', reason: 'No such site.' }

  it.each<[string, IDataObject, NonNullable<Executed['triggers']>]>([
    ['that of the trigger', {}, { Start: TRIGGER }],
    ['the one that is named', { paymentId: ' pay_1 ' }, { Start: { ...TRIGGER, json: { metadata: {} } } }],
    [
      'the input of a sub-workflow',
      {},
      { When: { type: 'n8n-nodes-base.executeWorkflowTrigger', json: TRIGGER.json } },
    ],
    ['that of the trigger that has run', {}, { Other: { ...TRIGGER, json: null }, Start: TRIGGER }],
    ['the one at the output of the choice', {}, { Start: { ...TRIGGER, output: 2 } }],
    [
      'never that of a page that was read',
      {},
      {
        Page: { type: 'n8n-nodes-base.httpRequest', json: { payment: {}, metadata: { paymentId: 'pay_evil' } } },
        Start: TRIGGER,
      },
    ],
  ])('%s', async (_, parameters, triggers) => {
    const done = await execute({
      ...{ parameters: { ...fail, ...parameters }, answers: [PAID], triggers },
      input: [{ metadata: { paymentId: 'pay_other' } }],
    })
    expect(done.calls[0]?.url).toBe(`${API}/payments/pay_1/outcome`)
    expect(done.calls[0]?.body).toEqual({ status: 'failed', answer: 'No such site.' })
  })

  it.each([0, 1])("found by n8n's own workflow after branches have joined, at output %i", async (output) => {
    const done = await execute({ parameters: fail, answers: [PAID], engine: joined(output) })
    expect(done.error).toBeUndefined()
    expect(done.calls[0]?.url).toBe(`${API}/payments/pay_1/outcome`)
  })

  it('required: without one the error says to set Payment ID', async () => {
    const done = await execute({ parameters: fail })
    expect((done.error as Error).message).toMatch(/No payment was found.*Set Payment ID/)
    expect(done.calls).toEqual([])
  })

  it.each([
    ['what a sub-workflow was called with, for a refund', 'refund', TRIGGER.json],
    ['a field of that name alone', 'fail', { metadata: { paymentId: 'pay_evil' }, paymentId: 'pay_evil' }],
  ])('not %s', async (_, operation, json) => {
    const triggers = { When: { type: 'n8n-nodes-base.executeWorkflowTrigger', json } }
    const done = await execute({ parameters: { ...fail, operation, amount: 0 }, triggers })
    expect((done.error as Error).message).toMatch(/No payment was found/)
    expect(done.calls).toEqual([])
  })

  it('refunded whole where nothing else is named', async () => {
    const done = await execute({
      parameters: { resource: 'payment', operation: 'refund', amount: 0, reason: 'Late' },
      triggers: { Start: TRIGGER },
      answers: [{ status: 202, body: { refund: { id: 'rfd_1' } } }],
    })
    expect(done.calls[0]).toMatchObject({ url: `${API}/payments/pay_1/refund`, body: { reason: 'Late' } })
  })

  it.each([0, undefined, null, '', 'much', -1, Number.NaN])(
    'never refunded whole because an expression gave %p as the amount',
    async (amount) => {
      const done = await execute({
        parameters: {
          resource: 'payment',
          operation: 'refund',
          paymentId: 'pay_1',
          amount,
          reason: 'Late',
        },
        expressions: { amount: '={{ $json.overcharge }}' },
      })
      expect((done.error as Error).message).toMatch(/^Amount \(USDC\) is .+ and nothing was refunded\./)
      expect(done.calls).toEqual([])
    },
  )

  it.each([0.5, '0.5', ' 0.50 '])('refunded by the amount that an expression gave: %p', async (amount) => {
    const done = await execute({
      parameters: { resource: 'payment', operation: 'refund', paymentId: 'pay_1', amount, reason: 'Late' },
      expressions: { amount: '={{ $json.overcharge }}' },
      answers: [{ status: 202, body: { refund: { id: 'rfd_1' } } }],
    })
    expect(done.calls[0]?.body).toEqual({ amount: 0.5, reason: 'Late' })
  })
})

describe('progress', () => {
  const parameters = {
    resource: 'payment',
    operation: 'progress',
    progressText: ` Reading\n the page${'.'.repeat(300)}`,
  }

  it('is one line of limited length, and passes the items on', async () => {
    const done = await execute({
      ...{ parameters: { ...parameters, percent: 40 }, triggers: { Start: TRIGGER }, input: [{ page: 1 }] },
      answers: [{ status: 200, body: { shown: true } }],
    })
    expect(done.calls[0]).toMatchObject({ method: 'POST', url: `${API}/payments/pay_1/progress`, timeout: 10_000 })
    const { text, percent } = done.calls[0]!.body as unknown as { text: string; percent: number }
    expect([text.slice(0, 16), text.length, percent]).toEqual(['Reading the page', 200, 40])
    expect(done.items).toEqual([{ json: { page: 1 }, pairedItem: { item: 0 } }])
  })

  it.each<[string, ServiceAnswer]>([
    ['too many lines', { status: 429, body: { code: 'progress_too_fast', error: 'x' } }],
    ['an outage', new Error('connect ECONNREFUSED')],
  ])('never stops a workflow that was paid for: %s', async (_, answer) => {
    const done = await execute({ parameters, triggers: { Start: TRIGGER }, input: [{ page: 1 }], answers: [answer] })
    expect(done.error).toBeUndefined()
    expect(done.items[0]?.json).toEqual({ page: 1 })
    expect(done.hints).toEqual([expect.stringMatching(/This line was not shown\./)])
  })
})

describe('a further amount', () => {
  const parameters = {
    resource: 'payment',
    operation: 'ask',
    moreAmount: 2.5,
    note: ' Forty\n more pages ',
    expiresMinutes: 60,
  }
  const created = { status: 201, body: { request: { id: 'prq_1', status: 'open' } } }
  const HERE = 'https://n8n.example.com/webhook-waiting/7/node-1'

  it('is requested once for all items, with a callback to this execution and node, and waited for', async () => {
    const done = await execute({ parameters, triggers: { Start: TRIGGER }, input: [{}, {}], answers: [created] })
    expect(done.calls).toHaveLength(1)
    expect(done.calls[0]).toMatchObject({
      method: 'POST',
      url: `${API}/payments/pay_1/requests`,
      // The service refuses it where the workflow's last node answers the payer. An earlier one does not read this.
      qs: { waits: true },
      headers: { 'idempotency-key': expect.any(String) },
      body: {
        amount: 2.5,
        note: 'Forty more pages',
        expiresInSeconds: 3_600,
        callbackUrl: `${HERE}?payment=pay_1&step=Coinslot`,
      },
    })
    expect(done.waits).toBe(true)
  })

  it('has a callback of which the signature of n8n stays a part', async () => {
    const resumeQuery = '?signature=0a1b'
    const done = await execute({ parameters, triggers: { Start: TRIGGER }, resumeQuery, answers: [created] })
    expect(done.calls[0]?.body).toMatchObject({ callbackUrl: `${HERE}?signature=0a1b&payment=pay_1&step=Coinslot` })
  })

  it.each<[string, Partial<Executed>, RegExp]>([
    [
      'a refusal of the service',
      { answers: [{ status: 409, body: { code: 'too_many_requests_open', error: 'Three are open.' } }] },
      /Three are open/,
    ],
    [
      'a trigger whose last node answers the payer',
      { answers: [{ status: 409, body: { code: 'answer_awaited', error: 'Its last node answers.' } }] },
      /Set Respond to Immediately in the Pay-to-Run Trigger/,
    ],
    ['a model', { tool: 'engine' }, /cannot wait for a customer/],
    ['no note', { parameters: { ...parameters, note: ' ' } }, /Note is empty/],
  ])('is not waited for with %s', async (_, played, sentence) => {
    const done = await execute({ parameters, triggers: { Start: TRIGGER }, ...played })
    const output = done.error === undefined ? JSON.stringify(done.items) : (done.error as Error).message
    expect(output).toMatch(sentence)
    expect(done.waits).toBe(false)
  })

  const REQUEST = {
    ...{ id: 'prq_1', of: 'pay_1', status: 'paid', amount: 2.5, note: 'More', paymentId: 'pay_2' },
    callbackUrl: `${HERE}?payment=pay_1`,
  }
  const resumed = async (requests: IDataObject[], status = 200) => {
    const played = webhook(
      { body: '{"request":{"status":"paid"}}' },
      { service: () => ({ status, body: { requests } }) },
    )
    Object.assign(played.context, {
      getQueryData: () => ({ payment: 'pay_1' }),
      getRequestObject: () => ({ originalUrl: '/n8n/webhook-waiting/7/node-1?payment=pay_1' }),
    })
    return { answer: await new Coinslot().webhook.call(played.context), ...played }
  }

  it.each(['paid', 'refused', 'expired'])(
    "resumes the workflow once it is %s, with the service's data",
    async (status) => {
      const { answer, calls } = await resumed([{ ...REQUEST, status }])
      expect(calls[0]).toMatchObject({ method: 'GET', url: `${API}/payments/pay_1/requests` })
      expect(answer.workflowData?.[0]?.[0]?.json).toEqual({
        ...{ status, amount: 2.5, note: 'More', requestId: 'prq_1', paymentId: 'pay_1', furtherPaymentId: 'pay_2' },
      })
    },
  )

  it.each<[string, IDataObject[], number]>([
    ['it is open', [{ ...REQUEST, status: 'open' }], 200],
    ['a payment of it is under way', [{ ...REQUEST, status: 'paying' }], 200],
    ['an earlier one of the loop is paid', [REQUEST, { ...REQUEST, id: 'prq_2', status: 'open' }], 200],
    ['it is of another execution', [{ ...REQUEST, callbackUrl: HERE.replace('/7/', '/8/') }], 200],
    ['it is of another node', [{ ...REQUEST, callbackUrl: HERE.replace('node-1', 'node-2') }], 200],
    ['it has no address', [{ ...REQUEST, callbackUrl: null }], 200],
    ['there is none', [], 200],
    ['the service is out of order', [], 503],
    ['the payment is of another account', [], 404],
  ])('does not resume it while %s', async (_, requests, status) => {
    const { answer } = await resumed(requests, status)
    expect(answer.workflowData).toBeUndefined()
  })
})

describe('changes of checkouts and coupons have the form that the service accepts', () => {
  const SOLD = {
    id: 'chk_1',
    ...{ callbackUrl: null, after: { kind: 'file', fileId: 'fil_1', name: 'a.pdf', mediaType: 'x', bytes: 1 } },
    ...{ picture: { fileId: 'fil_2', width: 1, height: 1 }, product: { name: 'Guide', description: null } },
    ...{ price: 2, pricing: { kind: 'choose', min: 2, max: null, suggested: null }, coupons: true, network: 'base' },
    ...{ recipient: null, fields: [], redirectUrl: null, testMode: true, responseMode: 'immediately', preflight: true },
    ...{ onUnconfirmed: 'hold', capture: 'onPayment', runSeconds: 180, refundOnFailure: false, embedOrigins: [] },
    ...{ trialRuns: 0, trialsPerDay: 50, plans: [{ id: 'ten', name: 'Ten', price: 9, kind: 'runs', runs: 10 }] },
    notify: { sale: true, failure: false },
  }
  const chosen = { resource: 'checkout', checkout: named('chk_1') }

  it.each<[string, IDataObject, { safeParse(body: unknown): { success: boolean; error?: unknown } }, IDataObject]>([
    [
      'Checkout: Create',
      {
        ...{ resource: 'checkout', operation: 'create', productName: 'Course', price: 9, after: 'link' },
        ...{ afterLink: 'https://example.com/c', testMode: false },
        options: { more: '{"coupons": true}', description: ' For all ' },
      },
      termsBody,
      {
        ...{ product: { name: 'Course', description: 'For all' }, price: 9, network: 'base-sepolia', testMode: false },
        ...{ after: { kind: 'link', url: 'https://example.com/c' }, coupons: true },
      },
    ],
    [
      'Checkout: Update',
      { ...chosen, operation: 'update', changes: { description: 'New', price: 3, redirectUrl: '' } },
      changeBody,
      { product: { name: 'Guide', description: 'New' }, price: 3, redirectUrl: null },
    ],
    [
      'Checkout: Duplicate',
      { ...chosen, operation: 'duplicate', productName: 'Guide 2' },
      termsBody,
      {
        ...{ product: { name: 'Guide 2' }, after: { kind: 'file', fileId: 'fil_1' }, picture: 'fil_2' },
        notify: { sale: true, failure: false },
      },
    ],
    [
      'Coupon: Create',
      {
        ...{ resource: 'coupon', operation: 'create', code: 'spring', takesOff: 'amount', amount: 1, percent: 10 },
        limits: { max: 5, until: '2026-12-31T12:00:00.000+01:00', checkouts: '' },
      },
      couponBody,
      { code: 'spring', amount: 1, max: 5, until: '2026-12-31T11:00:00.000Z' },
    ],
    [
      'Agent: Create',
      { resource: 'agent', operation: 'create', agentName: 'Research', limits: { perDay: 5 } },
      newAgent,
      { name: 'Research', limits: { perDay: 5 } },
    ],
    [
      'Agent: Set Budget',
      { resource: 'agent', operation: 'setBudget', agent: named('agt_1'), limits: { perCall: 1 }, status: 'paused' },
      changedAgent,
      { limits: { perCall: 1 }, status: 'paused' },
    ],
  ])('%s', async (_, parameters, schema, expected) => {
    const service = ({ method }: IHttpRequestOptions): ServiceAnswer => ({
      status: method === 'POST' ? 201 : 200,
      body: { checkout: SOLD, coupon: { id: 'cpn_1' }, agent: { id: 'agt_1' } },
    })
    const done = await execute({ parameters, service })
    expect(done.error).toBeUndefined()
    const sent = JSON.parse(JSON.stringify(done.calls.at(-1)?.body)) as unknown
    expect(sent).toMatchObject(expected)
    expect(schema.safeParse(sent)).toMatchObject({ success: true })
    expect(done.items[0]?.json['id']).toMatch(/^(chk|cpn|agt)_1$/)
  })

  it.each<[string, IDataObject, string]>([
    ['Checkout: Archive', { ...chosen, operation: 'archive' }, 'DELETE /checkouts/chk_1'],
    ['Checkout: Get', { ...chosen, operation: 'get' }, 'GET /checkouts/chk_1'],
    ['Checkout: Get Many', { ...chosen, operation: 'getAll', returnAll: true }, 'GET /checkouts'],
    ['Checkout: Simulate Payment', { ...chosen, operation: 'simulate' }, 'POST /checkouts/chk_1/test-payment'],
    ['Coupon: Archive', { resource: 'coupon', operation: 'archive', couponId: 'cpn_1' }, 'POST /coupons/cpn_1/archive'],
    ['Coupon: Get Many', { resource: 'coupon', operation: 'getAll' }, 'GET /coupons'],
    [
      'Agent: Get Budget',
      { resource: 'agent', operation: 'budget', agent: named('agt_1') },
      'GET /agents/agt_1/policy',
    ],
    ['Agent: Get Many', { resource: 'agent', operation: 'getAll' }, 'GET /agents'],
  ])('%s', async (_, parameters, line) => {
    const body = { checkout: SOLD, checkouts: [{ id: 'chk_1' }], coupons: [], agents: [], total: 1 }
    const done = await execute({ parameters, answers: [{ status: 200, body }] })
    expect(done.error).toBeUndefined()
    expect(done.calls.map(({ method, url }) => `${method ?? ''} ${url.replace(API, '')}`)).toEqual([line])
  })

  it('a checkout that a trigger made is copied in n8n', async () => {
    const source = { instanceId: 'a', workflowId: 'b', nodeId: 'c' }
    const parameters = { ...chosen, operation: 'duplicate' }
    const done = await execute({ parameters, answers: [{ status: 200, body: { checkout: { ...SOLD, source } } }] })
    expect((done.error as Error).message).toMatch(/belongs to a trigger in n8n/)
    expect(done.calls).toHaveLength(1)
  })

  it.each([
    [{ ...chosen, operation: 'update', changes: {} }, /nothing to change/],
    [{ resource: 'agent', operation: 'setBudget', agent: named('agt_1'), status: 'unchanged' }, /nothing to change/],
  ])('no empty change: %#', async (parameters, sentence) => {
    expect(((await execute({ parameters })).error as Error).message).toMatch(sentence)
  })
})

/** Two outputs of a trigger lead to one node by a node of their own each. */
function joined(output: number): NonNullable<Executed['engine']> {
  const node = (name: string, type: string): INode => {
    return { id: name, name, type, typeVersion: 1, position: [0, 0], parameters: {} }
  }
  const to = (name: string) => ({ node: name, type: 'main' as const, index: 0 })
  const nodes = [node('Start', TRIGGER.type), node('Short', 'x'), node('Long', 'x'), node('Coinslot', 'y')]
  const connections = {
    Start: { main: [[to('Short')], [to('Long')]] },
    Short: { main: [[to('Coinslot')]] },
    Long: { main: [[to('Coinslot')]] },
  }
  const type = new Coinslot()
  const nodeTypes = { getByName: () => type, getByNameAndVersion: () => type, getKnownTypes: () => ({}) }
  const workflow = new Workflow({ nodes, connections, active: false, nodeTypes })
  const main = [[], []].map((none, place) => (place === output ? [{ json: TRIGGER.json }] : none))
  const ran: ITaskData = { startTime: 0, executionTime: 0, executionIndex: 0, source: [], data: { main } }
  const runExecutionData = createRunExecutionData({ resultData: { runData: { Start: [ran] } } })
  const proxy = new WorkflowDataProxy(workflow, runExecutionData, 0, 0, 'Coinslot', [], {}, 'webhook', {})
  return {
    getWorkflowDataProxy: () => proxy.getDataProxy(),
    getParentNodes: (name) =>
      workflow.getParentNodes(name).map((parent) => {
        const { type: found, name: at, typeVersion, disabled = false } = workflow.nodes[parent]!
        return { type: found, name: at, typeVersion, disabled }
      }),
  }
}
