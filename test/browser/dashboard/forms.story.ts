import type { Page, Route } from 'playwright-core'
import { startWeatherApi, type WeatherApi } from './api.ts'
import { PASSWORD, STORY_MS, type Desk, type Seat } from './desk.ts'

interface FormRow {
  path: string | ((created: Created) => string)
  /** The button to press before the form appears. */
  open?: RegExp
  /** Values by label; the form must keep each of them through every failure. */
  typed: Readonly<Record<string, string>>
  act: string
  /** The error that the service returns for one field with this value. */
  wrong?: readonly [label: string, value: string, sentence: RegExp]
}

interface Created {
  asset: string
  checkout: string
}

/** Every form of a signed-in user. Only the forms listed here are tested for keeping their input. */
const FORMS: Readonly<Record<string, FormRow>> = {
  'a key': {
    path: '/keys?new=1',
    typed: { Name: 'Invoices' },
    act: 'Create key',
    wrong: ['Name', '', /at least 1|required|empty/i],
  },
  'an asset': {
    path: '/assets/new',
    typed: { Slug: 'form-asset', Description: 'What it does.' },
    act: 'Create draft',
    wrong: ['Slug', 'Not A Slug', /lower|letters/i],
  },
  'an agent': {
    path: '/agents/new',
    typed: { Name: 'Assistant', 'Approval above': '0.5' },
    act: 'Create agent',
    wrong: ['Approval above', '-1', /must/i],
  },
  "a paywall's first step": {
    path: '/paywalls/new',
    typed: { Name: 'Weather', Slug: 'form-weather', 'API URL': 'https://api.example.com' },
    act: 'Next',
    wrong: ['Slug', 'Not A Slug', /lower-case letters/i],
  },
  'an endpoint': {
    path: '/webhooks',
    open: /^Add endpoint$/,
    typed: { Address: 'https://example.com/hook' },
    act: 'Add endpoint',
    wrong: ['Address', 'nowhere', /not a URL/i],
  },
  'an import of tools': {
    path: '/catalogue?import=1',
    typed: { Address: 'https://api.example.com/openapi.json', Name: 'weather' },
    act: 'Import',
    wrong: ['Name', '', /at least 1|required|empty|must/i],
  },
  'the key of an imported API': {
    path: '/catalogue',
    open: /^Key of /,
    typed: { Key: 'hush' },
    act: 'Save key',
    wrong: ['Key', '', /required/i],
  },
  'play money': {
    path: '/wallet?do=add',
    typed: { Amount: '12.5' },
    act: 'Add play money',
    wrong: ['Amount', '0', /greater than 0/i],
  },
  'a withdrawal': {
    path: '/wallet?do=withdraw',
    typed: { Amount: '1', To: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
    act: 'Withdraw',
    wrong: ['To', '0x12', /must be an address/i],
  },
  'a run': {
    path: ({ asset }) => `/marketplace/${asset}`,
    typed: { Text: 'hello' },
    act: 'Run for free',
    wrong: ['Text', '', /required/i],
  },
  'a call of a tool': {
    path: '/catalogue/forms-current',
    typed: { city: 'Berlin' },
    act: 'Call tool',
    wrong: ['city', '', /required|must/i],
  },
  'a test payment': {
    path: ({ checkout }) => `/checkouts/${checkout}`,
    open: /^Make test payment$/,
    typed: { Website: 'https://example.com' },
    act: 'Simulate payment',
    wrong: ['Website', 'nowhere', /http/i],
  },
  'a name': { path: '/settings', typed: { Name: 'Ada King' }, act: 'Save name', wrong: ['Name', '', /required/i] },
  'a handle': { path: '/settings', typed: { Handle: 'ada-king' }, act: 'Save handle', wrong: ['Handle', 'Ada', /a-z/] },
  'a payout address': {
    path: '/settings',
    typed: { Address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
    act: 'Save address',
    wrong: ['Address', '0x12', /must be an address/i],
  },
  'an e-mail address': {
    path: '/settings',
    open: /^Change e-mail$/,
    typed: { 'New e-mail address': 'ada@new.example', 'Your password': 'not this one' },
    act: 'Send link',
    wrong: ['New e-mail address', 'nowhere', /valid e-mail address/i],
  },
  'a password': {
    path: '/settings',
    typed: { 'Current password': 'not this one', 'New password': 'another battery staple' },
    act: 'Change password',
    wrong: ['New password', 'short', /short|10/i],
  },
}

export function forms(opened: () => Desk): void {
  describe('every form', () => {
    let seat: Seat
    let api: WeatherApi
    let created: Created
    beforeAll(async () => {
      api = await startWeatherApi()
      seat = await opened().sit('/keys')
      created = await furnish(seat, api)
    }, STORY_MS)
    afterAll(() => api.close())

    it.each(Object.entries(FORMS))(
      'of %s keeps its input through a lost connection, an error or an ended session',
      async (_name, { path, open, typed, act, wrong }) => {
        const { page } = seat
        await page.goto(opened().origin + (typeof path === 'string' ? path : path(created)))
        if (open !== undefined) await page.getByRole('button', { name: open }).first().click()
        for (const [label, value] of Object.entries(typed)) await fieldOf(page, label).fill(value)
        const press = page.getByRole('button', { name: act }).last()
        const expectInputKept = async (): Promise<void> => {
          for (const [label, value] of Object.entries(typed)) {
            expect(`${label}: ${await fieldOf(page, label).inputValue()}`).toBe(`${label}: ${value}`)
          }
        }
        const when = async (
          answer: (route: Route) => Promise<void>,
          untilShown: () => Promise<void>,
        ): Promise<void> => {
          await page.route(ACTS, (route) => (route.request().method() === 'POST' ? answer(route) : route.fallback()))
          await press.click()
          await untilShown()
          await expectInputKept()
          await page.unroute(ACTS)
        }

        await when(
          (route) => route.abort(),
          () =>
            page
              .getByText(/No answer came/)
              .first()
              .waitFor(),
        )
        await when(
          (route) => route.fulfill(refusal(route, 500, 'internal')),
          () =>
            page
              .getByText(/req_form/)
              .first()
              .waitFor(),
        )
        const again = page.getByRole('dialog', { name: 'Your session has ended' })
        await when(
          (route) =>
            route.fulfill(
              refusal(route, 401, route.request().url().includes('/auth/') ? 'unauthorized' : 'unauthenticated'),
            ),
          () => again.waitFor(),
        )
        await again.getByLabel('Password').fill(PASSWORD)
        await again.getByLabel('Password').press('Enter')
        await again.waitFor({ state: 'detached' })
        await expectInputKept()

        if (wrong === undefined) return
        const [label, value, sentence] = wrong
        await fieldOf(page, label).fill(value)
        await press.click()
        await page.locator('[id$="-fault"]').filter({ hasText: sentence }).first().waitFor()
        expect(await fieldOf(page, label).getAttribute('aria-invalid')).toBe('true')
      },
      STORY_MS,
    )
  })
}

/** The requests that a form sends, through either interface. */
const ACTS = /\/(trpc|auth)\//

function fieldOf(page: Page, label: string) {
  // The field may also be behind another dialog, where only a test looks.
  return page.locator('main, [role="dialog"]').getByLabel(label, { exact: true }).first()
}

function refusal(route: Route, status: number, code: string) {
  const message = 'Something went wrong on our side.'
  const data = { httpStatus: status, reason: code, fields: {}, requestId: 'req_form' }
  const { pathname } = new URL(route.request().url())
  return {
    status,
    contentType: 'application/json',
    body: pathname.startsWith('/trpc/')
      ? JSON.stringify([{ error: { message, code: -32603, data } }])
      : JSON.stringify({ error: message, code, requestId: 'req_form', message }),
  }
}

async function furnish({ call }: Seat, api: WeatherApi): Promise<Created> {
  await call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
  const asset = await call('POST', '/v1/rda', {
    body: {
      slug: 'form-echo',
      type: 'prompt',
      name: 'Echo',
      description: 'Says it again.',
      inputSchema: [{ name: 'text', label: 'Text', type: 'text', required: true }],
      promptConfig: { promptTemplate: '{{text}}' },
      pricing: { model: 'free', amount: 0, currency: 'USDC' },
    },
  })
  const checkout = await call('POST', '/v1/checkouts', {
    body: {
      callbackUrl: `${api.origin}/flow`,
      product: { name: 'Audit' },
      price: 5,
      network: 'base-sepolia',
      testMode: true,
      fields: [{ name: 'site', label: 'Website', type: 'url', required: true }],
    },
  })
  const imported = await call('POST', '/trpc/tools.import', {
    body: { kind: 'openapi', slug: 'forms', address: `${api.origin}/openapi.json` },
  })
  for (const answer of [asset, checkout, imported]) if (answer.status >= 300) throw new Error(answer.text)
  return { asset: 'form-echo', checkout: String(checkout.body.checkout.id) }
}
