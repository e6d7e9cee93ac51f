import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { liveSettings } from '../harness/live.ts'
import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { promptBody, published } from '../marketplace/bodies.ts'
import { furnished, PREPAID_BY, type Furnished, type Thing } from './account.ts'

interface Row {
  /** The thing whose id goes into the input; null where the input names nothing of an account. */
  thing: Thing | null
  /** Where a list is in the response; null where there is none. */
  listed: string | null
  field: string
  more?: object
  /** The refusal where a wrong id is an invalid field of the new thing. */
  refusal?: string
  /** Public: readable with and without a session. */
  open?: boolean
}

const TEMPLATE = { promptTemplate: 'Sum up: {{article}}', allowedModels: ['sandbox/echo'] }

const own: Row = { thing: null, listed: null, field: 'id' }

function none(listed: string): Row {
  return { thing: null, listed, field: 'id' }
}

function look(thing: Thing, field = 'id'): Row {
  return { thing, listed: null, field }
}

function act(thing: Thing, field = 'id'): Row {
  return { thing, listed: null, field }
}

/**
 * Each procedure of the dashboard: which thing of another account it could be asked for, or why it only concerns the
 * caller's own. The first test fails where one is missing.
 */
const PROCEDURES: Record<string, Row> = {
  'identity.me': own,
  'identity.setHandle': { ...own, more: { handle: null } },
  'identity.keys.list': none('keys'),
  'identity.keys.create': { ...act('agent', 'agentId'), more: { name: 'stolen' }, refusal: 'BAD_REQUEST' },
  'identity.keys.revoke': act('key'),
  'wallet.balance': own,
  'wallet.receiving': own,
  'wallet.deposit': own,
  'wallet.terms': own,
  'wallet.setUsualAddress': { ...own, more: { to: null } },
  'wallet.credits': own,
  'wallet.transactions': none('transactions'),
  'wallet.days': own,
  'wallet.withdrawals': none('withdrawals'),
  'wallet.withdrawal': look('withdrawal'),
  'wallet.withdraw': own,
  'spending.agents': none('agents'),
  'spending.agent': look('agent'),
  'spending.createAgent': own,
  'spending.changeAgent': { ...act('agent'), more: { body: { name: 'stolen' } } },
  'spending.removeAgent': act('agent'),
  'spending.standing': look('agent'),
  'spending.decisions': look('agent'),
  'spending.spent': { ...look('agent'), more: { days: 30 } },
  'spending.pause': { ...act('agent'), more: { paused: true } },
  'spending.approvals': none('approvals'),
  'spending.decide': { ...act('approval'), more: { state: 'approved' } },
  'assets.list': { ...none('assets'), more: { mine: true, status: 'draft' } },
  'assets.bought': none('assets'),
  'assets.get': look('asset'),
  'assets.create': own,
  'assets.change': { ...act('asset'), more: { body: { name: 'stolen' } } },
  'assets.publish': act('asset'),
  'assets.unpublish': act('asset'),
  'assets.archive': act('asset'),
  'assets.rate': { ...act('asset'), more: { score: 1 } },
  'assets.reviews': look('asset'),
  'assets.reply': { ...act('asset'), more: { review: 'op_stolen', text: 'stolen' } },
  'assets.buySource': act('asset'),
  'assets.models': own,
  'market.list': { ...own, open: true },
  'market.get': { ...look('asset'), open: true },
  'market.reviews': { ...look('asset'), open: true },
  'runs.list': none('runs'),
  'runs.ofCustomers': look('asset'),
  'runs.buyersOf': look('asset'),
  'runs.days': own,
  'runs.get': look('run'),
  'runs.start': { ...act('asset', 'rdaSlug'), more: { inputs: {} } },
  'runs.cancel': act('run'),
  'connections.list': none('connections'),
  'connections.options': look('provider', 'provider'),
  'connections.create': { ...act('provider', 'provider'), more: { secret: 'stolen' } },
  'connections.start': { ...act('connection', 'connectionId'), more: { provider: 'acme' } },
  'connections.finish': own,
  'connections.change': { ...act('connection'), more: { body: { name: 'Stolen' } } },
  'connections.test': act('connection'),
  'connections.remove': act('connection'),
  'coupons.list': none('coupons'),
  'coupons.create': own,
  'coupons.change': { ...act('coupon'), more: { body: { max: 1 } } },
  'coupons.archive': act('coupon'),
  'checkouts.list': none('checkouts'),
  'checkouts.get': look('checkout'),
  'checkouts.create': own,
  'checkouts.change': { ...act('checkout'), more: { body: { price: 9 } } },
  'checkouts.preview': own,
  'checkouts.payments': look('checkout'),
  'checkouts.requests': look('payment'),
  'checkouts.conversion': { ...own, more: { first: '2026-01-01', last: '2026-01-31' } },
  'checkouts.expire': act('checkout'),
  'checkouts.rotateSecret': act('checkout'),
  'checkouts.testPayment': act('checkout'),
  'deliveries.list': none('deliveries'),
  'deliveries.get': look('delivery'),
  'deliveries.redeliver': act('delivery'),
  'webhooks.list': none('endpoints'),
  'webhooks.get': look('endpoint'),
  'webhooks.create': own,
  'webhooks.change': { ...act('endpoint'), more: { status: 'disabled' } },
  'webhooks.remove': act('endpoint'),
  'webhooks.rotate': act('endpoint'),
  'webhooks.test': act('endpoint'),
  'tools.list': own,
  'tools.get': look('tool', 'slug'),
  'tools.providers': own,
  'tools.collections': own,
  'tools.try': { ...act('tool', 'slug'), more: { input: {} } },
  'tools.calls': none('calls'),
  'tools.import': own,
  'tools.setCredentials': { ...act('provider', 'provider'), more: { credentials: 'stolen' } },
  'tools.removeProvider': act('provider'),
  'payments.list': none('payments'),
  'payments.customers': none('customers'),
  'payments.customer': look('payment'),
  'payments.summary': { ...own, more: { first: '2026-01-01', last: '2026-01-31' } },
  'payments.get': look('payment'),
  'payments.refund': { ...act('payment'), more: { reason: 'stolen' } },
  'payments.signRefund': {
    ...act('payment'),
    more: { refundId: 'rfd_none', signature: `0x${'00'.repeat(65)}` },
  },
  'passes.list': none('passes'),
  'passes.end': act('pass'),
  'disputes.list': none('disputes'),
  'disputes.answer': { ...act('dispute'), more: { action: 'decline' } },
  'settings.served': own,
  'brand.get': own,
  'brand.change': own,
  'disputes.policy': own,
  'disputes.changePolicy': own,
  'invoices.settings': own,
  'invoices.changeSettings': own,
  'invoices.receiptAddress': look('payment'),
  'invoices.pdf': look('payment'),
  'invoices.mailReceipt': act('payment'),
  'files.list': none('files'),
  'files.get': look('file'),
  'files.delete': act('file'),
  'paywalls.list': none('paywalls'),
  'paywalls.get': look('paywall'),
  'paywalls.create': own,
  'paywalls.check': { ...act('paywall'), more: { body: { name: 'stolen' } } },
  'paywalls.change': { ...act('paywall'), more: { body: { name: 'stolen' } } },
  'paywalls.remove': act('paywall'),
  'paywalls.rotateSecret': act('paywall'),
  'paywalls.payments': look('paywall'),
  'paywalls.analytics': look('paywall'),
  'paywalls.balances': { ...none('balances'), more: { customer: PREPAID_BY } },
}

