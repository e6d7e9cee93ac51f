import { picture } from '../chromium.ts'
import { isTooWide, STORY_MS, type Desk, type Seat } from './desk.ts'

interface FormRow {
  /** Creates what the form edits. The account's settings are there already. */
  create?: object
  api: string
  page: (id: string) => string
  /** The button to press before the form appears. */
  open?: string
  /** The field edited in the form, and its new value. */
  edit: readonly [label: string, value: string]
  /** What a colleague changes over the API while the form is open. */
  meanwhile: object
  /** The buttons that lead to the end of the form. */
  acts: readonly string[]
  /** Both changes. */
  saved: object
}

const FIELDS = [{ name: 'site', label: 'Website', type: 'url', required: true }]
const CHECKOUT = {
  callbackUrl: 'http://127.0.0.1:9/hook',
  product: { name: 'SEO audit', description: 'A report.' },
  ...{ price: 5, network: 'base-sepolia', testMode: true, fields: FIELDS, capture: 'onSuccess' },
  plans: [{ id: 'ten', name: 'Ten runs', price: 40, kind: 'runs', runs: 10 }],
}
const PAYWALL = {
  ...{
    slug: 'side-by-side',
    name: 'Weather',
    upstreamUrl: 'http://127.0.0.1:9',
    network: 'base-sepolia',
    testMode: true,
  },
  upstreamHeaders: { 'X-Key': 'hush' },
  routes: [{ method: 'GET', path: '/*', pricing: { model: 'tiered', tiers: [{ amount: 0.01 }], window: 'day' } }],
}
const ASSET = {
  ...{ slug: 'side-by-side', type: 'tool', name: 'Lookup', description: 'Looks it up.' },
  inputSchema: [{ name: 'q', label: 'What', type: 'text', required: true, pattern: '^[a-z]+$' }],
  toolConfig: {
    ...{ apiEndpoint: 'http://127.0.0.1:9/lookup', authType: 'bearer', authConfig: { token: 'hush' } },
    apiHeaders: { 'X-Key': 'hush' },
    examples: [{ title: 'A word', inputs: { q: 'coin' }, output: 'a coin' }],
  },
  pricing: { model: 'per-run', amount: 0.25 },
}

/** Every form that changes something which is there already. */
const FORMS: Readonly<Record<string, FormRow>> = {
  'a checkout': {
    create: CHECKOUT,
    api: '/v1/checkouts',
    page: (id) => `/checkouts/${id}/edit`,
    edit: ['Description', 'A report of what to fix first.'],
    meanwhile: { price: 8, plans: [], notify: { sale: true, failure: true } },
    acts: ['Save checkout'],
    saved: {
      product: { name: 'SEO audit', description: 'A report of what to fix first.' },
      ...{ price: 8, plans: [], notify: { sale: true, failure: true }, capture: 'onSuccess' },
    },
  },
  "a checkout's sites": {
    create: CHECKOUT,
    api: '/v1/checkouts',
    page: (id) => `/checkouts/${id}`,
    edit: ['Allowed sites', 'https://shop.example.com'],
    meanwhile: { price: 8 },
    acts: ['Save sites'],
    saved: { price: 8, embedOrigins: ['https://shop.example.com'] },
  },
  'a paywall': {
    create: PAYWALL,
    api: '/v1/paywalls',
    page: (id) => `/paywalls/${id}/edit`,
    edit: ['API URL', 'http://127.0.0.1:9/v2'],
    meanwhile: { status: 'paused', name: 'Climate', upstreamHeaders: { 'X-Other': 'hush' } },
    acts: ['Next', 'Next', 'Save paywall'],
    saved: { status: 'paused', name: 'Climate', upstreamHeaders: ['X-Other'], upstreamUrl: 'http://127.0.0.1:9/v2' },
  },
  'an asset': {
    create: ASSET,
    api: '/v1/rda',
    page: (id) => `/assets/${id}/edit`,
    edit: ['Endpoint', 'http://127.0.0.1:9/v2'],
    meanwhile: { description: 'Looks it up, quickly.', pricing: { model: 'per-run', amount: 0.5 } },
    acts: ['Save asset'],
    saved: {
      description: 'Looks it up, quickly.',
      pricing: { amount: 0.5 },
      toolConfig: { apiEndpoint: 'http://127.0.0.1:9/v2', examples: [{ title: 'A word' }] },
    },
  },
  'an agent': {
    create: { name: 'Assistant', limits: { perCall: 1, perDay: 10 }, tools: { allow: ['a'], deny: [] } },
    api: '/v1/agents',
    page: (id) => `/agents/${id}/edit`,
    edit: ['Per call', '0.5'],
    meanwhile: { limits: { perDay: 3 }, tools: { deny: ['b'] }, status: 'paused' },
    acts: ['Save rules'],
    saved: { limits: { perCall: 0.5, perDay: 3 }, tools: { allow: ['a'], deny: ['b'] }, status: 'paused' },
  },
  'a coupon': {
    create: { code: 'SIDE', percent: 20, max: 10, until: '2099-12-31T12:00:00.000Z' },
    api: '/v1/coupons',
    page: () => '/coupons',
    open: 'Edit SIDE',
    edit: ['Total uses', '20'],
    meanwhile: { perCustomer: 2, until: null },
    acts: ['Save coupon'],
    saved: { max: 20, perCustomer: 2, until: null },
  },
  'an endpoint': {
    create: { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] },
    api: '/v1/webhook-endpoints',
    page: (id) => `/webhooks/${id}`,
    open: 'Edit',
    edit: ['Address', 'http://127.0.0.1:9/v2'],
    meanwhile: { events: ['run.completed', 'run.failed'] },
    acts: ['Save endpoint'],
    saved: { url: 'http://127.0.0.1:9/v2', events: ['run.completed', 'run.failed'] },
  },
  'the brand': {
    api: '/v1/brand',
    page: () => '/settings#selling',
    edit: ['Brand name', 'Ada & Co.'],
    meanwhile: { theme: 'dark', supportUrl: 'https://example.com/help' },
    acts: ['Save brand'],
    saved: { name: 'Ada & Co.', theme: 'dark', supportUrl: 'https://example.com/help' },
  },
  'the refund policy': {
    api: '/v1/refund-policy',
    page: () => '/settings#selling',
    edit: ['You answer within', '3'],
    meanwhile: { windowDays: 60, partialRefunds: false },
    acts: ['Save policy'],
    saved: { windowDays: 60, answerDays: 3, partialRefunds: false },
  },
  'the details on receipts': {
    api: '/v1/invoicing',
    page: () => '/settings#money',
    edit: ['Your name or company', 'Ada & Co.'],
    meanwhile: { sellerAddress: 'Allee 1', taxPercent: 19 },
    acts: ['Save details'],
    saved: { sellerName: 'Ada & Co.', sellerAddress: 'Allee 1', taxPercent: 19 },
  },
}

