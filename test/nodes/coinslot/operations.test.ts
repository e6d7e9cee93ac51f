import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow'
import { linesOf } from '../../../service/dashboard/browser/pages/marketplace/lines.ts'
import type { ServiceAnswer } from '../n8n.ts'
import { execute, mapped, named } from './execution.ts'

const API = 'http://localhost:4020/v1'
const TOOLS = 'http://localhost:4020/tools'

it('runs the node that the page of an asset shows, as n8n takes it from the clipboard', async () => {
  const inputs = { site: "=it's {{ here }}", pages: 7, deep: true }
  const [lines] = linesOf({ slug: 'seo-audit', name: 'SEO audit', exampleInputs: inputs }, API)
  const { nodes, connections } = JSON.parse(lines?.source ?? '')
  expect([nodes[0].type, nodes[0].typeVersion, connections]).toEqual(['n8n-nodes-coinslot.coinslot', 1, {}])
  // n8n takes a text that begins so for an expression.
  expect(String(nodes[0].parameters.inputsJson).startsWith('=')).toBe(false)
  const { calls, error } = await execute({ parameters: nodes[0].parameters, answers: [ok({ output: 'Good.' })] })
  expect(error).toBeUndefined()
  expect(calls).toMatchObject([{ url: `${API}/run`, body: { rdaSlug: 'seo-audit', inputs } }])
})

