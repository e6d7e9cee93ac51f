import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop } from './shop.ts'

inBrowser('documents on the page of a payment', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it('shows the receipt as a file, and issues an invoice for the details that the buyer enters', async () => {
    const settings = {
      enabled: true,
      sellerName: 'Müller GmbH',
      sellerAddress: 'Allee 1',
      taxPercent: 19,
      prefix: 'ACME',
    }
    expect((await shop.person.call('PATCH', '/v1/invoicing', { body: settings })).status).toBe(200)
    const { page, picture } = await shop.visit(await shop.sell({ testMode: true, fields: [] }), {
      wallet: false,
    })
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByRole('button', { name: 'Get an invoice' }).click()
    const form = page.getByRole('form', { name: 'Get an invoice' })
    await form.getByLabel('Name or company').fill('株式会社カフェ')
    await form.getByLabel('Address').fill('東京都新宿区西新宿二丁目8番1号\n〒160-0023')
    await form.getByLabel('Country').fill('jp')
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: scheme })
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await picture(`invoice-form-${scheme}-${String(width)}`)
    }
    await form.getByRole('button', { name: 'Issue invoice' }).click()
    const link = page.getByRole('link', { name: /^Invoice TEST-ACME-\d{4}-000001/ })
    await link.waitFor()
    await picture('invoice-issued-dark-390')
    expect(await page.getByRole('button', { name: 'Get an invoice' }).count()).toBe(0)
    const { body } = await shop.person.call('GET', '/v1/invoices')
    expect(body.invoices[0].buyer).toMatchObject({ name: '株式会社カフェ', country: 'JP', taxId: '' })
    expect(await shiftsOf(page)).toBeLessThan(0.02)
    const file = await fetch(new URL((await link.getAttribute('href')) ?? '', shop.service.origin))
    expect(file.headers.get('content-type')).toBe('application/pdf')
    expect(shop.problems()).toEqual([])
    // A reload shows the same, in the reader's language.
    await page.reload()
    await link.waitFor()
  })
})