export function changes(opened: () => Desk): void {
  describe('changes side by side', () => {
    let desk: Desk
    let seat: Seat
    /** The procedures that change something, as the page has called them. */
    let sent: string[]
    beforeAll(async () => {
      desk = opened()
      seat = await desk.sit('/keys')
      seat.page.on('request', (request) => {
        const [, procedure = ''] = /\/trpc\/(\w+\.(?:change|set)\w*)/.exec(request.url()) ?? []
        if (procedure !== '' && request.method() === 'POST') sent.push(procedure)
      })
    })
    beforeEach(() => {
      sent = []
    })

    /** Answers the id of what is to be edited; the settings have none. */
    async function create({ api, create: body }: FormRow): Promise<string> {
      if (body === undefined) return ''
      const made = await seat.call('POST', api, { body })
      expect([made.status, made.text]).toEqual([201, expect.any(String)])
      return (Object.values(made.body as object).find((part) => typeof part === 'object') as { id: string }).id
    }

    /** What the API says of it. */
    async function stored({ api, create: made }: FormRow, id: string): Promise<Record<string, unknown>> {
      const { body } = await seat.call('GET', made === undefined ? api : `${api}/${id}`)
      return Object.values(body as object)[0] as Record<string, unknown>
    }

    async function patch({ api, create: made }: FormRow, id: string, body: object): Promise<void> {
      const { status, text } = await seat.call('PATCH', made === undefined ? api : `${api}/${id}`, { body })
      expect([status, text]).toEqual([200, expect.any(String)])
    }

    async function open({ page: path, open: button }: FormRow, id: string): Promise<void> {
      // A change of the fragment alone would keep the page.
      await seat.page.goto(`${desk.origin}/healthz`)
      await seat.page.goto(desk.origin + path(id))
      if (button !== undefined) await press([button])
    }

    async function press(buttons: readonly string[]): Promise<void> {
      for (const name of buttons) await seat.page.getByRole('button', { name, exact: true }).click()
    }

    const field = (label: string) => seat.page.getByLabel(label, { exact: true }).first()

    it.each(Object.entries(FORMS))(
      'the form of %s keeps what others have changed meanwhile, and sends nothing that was not edited',
      async (name, row) => {
        const { page } = seat
        const [label, value] = row.edit
        const id = await create(row)
        const before = await stored(row, id)
        await open(row, id)
        await field(label).waitFor()
        await press(row.acts)
        await page.getByText('No changes to save.').first().waitFor()
        expect([sent, await stored(row, id)]).toEqual([[], before])

        await open(row, id)
        await field(label).fill(value)
        await patch(row, id, row.meanwhile)
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 })
          await picture(page, `changes-${name.replace(/\W+/g, '-')}-${String(width)}`, { fullPage: true })
          expect(await isTooWide(page)).toBe(false)
        }
        await page.setViewportSize({ width: 1280, height: 800 })
        await press(row.acts)
        await page
          .getByText(/\bsaved\./i)
          .first()
          .waitFor()
        expect(await stored(row, id)).toMatchObject(row.saved)
        expect(sent).toHaveLength(1)
      },
      STORY_MS,
    )

    it(
      'a paused checkout that was opened and saved stays paused',
      async () => {
        const row = FORMS['a checkout']!
        const id = await create(row)
        const statement =
          "UPDATE checkout SET state = 'paused', paused_at = now(), probe_at = now() + interval '1 day' WHERE id = $1"
        await desk.service.testDatabase.statements.run(statement, [id])
        await open(row, id)
        await press(row.acts)
        await seat.page.getByText('No changes to save.').first().waitFor()
        expect((await stored(row, id))['status']).toBe('paused')
      },
      STORY_MS,
    )

    it(
      'of two changes of the same part the later one is refused, and what was typed stays',
      async () => {
        const row = { ...FORMS['a paywall']!, create: { ...PAYWALL, slug: 'the-same-part' } }
        const id = await create(row)
        await open(row, id)
        await field('Name').fill('Weather of today')
        await patch(row, id, { name: 'Climate' })
        await press(row.acts)
        await seat.page.getByText(/This paywall has been edited since/).waitFor()
        await picture(seat.page, 'changes-refused')
        expect(await field('Name').inputValue()).toBe('Weather of today')
        expect((await stored(row, id))['name']).toBe('Climate')
      },
      STORY_MS,
    )

    it(
      'a second change of the settings sends nothing of the first one',
      async () => {
        const row = FORMS['the brand']!
        await open(row, '')
        await field('Brand name').fill('Ada')
        await press(row.acts)
        await seat.page.getByText('Brand saved.').first().waitFor()
        await patch(row, '', { name: 'Ada & Sons' })
        await field('Terms of sale').fill('https://example.com/terms')
        await Promise.all([seat.page.waitForResponse(/\/trpc\/brand\.change/), press(row.acts)])
        expect(await stored(row, '')).toMatchObject({ name: 'Ada & Sons', termsUrl: 'https://example.com/terms' })
      },
      STORY_MS,
    )

    it(
      'a coupon stays limited to checkouts that have ended or are not listed',
      async () => {
        const { page, call } = seat
        const [ended, sold] = [await create(FORMS['a checkout']!), await create(FORMS['a checkout']!)]
        const row = FORMS['a coupon']!
        const unknown = `chk_${'0'.repeat(26)}`
        const limited = {
          ...row,
          create: { code: 'ENDED', percent: 20, checkouts: [ended, unknown] },
          open: 'Edit ENDED',
        }
        const id = await create(limited)
        await patch(FORMS['a checkout']!, sold, { product: { name: 'Still sold' } })
        expect((await call('DELETE', `/v1/checkouts/${ended}`)).status).toBe(200)
        await open(limited, id)
        await page.getByLabel('SEO audit (ended)').waitFor()
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 })
          await picture(page, `coupon-ended-${String(width)}`)
        }
        await page.getByLabel('Still sold').check()
        await press(row.acts)
        await page.getByText('Coupon saved.').first().waitFor()
        const { checkouts } = await stored(limited, id)
        expect(new Set(checkouts as string[])).toEqual(new Set([ended, unknown, sold]))
        await page.setViewportSize({ width: 1280, height: 800 })
      },
      STORY_MS,
    )

    it(
      'a limit that is not a number is refused at its field, and the one before stays',
      async () => {
        const row = FORMS['an agent']!
        const id = await create(row)
        await open(row, id)
        await field('Per day').fill('1,000')
        await press(row.acts)
        await seat.page.getByText('Must be a number').waitFor()
        expect(await field('Per day').getAttribute('aria-invalid')).toBe('true')
        expect(await stored(row, id)).toMatchObject({ limits: { perDay: 10 } })
      },
      STORY_MS,
    )
  })
}