describe('each operation sends the right request and returns the result', () => {
  it.each<[string, IDataObject, ServiceAnswer, Partial<IHttpRequestOptions>, IDataObject[]]>([
    [
      'Marketplace Asset: Run',
      {
        ...{ resource: 'rda', operation: 'run', rda: named('seo-audit'), model: named('sandbox/echo') },
        inputs: mapped({ site: 'https://example.com', pages: 7, note: null, empty: '' }),
        options: { maxCost: 0.5, approvalSeconds: 30 },
      },
      ok({ success: true, runId: 'run_1', output: 'Good.', cost: 0.05 }),
      {
        ...{ method: 'POST', url: `${API}/run` },
        body: {
          rdaSlug: 'seo-audit',
          inputs: { site: 'https://example.com', pages: 7 },
          modelId: 'sandbox/echo',
          maxCost: 0.5,
        },
      },
      [{ success: true, runId: 'run_1', output: 'Good.', cost: 0.05 }],
    ],
    [
      'Marketplace Asset: Run, without waiting',
      {
        ...{ resource: 'rda', operation: 'run', rda: named('seo-audit'), specifyInputs: 'json' },
        ...{ inputsJson: '{"site": "x"}', options: { wait: false } },
      },
      { status: 202, body: { success: true, runId: 'run_1', status: 'queued' } },
      { url: `${API}/run`, body: { rdaSlug: 'seo-audit', inputs: { site: 'x' }, async: true } },
      [{ success: true, runId: 'run_1', status: 'queued' }],
    ],
    [
      'Marketplace Asset: Run, with an output that is data',
      {
        ...{ resource: 'rda', operation: 'run', rda: named('loan'), inputs: mapped({}) },
        options: { parseOutput: true },
      },
      ok({ runId: 'run_1', output: '{"monthly": 5}' }),
      { body: { rdaSlug: 'loan', inputs: {} } },
      [{ runId: 'run_1', output: { monthly: 5 } }],
    ],
    [
      'Payment: Get Many',
      {
        ...{ resource: 'payment', operation: 'getAll', limit: 5 },
        filters: { product: 'gate', refunded: false, payer: '', from: '2026-01-31T12:00:00.000+01:00' },
      },
      ok({ payments: [{ id: 'pay_1' }], total: 1 }),
      {
        ...{ method: 'GET', url: `${API}/payments` },
        qs: { product: 'gate', refunded: false, from: '2026-01-31T11:00:00.000Z', limit: 5, offset: 0 },
      },
      [{ id: 'pay_1' }],
    ],
    [
      'Payment: Get',
      { resource: 'payment', operation: 'get', paymentId: ' pay_1 ' },
      ok({ payment: { id: 'pay_1', refunds: [] } }),
      { method: 'GET', url: `${API}/payments/pay_1` },
      [{ id: 'pay_1', refunds: [] }],
    ],
    [
      'Payment: Refund, a part',
      { resource: 'payment', operation: 'refund', paymentId: 'pay_1', amount: 0.5, reason: ' Late ' },
      { status: 202, body: { refund: { id: 'rfd_1', state: 'funded' } } },
      { method: 'POST', url: `${API}/payments/pay_1/refund`, body: { amount: 0.5, reason: 'Late' } },
      [{ id: 'rfd_1', state: 'funded' }],
    ],
    [
      'Payment: Refund, all that is left',
      { resource: 'payment', operation: 'refund', paymentId: 'pay_1', amount: 0, reason: 'Late' },
      { status: 202, body: { refund: { id: 'rfd_1', state: 'requested' } } },
      { url: `${API}/payments/pay_1/refund`, body: { reason: 'Late' } },
      [{ id: 'rfd_1', state: 'requested' }],
    ],
    [
      'Payment: Report Outcome',
      { resource: 'payment', operation: 'outcome', paymentId: 'pay_1', status: 'failed', answer: ' No such site. ' },
      ok({ payment: { id: 'pay_1', status: 'failed' }, delivery: null }),
      { method: 'POST', url: `${API}/payments/pay_1/outcome`, body: { status: 'failed', answer: 'No such site.' } },
      [{ id: 'pay_1', status: 'failed' }],
    ],
    [
      'Asset: Get',
      { resource: 'rda', operation: 'get', rda: named(' seo/audit ') },
      ok({ rda: { slug: 'seo-audit' } }),
      { method: 'GET', url: `${API}/rda/seo%2Faudit` },
      [{ slug: 'seo-audit' }],
    ],
    [
      'Asset: Search',
      {
        resource: 'rda',
        operation: 'search',
        search: ' seo ',
        limit: 5,
        filters: { type: 'agent', verified: true, featured: false },
      },
      ok({ rdas: [{ slug: 'a' }, { slug: 'b' }], total: 2 }),
      { method: 'GET', url: `${API}/rdas`, qs: { type: 'agent', verified: true, search: 'seo', limit: 5, offset: 0 } },
      [{ slug: 'a' }, { slug: 'b' }],
    ],
    [
      'Tool: Call',
      { resource: 'tool', operation: 'call', tool: named('github-search'), inputs: mapped({ q: 'x402' }) },
      ok({ success: true, output: { items: [] }, cost: 0.001 }),
      { method: 'POST', url: `${TOOLS}/github-search`, body: { q: 'x402' } },
      [{ success: true, output: { items: [] }, cost: 0.001 }],
    ],
    [
      'Tool: Call, all pages of two fields',
      {
        ...{ resource: 'tool', operation: 'call', tool: named('github-search'), inputs: mapped({ q: 'x402' }) },
        options: { all: true, fields: ' items.id, items.title,', maxPages: 3 },
      },
      ok({ success: true, output: { items: [{ id: 1, title: 'A' }] }, pages: { read: 3 }, cost: 0.003 }),
      {
        ...{ method: 'POST', url: `${TOOLS}/github-search`, body: { q: 'x402' } },
        qs: { fields: 'items.id,items.title', all: 'true', maxPages: 3 },
      },
      [{ success: true, output: { items: [{ id: 1, title: 'A' }] }, pages: { read: 3 }, cost: 0.003 }],
    ],
    [
      'Tool: Call, one page of which a number of pages is set',
      {
        ...{ resource: 'tool', operation: 'call', tool: named('github-search'), inputs: mapped({ q: 'x402' }) },
        options: { maxPages: 3, fields: 'items' },
      },
      ok({ success: true, output: { items: [] }, cost: 0.001 }),
      { method: 'POST', url: `${TOOLS}/github-search`, qs: { fields: 'items' }, body: { q: 'x402' } },
      [{ success: true, output: { items: [] }, cost: 0.001 }],
    ],
    [
      'Tool: Call, for a maximum',
      {
        ...{ resource: 'tool', operation: 'call', tool: named('github-search'), inputs: mapped({ q: 'x402' }) },
        options: { maxCost: 0.000001 },
      },
      ok({ success: true, output: { items: [] }, cost: 0 }),
      { method: 'POST', url: `${TOOLS}/github-search`, qs: { maxCost: 0.000001 }, body: { q: 'x402' } },
      [{ success: true, output: { items: [] }, cost: 0 }],
    ],
    [
      'Tool: Get',
      { resource: 'tool', operation: 'get', tool: named('github-search') },
      ok({ tool: { slug: 'github-search' } }),
      { method: 'GET', url: `${TOOLS}/github-search` },
      [{ slug: 'github-search' }],
    ],
    [
      'Tool: Search',
      {
        resource: 'tool',
        operation: 'search',
        search: 'open an issue',
        limit: 1,
        filters: { provider: ' github ', category: '' },
      },
      ok({ tools: [{ slug: 'github-issues-create' }], total: 12 }),
      { method: 'GET', url: TOOLS, qs: { provider: 'github', search: 'open an issue', limit: 1, offset: 0 } },
      [{ slug: 'github-issues-create' }],
    ],
    [
      'Wallet: Get Transactions',
      { resource: 'wallet', operation: 'transactions', limit: 3 },
      ok({ transactions: [{ id: 't1' }], total: 1 }),
      { method: 'GET', url: `${API}/wallet/transactions`, qs: { limit: 3, offset: 0 } },
      [{ id: 't1' }],
    ],
    [
      'Run: Get',
      { resource: 'run', operation: 'get', runId: ' run_1 ' },
      ok({ run: { id: 'run_1', status: 'running' } }),
      { method: 'GET', url: `${API}/runs/run_1` },
      [{ id: 'run_1', status: 'running' }],
    ],
    [
      'Run: Wait',
      { resource: 'run', operation: 'wait', runId: 'run_1', waitSeconds: 5 },
      ok({ run: { id: 'run_1', status: 'succeeded', output: 'Good.' } }),
      { method: 'GET', url: `${API}/runs/run_1` },
      [{ id: 'run_1', status: 'succeeded', output: 'Good.' }],
    ],
    [
      'Run: Cancel',
      { resource: 'run', operation: 'cancel', runId: 'run_1' },
      ok({ run: { id: 'run_1', status: 'canceled' }, canceled: true, message: 'Nothing was charged.' }),
      { method: 'POST', url: `${API}/runs/run_1/cancel` },
      [{ id: 'run_1', status: 'canceled', canceled: true, message: 'Nothing was charged.' }],
    ],
    [
      'Paid URL: Fetch',
      {
        ...{
          resource: 'paidUrl',
          operation: 'fetch',
          url: ' https://seller.example/report ',
          maxAmount: 0.3,
          method: 'POST',
        },
        ...{ sendBody: 'json', bodyJson: '{"q": 1}', headers: { pairs: [{ name: 'X-Lang', value: 'en' }] } },
      },
      ok({
        payment: { id: 'pay_1', amount: 0.25 },
        response: answered('{"sold": true}', 'application/json; charset=utf-8'),
      }),
      {
        ...{ method: 'POST', url: `${API}/pay` },
        body: {
          url: 'https://seller.example/report',
          method: 'POST',
          maxAmount: 0.3,
          headers: { 'X-Lang': 'en' },
          body: { q: 1 },
        },
      },
      [
        {
          status: 200,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: { sold: true },
          payment: { id: 'pay_1', amount: 0.25 },
        },
      ],
    ],
  ])('%s', async (_, parameters, answer, call, items) => {
    const done = await execute({ parameters, answers: [answer] })
    expect(done.error).toBeUndefined()
    expect(done.calls).toHaveLength(1)
    expect(done.calls[0]).toMatchObject({ ...call, disableFollowRedirect: true })
    expect(done.calls[0]?.body).toEqual(call.body)
    expect(done.calls[0]?.qs).toEqual(call.qs)
    expect(done.items).toEqual(items.map((json) => ({ json, pairedItem: { item: 0 } })))
  })

  it('Wallet: Get Balance returns the wallet and the credits', async () => {
    const done = await execute({
      parameters: { resource: 'wallet', operation: 'balance' },
      service: ({ url }) => ok(url.endsWith('/credits') ? { credits: { balance: 5 } } : { wallet: { balance: 20 } }),
    })
    expect(done.items).toEqual([{ json: { balance: 20, credits: { balance: 5 } }, pairedItem: { item: 0 } }])
  })

  it('Tool: Call returns binary output as a file', async () => {
    const output = { contentType: 'image/png', base64: 'iVBORw==', bytes: 4 }
    const done = await execute({
      parameters: { resource: 'tool', operation: 'call', tool: named('chart'), inputs: mapped({}) },
      answers: [ok({ success: true, output, cost: 0.001 })],
    })
    expect(done.items).toEqual([
      {
        json: { success: true, cost: 0.001 },
        binary: { data: { data: 'iVBORw==', mimeType: 'image/png' } },
        pairedItem: { item: 0 },
      },
    ])
  })

  it('Paid URL: Fetch returns binary content as a file', async () => {
    const response = { ...answered('iVBORw==', 'image/png'), encoding: 'base64' }
    const done = await execute({ parameters: FETCH, answers: [ok({ payment: null, response })] })
    expect(done.items).toEqual([
      {
        json: { status: 200, headers: { 'content-type': 'image/png' }, payment: null },
        binary: { data: { data: 'iVBORw==', mimeType: 'image/png' } },
        pairedItem: { item: 0 },
      },
    ])
  })

  it('Paid URL: Fetch returns invalid JSON as text, since it is paid for', async () => {
    const done = await execute({
      parameters: FETCH,
      answers: [ok({ payment: null, response: answered('oh no', 'application/json') })],
    })
    expect(done.items[0]?.json).toMatchObject({ body: 'oh no' })
  })
})

