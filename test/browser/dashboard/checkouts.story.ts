import { startReceiver, type Receiver } from '../../deliveries/receiver.ts'
import { looks, STORY_MS, type Desk } from './desk.ts'

export function checkouts(opened: () => Desk): void {
  describe('checkouts and webhooks', () => {
    let desk: Desk
    let receiver: Receiver
    beforeAll(async () => {
      desk = opened()
      receiver = await startReceiver()
    })
    afterAll(() => receiver.close())

    it(
      'shows what was paid and delivered, simulates a payment, sends again, and ends a checkout',
      async () => {
        const { page, call } = await desk.sit('/checkouts')
        await page.getByText('No checkouts yet').waitFor()
        const made = await call('POST', '/v1/checkouts', {
          body: {
            callbackUrl: receiver.url,
            product: { name: 'SEO audit', description: 'A report of what to fix first.' },
            price: 5,
            network: 'base-sepolia',
            testMode: true,
            fields: [{ name: 'site', label: 'Website', type: 'url', required: true }],
            lifetime: 'persistent',
          },
        })
        const { id } = made.body.checkout
        await page.reload()
        await looks(page, 'checkouts')
        await page.getByRole('link', { name: 'SEO audit' }).click()
        await page.getByText('No payments yet').waitFor()
        expect(await page.getByRole('img', { name: /QR code/ }).getAttribute('src')).toMatch(/^data:image\/svg/)
        await page.getByRole('button', { name: 'Make test payment' }).click()
        await page.getByLabel('Website').fill('not an address')
        await page.getByRole('button', { name: 'Simulate payment' }).click()
        await page.getByText('Must be an http or https address').waitFor()
        expect(await page.getByLabel('Website').inputValue()).toBe('not an address')
        await page.getByLabel('Website').fill('https://example.com')
        await looks(page, 'checkout-test')
        await page.getByRole('button', { name: 'Simulate payment' }).click()
        await page.getByText('Payment simulated.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(1)
        await page.reload()
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await looks(page, 'checkout')

        await page.getByRole('button', { name: /^pay_/ }).click()
        await page.getByRole('heading', { name: 'Attempts' }).waitFor()
        await looks(page, 'delivery')
        const count = receiver.calls.length
        await page.getByRole('button', { name: 'Send again' }).click()
        await page.getByText('Delivery is being sent again').first().waitFor()
        await receiver.came(count + 1)
        expect(receiver.calls.at(-1)!.id).toBe(receiver.calls.at(-2)!.id)
        await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

        await page.getByRole('button', { name: 'Rotate secret' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
        expect(await page.getByText(/^whsec_/).textContent()).toMatch(/^whsec_/)
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()

        await page.getByRole('button', { name: 'End checkout' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'End checkout' }).click()
        await page.getByText('Checkout ended.').first().waitFor()
        expect((await desk.service.call('GET', `/p/${id}`)).status).toBe(404)
      },
      STORY_MS,
    )

    it(
      'makes a checkout beside the page that buyers see, changes it, and copies it',
      async () => {
        const { page, call } = await desk.sit('/checkouts')
        await page.getByRole('link', { name: 'Create checkout' }).first().click()
        const buyers = page.frameLocator('iframe[title="The page that buyers see"]')
        await buyers.getByText('Your product').first().waitFor()
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByRole('textbox', { name: 'Callback URL' }).and(page.locator('[aria-invalid="true"]')).waitFor()
        expect(await page.getByLabel('Name', { exact: true }).first().getAttribute('aria-invalid')).toBe('true')
        await page.getByLabel('Name', { exact: true }).first().fill('SEO audit')
        await page.getByLabel('Price').fill('7.5')
        await page.getByLabel('Description').fill('A report of what to fix first.')
        await page.getByRole('button', { name: 'Add a field' }).click()
        await page.getByLabel('Label').fill('Website')
        await page.getByLabel('Name', { exact: true }).nth(1).fill('site')
        await page.getByLabel('Type', { exact: true }).selectOption('url')
        await page.getByLabel('Callback URL').fill(receiver.url)
        await buyers.getByRole('heading', { name: 'SEO audit' }).waitFor()
        await buyers.getByText('7.50').waitFor()
        await buyers.getByLabel('Website').waitFor()
        // As buyers see it, in its colours.
        expect((await buyers.locator('.tile').boundingBox())?.width).toBe(44)
        await looks(page, 'checkout-new')
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByText('No payments yet').waitFor()
        const { checkouts: listed } = (await call('GET', '/v1/checkouts')).body
        expect(listed).toHaveLength(1)
        const { id } = listed[0]
        expect(listed[0]).toMatchObject({ price: 7.5, fields: [{ name: 'site', type: 'url', required: true }] })

        await page.getByRole('link', { name: 'Edit' }).click()
        await buyers.getByText('7.50').waitFor()
        await page.getByLabel('Price').fill('9')
        await page.getByLabel('Charge').selectOption('onSuccess')
        await buyers.getByText('Only if your order succeeds').waitFor()
        await call('PATCH', `/v1/checkouts/${id}`, { body: { price: 8 } })
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText(/This checkout has been edited since/).waitFor()
        await page.reload()
        await page.getByLabel('Price').fill('9')
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText('Checkout saved.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${id}`)).body.checkout).toMatchObject({ price: 9, version: 3 })
        await looks(page, 'checkout-made')

        await page.getByRole('link', { name: 'Duplicate' }).click()
        await page.getByRole('heading', { name: 'New checkout' }).waitFor()
        expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('SEO audit')
      },
      STORY_MS,
    )

    it(
      'adds an endpoint, tells it of a test, switches it off and removes it',
      async () => {
        const { page } = await desk.sit('/webhooks')
        await page.getByRole('button', { name: 'Add endpoint' }).first().click()
        await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
        await page.getByText(/is not a URL/).waitFor()
        await page.getByLabel('Address').fill(receiver.url)
        await page.getByLabel('run.completed').check()
        await looks(page, 'webhook-new')
        await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
        expect(await page.getByText(/^whsec_/).textContent()).toMatch(/^whsec_/)
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByRole('link', { name: receiver.url }).click()
        const count = receiver.calls.length
        await page.getByRole('button', { name: 'Send test event' }).click()
        await page.getByText('is on its way.').first().waitFor()
        await receiver.came(count + 1)
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await looks(page, 'webhook')
        await page.getByRole('button', { name: 'Disable' }).click()
        await page.getByRole('button', { name: 'Enable' }).waitFor()
        await page.getByRole('button', { name: 'Send test event' }).click()
        await page
          .getByText(/disabled/i)
          .last()
          .waitFor()
        await page.goto(`${desk.origin}/webhooks`)
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await looks(page, 'webhooks')
        await page.getByRole('link', { name: receiver.url }).click()
        await page.getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('button', { name: 'Remove endpoint' }).click()
        await page.getByText('No endpoints yet').waitFor()
      },
      STORY_MS,
    )
  })
}