const closed = Object.entries(PROCEDURES).filter(([, { open }]) => open !== true)

const ofOthers = Object.entries(PROCEDURES).filter(([, { thing }]) => thing !== null)

const lists = Object.entries(PROCEDURES).filter(([, { listed }]) => listed !== null)

describe("the dashboard's procedures", () => {
  let service: TestService
  let owner: Furnished
  let stranger: TestPerson

  beforeAll(async () => {
    service = await testService({ QUOTA_KEYS: '100000', ...liveSettings() })
    owner = await furnished(service)
    stranger = await service.person()
    const slug = await published(
      await service.person(),
      promptBody({ promptConfig: { ...TEMPLATE, sourcePrice: 0.1 } }),
    )
    expect((await owner.person.call('POST', `/v1/rda/${slug}/source`)).body.cost).toBe(0.1)
  })
  afterAll(() => service.close())

  test('all have a row in this table', () => {
    expect(Object.keys(PROCEDURES).sort()).toEqual(Object.keys(procedures()).sort())
  })

  test("are all called by the dashboard's code", () => {
    const root = path.join(import.meta.dirname, '../../service/dashboard/browser')
    const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => readFileSync(path.join(root, name), 'utf8'))
      .join('\n')
    const called = new Set(
      [...code.matchAll(/(?:useRead|useAction|\bread)\(\s*'([\w.]+)'|path="([\w.]+)"/g)].map(
        ([, by, list]) => by ?? list,
      ),
    )
    expect(Object.keys(procedures()).filter((name) => !called.has(name))).toEqual([])
  })

  test.each(closed)('%s refuses callers without a session and agents’ keys', async (name, row) => {
    const input = inputOf(row, owner)
    expect(await code(callProcedure(name, input))).toBe('UNAUTHORIZED')
    const { body } = await owner.person.call('POST', '/v1/keys', { body: { name: 'bound', agentId: owner.ids.agent } })
    expect(await code(callProcedure(name, input, { key: body.secret }))).toBe('FORBIDDEN')
  })
  test.each(ofOthers)('%s neither finds nor changes anything of another account', async (name, row) => {
    const before = await stateOf(owner)
    const answer = await callProcedure(name, inputOf(row, owner), { key: stranger.key })
    expect(await code(answer)).toBe(row.refusal ?? 'NOT_FOUND')
    // The environments are separate: not even the owner finds it in the other one.
    const elsewhere = await callProcedure(name, inputOf(row, owner), { key: await productionKey() })
    expect(await code(elsewhere)).toBe(row.refusal ?? 'NOT_FOUND')
    expect(await stateOf(owner)).toEqual(before)
  })
  test.each(lists)("%s lists the caller's own only", async (name, row) => {
    const mine = (await callProcedure(name, row.more, { key: owner.person.key })).body.result.data
    expect(mine[row.listed ?? ''].length).toBeGreaterThan(0)
    const result = (await callProcedure(name, row.more, { key: stranger.key })).body.result.data
    const ids = JSON.stringify(result)
    for (const id of Object.values(owner.ids)) expect(ids).not.toContain(id)
    expect(ids).not.toContain(owner.person.caller.user.id)
  })

  test('show visitors of a live server production only, and nothing published in the sandbox', async () => {
    await owner.person.call('POST', `/v1/rda/${owner.ids.asset}/publish`)
    expect((await callProcedure('market.list', { search: 'Summarizer' })).body.result.data).toEqual({
      assets: [],
      total: 0,
    })
    expect(await code(callProcedure('market.get', { id: owner.ids.asset }))).toBe('NOT_FOUND')
  })

  test('name a wrong field and what is wrong with it', async () => {
    const { status, body } = await callProcedure(
      'webhooks.create',
      { url: 'nowhere', events: [] },
      { key: stranger.key },
    )
    expect([status, body.error.data.code]).toEqual([400, 'BAD_REQUEST'])
    expect(body.error.data.fields.details).toMatchObject({ events: expect.any(String) })
  })

  function procedures(): Record<string, { _def: { type: 'query' | 'mutation' | 'subscription' } }> {
    return service.appRouter._def.procedures as never
  }

  async function callProcedure(name: string, input: unknown = {}, options: { key?: string } = {}): Promise<Answer> {
    if (procedures()[name]?._def.type === 'mutation')
      return service.call('POST', `/trpc/${name}`, { ...options, body: input })
    return service.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, options)
  }

  let production: string | null = null
  async function productionKey(): Promise<string> {
    const caller = { ...owner.person.caller, environment: 'production' as const }
    const input = { name: 'live', agentId: null, expiresAt: null }
    production ??= (await service.identity.keys.create(caller, input, 'op_live')).secret
    return production
  }

  /** Everything that a stranger's call might have changed. */
  async function stateOf({ person, ids }: Furnished): Promise<unknown> {
    const queries = [
      ['identity.keys.list', {}],
      ['assets.get', { id: ids.asset }],
      ['runs.get', { id: ids.run }],
      ['spending.agent', { id: ids.agent }],
      ['spending.approvals', {}],
      ['checkouts.get', { id: ids.checkout }],
      ['checkouts.payments', { id: ids.checkout }],
      ['deliveries.get', { id: ids.delivery }],
      ['webhooks.list', {}],
      ['wallet.balance', {}],
      ['tools.get', { slug: ids.tool }],
      ['paywalls.get', { id: ids.paywall }],
    ] as const
    return Promise.all(
      queries.map(async ([name, input]) => (await callProcedure(name, input, { key: person.key })).text),
    )
  }
})

function inputOf({ thing, field, more }: Row, { ids }: Furnished): object {
  return { ...more, ...(thing === null ? {} : { [field]: ids[thing] }) }
}

async function code(answer: Answer | Promise<Answer>): Promise<string> {
  return (await answer).body.error?.data?.code as string
}