describe('items', () => {
  it('run one after the other, each result linked to its item', async () => {
    const done = await execute({
      parameters: [
        FETCH,
        { resource: 'rda', operation: 'search', limit: 2 },
        { resource: 'run', operation: 'get', runId: 'run_1' },
      ],
      input: [{}, {}, {}],
      answers: [
        ok({ payment: null, response: answered('x', 'text/plain') }),
        ok({ rdas: [{ slug: 'a' }, { slug: 'b' }], total: 2 }),
        ok({ run: { id: 'run_1' } }),
      ],
    })
    expect(done.items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }, { item: 1 }, { item: 2 }])
  })

  it('that were not found are no items, and a sentence to a model', async () => {
    const played = {
      parameters: { resource: 'rda', operation: 'search', search: 'x' },
      answers: [ok({ rdas: [], total: 0 })],
    }
    expect((await execute(played)).items).toEqual([])
    expect((await execute({ ...played, tool: 'engine' })).items).toEqual([
      { json: { found: 0, message: 'No results. Try other words, or fewer.' }, pairedItem: { item: 0 } },
    ])
  })

  it('fill in inputs of the same name, where that was chosen', async () => {
    const inputs = {
      mappingMode: 'autoMapInputData',
      value: null,
      schema: [{ id: 'site' }, { id: 'pages' }, { id: 'gone', removed: true }],
    }
    const done = await execute({
      parameters: { resource: 'rda', operation: 'run', rda: named('seo-audit'), inputs },
      input: [{ site: 'https://example.com', gone: 1, other: 2 }],
    })
    expect(done.calls[0]?.body).toEqual({ rdaSlug: 'seo-audit', inputs: { site: 'https://example.com' } })
  })
})

