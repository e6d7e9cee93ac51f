import type { Locator } from 'playwright-core'
import { until } from '../../checkouts/world.ts'
import { startWeatherApi, type WeatherApi } from './api.ts'
import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function tools(opened: () => Desk): void {
  describe('tools and paywalls', () => {
    let desk: Desk
    let api: WeatherApi
    beforeAll(async () => {
      desk = opened()
      api = await startWeatherApi()
    })
    afterAll(() => api.close())

    it(
      'imports the tools of an API, calls one and removes them',
      async () => {
        const { page } = await desk.sit('/catalogue')
        await page.getByRole('button', { name: 'Import' }).first().click()
        await page.getByLabel('Address').fill(`${api.origin}/nothing.json`)
        await page.getByLabel('Name').fill('weather')
        await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
        await page.getByRole('dialog').locator('[role=alert], [aria-invalid=true]').first().waitFor()
        expect(await page.getByLabel('Name').inputValue()).toBe('weather')
        await page.getByLabel('Address').fill(`${api.origin}/openapi.json`)
        await checkLook(page, 'tools-import')
        await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
        await page.getByText('Imported 1 tool from weather.').first().waitFor()
        await page.getByLabel('Search tools').fill('weather in a city')
        await page.getByRole('link', { name: 'Current weather' }).waitFor()
        await checkLook(page, 'tools')
        await page.getByRole('link', { name: 'Current weather' }).click()
        await page.getByRole('button', { name: 'Call tool' }).click()
        await page.getByText('The tool was not called').waitFor()
        await page.getByLabel('city').fill('Berlin')
        await page.getByRole('button', { name: 'Call tool' }).click()
        await page.getByText('"celsius": 21').waitFor()
        await page.getByRole('cell', { name: 'succeeded' }).waitFor()
        await checkLook(page, 'tool')
        await page.goto(`${desk.origin}/catalogue`)
        await page.getByRole('button', { name: /^Remove / }).click()
        await page.getByRole('button', { name: 'Remove tools' }).click()
        await page.getByText('Tools removed.').first().waitFor()
        await page.getByRole('link', { name: 'Current weather' }).waitFor({ state: 'detached' })
      },
      STORY_MS,
    )

    it(
      'lists the skipped operations of an API with reasons',
      async () => {
        const { page } = await desk.sit('/catalogue')
        await page.getByRole('button', { name: 'Import' }).first().click()
        await page.getByLabel('Address').fill(`${api.origin}/partly.json`)
        await page.getByLabel('Name').fill('partly')
        await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
        const list = page.getByRole('dialog', { name: 'Operations left out' })
        await list.getByText('it does not define {station} of its path').waitFor()
        expect(await list.getByRole('listitem').count()).toBe(1)
        await page.getByText('Imported 1 tool from partly. 1 could not be imported.').first().waitFor()
        await checkLook(page, 'tools-left-out')
        await page.keyboard.press('Escape')
        await list.waitFor({ state: 'detached' })
        await page.getByRole('link', { name: 'Current weather' }).waitFor()
        await page.getByRole('button', { name: /^Remove / }).click()
        await page.getByRole('button', { name: 'Remove tools' }).click()
        await page.getByText('Tools removed.').first().waitFor()
      },
      STORY_MS,
    )

    it(
      'says that an import from another server has removed the stored key, unless it has a new one',
      async () => {
        const moved = await startWeatherApi()
        const { page } = await desk.sit('/catalogue')
        const lost = page.getByText('The stored key of keyed was removed')
        const bring = async ({ origin }: WeatherApi, key: string) => {
          await page.getByRole('button', { name: 'Import' }).first().click()
          await page.getByLabel('Address').fill(`${origin}/openapi.json`)
          await page.getByLabel('Name').fill('keyed')
          await page.getByRole('textbox', { name: 'Key' }).fill(key)
          await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
          await page.getByRole('dialog').waitFor({ state: 'detached' })
        }
        await bring(api, 'a-key')
        await bring(moved, 'another-key')
        expect(await lost.count()).toBe(0)
        await bring(api, '')
        await lost.first().waitFor()
        await page.getByRole('button', { name: /^Remove / }).click()
        await page.getByRole('button', { name: 'Remove tools' }).click()
        await page.getByText('Tools removed.').first().waitFor()
        await moved.close()
      },
      STORY_MS,
    )

    it(
      'puts a price on an API, and ends with a command that works',
      async () => {
        const { page, call } = await desk.sit('/paywalls')
        const takenSlug = 'taken-already'
        const other = await call('POST', '/v1/paywalls', {
          body: {
            ...{ slug: takenSlug, name: 'Another', upstreamUrl: api.origin, network: 'base-sepolia', testMode: true },
            routes: [{ method: 'GET', path: '/*', pricing: { model: 'free' } }],
          },
        })
        expect([other.status, other.text]).toEqual([201, expect.any(String)])
        await page.reload()
        await page.getByRole('link', { name: 'Create paywall' }).first().click()
        const next = page.getByRole('button', { name: 'Next' })
        /** The step stays, and shows beside the field what is wrong with it. */
        const refuses = async (act: Locator, label: string, value: string, sentence: string | RegExp) => {
          const field = page.getByLabel(label, { exact: true })
          const before = await field.inputValue()
          await field.fill(value)
          await act.click()
          const fault = page.locator('[id$="-fault"]:visible').filter({ hasText: sentence })
          await fault.waitFor()
          expect(await field.getAttribute('aria-invalid')).toBe('true')
          expect(await field.getAttribute('aria-describedby')).toContain(await fault.getAttribute('id'))
          const id = await field.getAttribute('id')
          await until(async () => (await page.evaluate('document.activeElement.id')) === id)
          await field.fill(before)
        }
        const current = page.locator('[aria-current="step"]')
        const at = async (name: string): Promise<void> => {
          await current.filter({ hasText: name }).waitFor()
        }
        await page.getByLabel('Name').fill('Weather')
        await page.getByLabel('API URL').fill(api.origin)
        await checkLook(page, 'paywall-new')
        await refuses(next, 'Name', '', /^Must not be empty/)
        await refuses(next, 'Slug', '', /lower-case letters/)
        await refuses(next, 'Slug', 'Not A Slug', /lower-case letters/)
        await refuses(next, 'Slug', 'assets', /reserved for the gateway/)
        await refuses(next, 'Slug', takenSlug, /^Belongs to another paywall/)
        await refuses(next, 'API URL', 'not an address', 'Must be an http or https address')
        await refuses(next, 'API URL', 'http://169.254.169.254', /not a public address/)
        await refuses(next, 'Headers for your API', 'Host: example.com', /./)
        // The step can't be skipped either.
        await refuses(page.getByRole('button', { name: 'Payout' }), 'Slug', '-', /lower-case letters/)
        await at('Your API')
        await page.getByLabel('Slug').fill('weather')
        await next.click()

        await at('Prices')
        await refuses(next, 'Amount', '', 'Must be a number')
        await refuses(next, 'Amount', '0', 'Must be greater than 0')
        await refuses(next, 'Amount', '0.0000001', /decimal/)
        await refuses(next, 'Path', 'weather', /^Must begin with \//)
        await page.getByRole('button', { name: 'Add a route' }).click()
        await page.getByLabel('Path').last().fill('/*')
        await next.click()
        await page.getByText('Repeats a route').waitFor()
        await at('Prices')
        await page.getByRole('button', { name: 'Remove route 2' }).click()
        await page.getByLabel('Amount').fill('0.02')
        await page.getByLabel('When buyers return').selectOption({ label: 'Free for 1 day' })
        await page.getByLabel('Buyer’s own payment ID').selectOption({ label: 'Required' })
        await checkLook(page, 'paywall-prices')
        await page.getByRole('button', { name: 'Your API' }).click()
        await at('Your API')
        expect(await page.getByLabel('Slug').inputValue()).toBe('weather')
        await page.getByRole('button', { name: 'Payout' }).click()

        await at('Payout')
        await checkLook(page, 'paywall-money')
        const create = page.getByRole('button', { name: 'Create paywall' })
        await refuses(create, 'Recipient', '0x12', /^Must be an address/)
        await refuses(create, 'Recipient', '0x70997970c51812dc3A010C7d01b50e0d17dc79C8', /checksum/)
        await page.getByRole('button', { name: 'Prices' }).click()
        expect(await page.getByLabel('Amount').inputValue()).toBe('0.02')
        await next.click()
        await at('Payout')
        await create.click()
        await page.getByText('Try it with this command').waitFor()
        await checkLook(page, 'paywall-up')
        const { paywalls } = (await call('GET', '/v1/paywalls')).body as {
          paywalls: { slug: string; routes: object[] }[]
        }
        const paywall = paywalls.find(({ slug }) => slug === 'weather')!
        expect(paywall.routes[0]).toMatchObject({ signIn: { seconds: 86_400 }, paymentIdentifier: 'required' })
        const line = (await page.getByRole('dialog').locator('pre').textContent())!
        const [, address] = /^curl -i (\S+)/.exec(line)!
        const [, token] = /X-Payment-Token: ([^']+)'/.exec(line)!
        expect((await fetch(`${address!}weather?city=Berlin`)).status).toBe(402)
        const paid = await fetch(`${address!}weather?city=Berlin`, { headers: { 'x-payment-token': token! } })
        expect(await paid.json()).toEqual({ city: 'Berlin', celsius: 21 })
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByRole('heading', { name: 'Weather' }).waitFor()
        await page.getByRole('figure').waitFor()
        await checkLook(page, 'paywall')

        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByRole('button', { name: 'Resume' }).waitFor()
        await page.goto(`${desk.origin}/paywalls`)
        await page.getByText('paused').waitFor()
        await checkLook(page, 'paywalls')
      },
      STORY_MS,
    )
  })
}
