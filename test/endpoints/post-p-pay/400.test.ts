import { openWorld, type World } from '../../checkouts/world.ts'

describe('POST /p/{chk}/pay: 400, before any money moves', () => {
  let world: World
  let form: string
  beforeAll(async () => {
    world = await openWorld({ works: false, chain: true })
    form = (await world.sell({ testMode: true, fields: FIELDS })).id
  })
  afterAll(() => world.close())

  const FIELDS = [
    { name: 'site', type: 'url', required: true },
    { name: 'code', type: 'text', pattern: '[A-Z]{2}\\d+', max: 8 },
    { name: 'count', type: 'number', min: 1, max: 10 },
    { name: 'size', type: 'select', options: ['small', 'large'] },
    { name: 'sure', type: 'boolean' },
    { name: 'mail', type: 'email' },
    { name: 'day', type: 'date' },
    { name: 'data', type: 'json' },
    { name: 'notes', type: 'textarea', min: 3 },
    { name: 'paper', type: 'file' },
  ]
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

  it.each<[string, Record<string, unknown>, string, string]>([
    ['a required one is missing', { site: undefined }, 'site', 'is required'],
    ['a required one is empty', { site: '' }, 'site', 'is required'],
    ['a required one is null', { site: null }, 'site', 'is required'],
    ['an unknown one is there', { colour: 'red' }, 'colour', 'is not known'],
    ['a name of every object', { toString: 'x' }, 'toString', 'is not known'],
    ['a url of another scheme', { site: 'javascript:alert(1)' }, 'site', 'must be an http or https address'],
    ['an invalid url', { site: 'nowhere' }, 'site', 'must be an http or https address'],
    ['a text that does not match', { code: 'ab1' }, 'code', 'must match [A-Z]{2}\\d+'],
    ['a text of which only a part matches', { code: 'xAB1x' }, 'code', 'must match [A-Z]{2}\\d+'],
    ['a text that is too long', { code: 'AB1234567' }, 'code', 'must have at most 8 characters'],
    ['a text of several lines', { code: 'AB1\n' }, 'code', 'must be a single line'],
    ['a text of another type', { code: 12 }, 'code', 'must be a text'],
    ['a text with a NUL', { notes: 'abc\0' }, 'notes', 'must not contain a NUL character'],
    ['a text that is too short', { notes: 'ab' }, 'notes', 'must have at least 3 characters'],
    ['a number as text', { count: '5' }, 'count', 'must be a number'],
    ['a number below', { count: 0 }, 'count', 'must be at least 1'],
    ['a number above', { count: 11 }, 'count', 'must be at most 10'],
    ['another option', { size: 'huge' }, 'size', 'must be one of small, large'],
    ['a text for yes', { sure: 'yes' }, 'sure', 'must be true or false'],
    ['an invalid address', { mail: 'me' }, 'mail', 'must be an e-mail address'],
    ['a day that is in no calendar', { day: '2030-02-30' }, 'day', 'must be a date, as YYYY-MM-DD'],
    ['a text that is no JSON', { data: '{a}' }, 'data', 'must be JSON'],
    ['JSON that is too deep', { data: deep(40) }, 'data', 'must not be nested deeper than 32 levels'],
    ['a file that is no address', { paper: 'C:\\paper.pdf' }, 'paper', 'must be an http or https address'],
  ])('%s', async (_, more, name, message) => {
    const input = { site: 'https://example.com', ...more }
    const answer = await world.call('POST', `/p/${form}/pay`, { body: { input, simulate: true } })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: { [`input.${name}`]: message } },
    })
    expect((await world.seller.call('GET', `/v1/checkouts/${form}/payments`)).body.total).toBe(0)
  })

  it('names all wrong fields at once', async () => {
    const { body } = await world.call('POST', `/p/${form}/pay`, { body: { input: { mail: 1, x: 1 }, simulate: true } })
    expect(Object.keys(body.details as object).sort()).toEqual(['input.mail', 'input.site', 'input.x'])
  })

  it('fields come before the payment: a wrong one leaves the authorization unused', async () => {
    const { id } = await world.sell({ fields: FIELDS })
    const payer = await world.chain.payer(1_000_000n)
    const body = { input: {}, paymentPayload: await world.sign(payer, id) }
    expect((await world.call('POST', `/p/${id}/pay`, { body })).status).toBe(400)
    const [purchase] = await world.service.database.statements.run('SELECT 1 FROM facilitator_purchase', [])
    expect(purchase).toBeUndefined()
  })

  it.each<[string, object, string]>([
    ['nothing to pay with', {}, 'paymentPayload'],
    ['both to pay with', { simulate: true, paymentPayload: {} }, 'paymentPayload'],
    ['simulate as false', { simulate: false }, 'simulate'],
    ['an invalid input', { input: [], simulate: true }, 'input'],
    ['no input', { input: undefined, simulate: true }, 'input'],
    ['something else beside it', { simulate: true, payment: {} }, 'payment'],
    ['an invalid quote', { simulate: true, quoteId: 7 }, 'quoteId'],
  ])('%s', async (_, more, name) => {
    const answer = await world.call('POST', `/p/${form}/pay`, {
      body: { input: { site: 'https://a.example' }, ...more },
    })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toContain(name)
  })

  it.each<[string, unknown, string]>([
    ['empty', {}, 'paymentPayload.scheme'],
    [
      'without a signature',
      { x402Version: 2, accepted: { scheme: 'exact', network: 'eip155:84532' }, payload: {} },
      'paymentPayload.payload.signature',
    ],
  ])('an authorization that is %s', async (_, paymentPayload, name) => {
    const { id } = await world.sell()
    const answer = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_payment', details: { [name]: expect.any(String) } },
    })
  })

  it('money for a test, and a test for money', async () => {
    const real = await world.sell()
    const payer = await world.chain.payer(1_000_000n)
    const paymentPayload = await world.sign(payer, real.id)
    const test = await world.sell({ testMode: true })
    expect(await world.call('POST', `/p/${test.id}/pay`, { body: { input: {}, paymentPayload } })).toMatchObject({
      status: 400,
      body: { code: 'test_mode' },
    })
    expect(await world.call('POST', `/p/${real.id}/pay`, { body: { input: {}, simulate: true } })).toMatchObject({
      status: 400,
      body: { code: 'not_test_mode' },
    })
  })

  it('a pattern on which a backtracking matcher would not end', async () => {
    const { id } = await world.sell({ testMode: true, fields: [{ name: 'a', type: 'text', pattern: '(a+)+(a|aa)*b' }] })
    const answer = await world.call('POST', `/p/${id}/pay`, {
      body: { input: { a: 'a'.repeat(2_000) }, simulate: true },
    })
    expect(answer.status).toBe(400)
  })
})
