import { seed } from '../../../service/marketplace/seed/seed.ts'
import { ALLOWED } from '../bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { freePort } from '../../harness/ports.ts'

/* The demo assets of the sandbox: a dozen, each of which runs at once. */

describe('the demo creators', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService({ ...ALLOWED, DEMO_PORT: String(await freePort()) })
    await service.start()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
  })
  afterAll(async () => {
    await service.close()
  })

  test('have a dozen published assets of every type, three of them featured', async () => {
    const { body } = await service.call('GET', '/v1/rdas')
    expect(body.total).toBe(12)
    const types = (body.rdas as { type: string }[]).map(({ type }) => type)
    expect(new Set(types)).toEqual(new Set(['prompt', 'agent', 'tool']))
    expect((await service.call('GET', '/v1/rdas?featured=true')).body.total).toBe(3)
    expect((await service.call('GET', '/v1/rdas?verified=true')).body.total).toBe(12)
    const { rda } = (await service.call('GET', '/v1/rda/meeting-minutes')).body
    expect(rda).toMatchObject({ ownerName: 'Fathom Agents', ownerVerified: true, verified: true })
  })

  test.each([
    ['blog-outline', { topic: 'Coins', audience: 'beginners' }, 'about "Coins" for beginners'],
    ['customer-reply', { message: 'Where is it?' }, 'Write a warm reply'],
    ['sql-explainer', { query: 'SELECT 1' }, 'SELECT 1'],
    ['product-description', { product: 'a mug', facts: 'blue' }, 'Describe a mug'],
    ['meeting-minutes', { notes: 'Ann will call Ben\nWe agreed on blue' }, '- [ ] Ann will call Ben'],
    ['keyword-research', { text: 'coin slot, coin slot, arcade' }, '| coin slot | 2 |'],
    ['release-notes', { commits: 'feat: dark mode\nfix: flicker', version: '2.0' }, '## Fixed\n\n- flicker'],
    ['text-statistics', { text: 'One two. Three four five.' }, '**5** words in **2** sentences'],
    ['unit-converter', { value: 26.2, from: 'mi', to: 'km' }, '26.2 mi = 42.1648128 km'],
    ['json-to-csv', { rows: [{ name: 'Ada', born: 1815 }] }, 'name,born\r\nAda,1815'],
    ['loan-calculator', { principal: 100_000, ratePercent: 6, years: 30 }, '599.55'],
    ['colour-palette', { colour: '#1E90FF' }, '#e16f00'],
  ])('%s runs', async (rdaSlug, inputs, output) => {
    const answer = await person.call('POST', '/v1/run', { body: { rdaSlug, inputs } })
    expect(answer.text).toContain('"success":true')
    expect(answer.body.output).toContain(output)
  })

  test('show a sample of agents and tools, which is what a run with its inputs gives', async () => {
    for (const [slug, type] of [
      ['meeting-minutes', 'agent'],
      ['keyword-research', 'agent'],
      ['text-statistics', 'tool'],
      ['unit-converter', 'tool'],
    ] as const) {
      const { rda } = (await service.call('GET', `/v1/rda/${slug}`)).body
      const [sample] = rda[`${type}Config`].examples as { inputs: object; output: string }[]
      const { body } = await person.call('POST', '/v1/run', { body: { rdaSlug: slug, inputs: sample!.inputs } })
      expect([slug, body.output]).toEqual([slug, sample!.output])
    }
  })

  test('a prompt without a model says so in its first line, and then shows the prompt', async () => {
    const body = { rdaSlug: 'sql-explainer', inputs: { query: 'SELECT 1' } }
    const { output } = (await person.call('POST', '/v1/run', { body })).body as { output: string }
    const [first, blank, ...prompt] = output.split('\n')
    expect([first, blank]).toEqual([
      expect.stringMatching(/^Sandbox echo: .* not a model's answer\. .* MODELS_BASE_URL and MODELS_API_KEY/),
      '',
    ])
    expect(prompt.join('\n')).toContain('SELECT 1')
  })

  test('an impossible conversion fails, and costs nothing', async () => {
    const before = (await person.call('GET', '/v1/wallet/balance')).body.wallet.balance
    const body = { rdaSlug: 'colour-palette', inputs: { colour: '1e90ff' } }
    expect((await person.call('POST', '/v1/run', { body })).status).toBe(200)
    const wrong = { rdaSlug: 'unit-converter', inputs: { value: 1, from: 'mi', to: 'kg' } }
    expect((await person.call('POST', '/v1/run', { body: wrong })).status).toBe(500)
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBeCloseTo(before - 0.005, 6)
  })

  test('are put in once, also by two processes, and follow their servers to another port', async () => {
    const { assets, clock } = service
    const signUp = async (...[one]: Parameters<typeof service.identity.signUp>) =>
      (await service.identity.signUp(one)).user
    const versions = async (): Promise<string[]> => {
      const rows = await service.testDatabase.statements.run<{ version: string }>(
        'SELECT version FROM rda ORDER BY id',
        [],
      )
      return rows.map(({ version }) => version)
    }
    const [row] = await service.testDatabase.statements.run<{ url: string }>(
      `SELECT content->'config'->>'apiEndpoint' AS url FROM rda_version v JOIN rda r ON r.id = v.rda_id WHERE slug = 'json-to-csv'`,
      [],
    )
    const demo = new URL(row!.url).origin
    await Promise.all([seed({ assets, signUp, clock, demo }), seed({ assets, signUp, clock, demo })])
    expect(await versions()).toEqual(Array<string>(12).fill('1.0.0'))

    await seed({ assets, signUp, clock, demo: 'http://127.0.0.1:9' })
    expect((await versions()).sort()).toEqual([...Array<string>(4).fill('1.0.0'), ...Array<string>(8).fill('1.1.0')])
  })
})
