import { startWeatherApi, type WeatherApi } from './api.ts'
import { looks, STORY_MS, type Desk } from './desk.ts'

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
      'imports the tools of an API, calls one and takes them away again',
      async () => {
        const { page } = await desk.sit('/catalogue')
        await page.getByRole('button', { name: 'Import' }).first().click()
        await page.getByLabel('Address').fill(`${api.origin}/nothing.json`)
        await page.getByLabel('Name').fill('weather')
        await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
        await page.getByRole('dialog').locator('[role=alert], [aria-invalid=true]').first().waitFor()
        expect(await page.getByLabel('Name').inputValue()).toBe('weather')
        await page.getByLabel('Address').fill(`${api.origin}/openapi.json`)
        await looks(page, 'tools-import')
        await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
        await page.getByText('The tools of weather are here: 1.').first().waitFor()
        await page.getByLabel('What it is for').fill('weather in a city')
        await page.getByRole('link', { name: 'Current weather' }).waitFor()
        await looks(page, 'tools')
        await page.getByRole('link', { name: 'Current weather' }).click()
        await page.getByRole('button', { name: 'Call it' }).click()
        await page.getByText('Nothing was called').waitFor()
        await page.getByLabel('city').fill('Berlin')
        await page.getByRole('button', { name: 'Call it' }).click()
        await page.getByText('"celsius": 21').waitFor()
        await page.getByRole('cell', { name: 'succeeded' }).waitFor()
        await looks(page, 'tool')
        await page.goto(`${desk.origin}/catalogue`)
        await page.getByRole('button', { name: /^Remove / }).click()
        await page.getByRole('button', { name: 'Remove them' }).click()
        await page.getByText('Removed, with all its tools.').first().waitFor()
        expect(await page.getByRole('link', { name: 'Current weather' }).count()).toBe(0)
      },
      STORY_MS,
    )

    it(
      'puts a price on an API and ends in a line that works',
      async () => {
        const { page } = await desk.sit('/paywalls')
        await page.getByRole('link', { name: 'New paywall' }).first().click()
        await page.getByLabel('Name').fill('Weather')
        await page.getByLabel('Address of your API').fill('not an address')
        await looks(page, 'paywall-new')
        await page.getByRole('button', { name: 'Next' }).click()
        await page.getByLabel('Amount').fill('0.02')
        await looks(page, 'paywall-prices')
        await page.getByRole('button', { name: 'Next' }).click()
        await looks(page, 'paywall-money')
        await page.getByRole('button', { name: 'Create paywall' }).click()
        // Back to where something is to be put right, with all that was typed.
        await page.getByText('Must be an http or https address').waitFor()
        expect(await page.getByLabel('Slug').inputValue()).toBe('weather')
        await page.getByLabel('Address of your API').fill(api.origin)
        await page.getByRole('button', { name: 'Next' }).click()
        expect(await page.getByLabel('Amount').inputValue()).toBe('0.02')
        await page.getByRole('button', { name: 'Next' }).click()
        await page.getByRole('button', { name: 'Create paywall' }).click()
        await page.getByText('This line works as it stands').waitFor()
        await looks(page, 'paywall-up')
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
        await looks(page, 'paywall')

        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByRole('button', { name: 'Let it go on' }).waitFor()
        await page.goto(`${desk.origin}/paywalls`)
        await page.getByText('paused').waitFor()
        await looks(page, 'paywalls')
      },
      STORY_MS,
    )
  })
}