describe('a time without its zone', () => {
  it.each([
    ['2026-01-31T12:00:00', 'America/New_York', '2026-01-31T17:00:00.000Z'],
    ['2026-07-31 12:00', 'America/New_York', '2026-07-31T16:00:00.000Z'],
    ['2026-07-31', 'Asia/Kolkata', '2026-07-30T18:30:00.000Z'],
    // An hour that the clock skips, and one that it shows twice.
    ['2026-03-29T02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-01-31T12:00:00Z', 'Asia/Kolkata', '2026-01-31T12:00:00.000Z'],
  ])('is one of the workflow: %s in %s', async (from, timezone, expected) => {
    const parameters = { resource: 'payment', operation: 'getAll', limit: 5, filters: { from } }
    const done = await execute({ parameters, timezone, answers: [ok({ payments: [], total: 0 })] })
    expect(done.calls[0]?.qs).toMatchObject({ from: expected })
  })

  it('is refused where there is no such day', async () => {
    const parameters = { resource: 'payment', operation: 'getAll', limit: 5, filters: { from: '2026-13-01T00:00:00' } }
    const done = await execute({ parameters })
    expect((done.error as Error).message).toBe('from is not a time. Enter a date and a time.')
  })
})

describe('the limits of an agent', () => {
  const agent = { resource: 'agent', agent: named('agt_1') }
  it.each<[string, IDataObject, IDataObject]>([
    [
      'changed',
      { ...agent, operation: 'setBudget', limits: { perMinute: 1, approvalAbove: 5 }, status: 'unchanged' },
      { limits: { perMinute: 1 }, approvalAbove: 5 },
    ],
    [
      'removed',
      { ...agent, operation: 'setBudget', limits: {}, removedLimits: ['perDay', 'approvalAbove'], status: 'paused' },
      { limits: { perDay: null }, approvalAbove: null, status: 'paused' },
    ],
    ['none for a new one', { ...agent, operation: 'create', agentName: 'Scout', limits: {} }, { name: 'Scout' }],
  ])('are %s', async (_, parameters, body) => {
    const done = await execute({ parameters, answers: [ok({ agent: { id: 'agt_1' } })] })
    expect(done.error).toBeUndefined()
    expect(done.calls[0]?.body).toEqual(body)
  })
})

describe('waiting for a run', () => {
  const parameters = { resource: 'run', operation: 'wait', runId: 'run_1', waitSeconds: 1 }
  const run = (status: string): ServiceAnswer => ok({ run: { id: 'run_1', status, error: 'The agent was away.' } })

  it('polls until it has ended', async () => {
    const done = await execute({ parameters, answers: [run('running'), run('succeeded')] })
    expect(done.calls).toHaveLength(2)
    expect(done.items[0]?.json).toMatchObject({ status: 'succeeded' })
  })

  it.each<[string, ServiceAnswer]>([
    ['cannot be reached', new Error('connect ECONNREFUSED')],
    ['is busy', { status: 429, body: { code: 'rate_limited', error: 'x' } }],
    ['restarts', { status: 503, body: '<html>' }],
  ])('goes on while the service %s', async (_, answer) => {
    const done = await execute({ parameters, answers: [answer, run('succeeded')] })
    expect(done.error).toBeUndefined()
    expect(done.items[0]?.json).toMatchObject({ status: 'succeeded' })
    const given = await execute({ parameters: { ...parameters, waitSeconds: 0 }, answers: [answer] })
    expect(given.error).toBeDefined()
  })

  it('fails at once with a credential that cannot be used', async () => {
    const done = await execute({ parameters: { ...parameters, waitSeconds: 3_600 }, credentials: { url: '' } })
    expect((done.error as Error).message).toMatch(/^The Coinslot credential cannot be used: it has no service address/)
    expect(done.calls).toEqual([])
  })

  it('counts the time that its requests take', async () => {
    const { now: clock } = Date
    let now = clock()
    Date.now = () => now
    const service = (): ServiceAnswer => {
      now += 5_000
      return run('running')
    }
    const done = await execute({ parameters: { ...parameters, waitSeconds: 5 }, service }).finally(() => {
      Date.now = clock
    })
    expect(done.calls).toHaveLength(2)
    expect((done.error as Error).message).toMatch(/run_1 is still running/)
  })

  it('fails at once where waiting does not help', async () => {
    const done = await execute({ parameters, answers: [{ status: 404, body: { code: 'run_not_found', error: 'x' } }] })
    expect(done.error).toBeDefined()
    expect(done.calls).toHaveLength(1)
  })

  it.each([
    ['failed', /The run failed, and cost nothing: The agent was away\. \(run_1\)/],
    ['canceled', /run_1 was canceled, and cost nothing/],
    ['running', /run_1 is still running\. It continues in the background/],
  ])('fails for a run that is %s, and says what that means', async (status, sentence) => {
    const done = await execute({ parameters, answers: [run(status)] })
    expect((done.error as Error).message).toMatch(sentence)
  })
})

const FETCH = { resource: 'paidUrl', operation: 'fetch', url: 'https://seller.example/', maxAmount: 1, method: 'GET' }

function ok(body: unknown): ServiceAnswer & { status: number } {
  return { status: 200, body }
}

function answered(body: string, type: string) {
  return { status: 200, headers: { 'content-type': type }, body, encoding: 'utf8' }
}
