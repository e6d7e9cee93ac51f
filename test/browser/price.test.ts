import { usdcOf } from '../facilitator/world.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop } from './shop.ts'

const QUANTITY = { price: 2, fields: [], pricing: { kind: 'quantity', min: 1, max: 5 } }
const SIZE = { name: 'size', label: 'Size', type: 'select', options: ['small', 'large'], required: true }

/** The page shows the price of what a customer chooses, and takes exactly that. */
inBrowser('a price that a customer decides', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
    const coupon = { code: 'SPRING', percent: 25 }
    expect((await shop.person.call('POST', '/v1/coupons', { body: coupon })).status).toBe(201)
  })
  afterAll(() => shop.close())
  afterEach(() => {
    expect(shop.problems()).toEqual([])
  })

  it('follows the quantity and a code without moving the page, and is the amount paid', async () => {
    const sale = await shop.sell({ ...QUANTITY, coupons: true, testMode: true })
    const { page, picture } = await shop.visit(sale, { wallet: false, viewport: { width: 390, height: 800 } })
    const total = page.locator('.price .amount')
    expect(await total.textContent()).toBe('2.00')
    for (let n = 0; n < 3; n++) await page.getByRole('button', { name: 'One more' }).click()
    await page.getByText('8.00').first().waitFor()
    await page.getByLabel('Quantity').fill('99')
    await page.getByLabel('Quantity').press('Tab')
    await page.getByText('10.00').first().waitFor()
    expect(await page.getByLabel('Quantity').inputValue()).toBe('5')
    await page.getByLabel('Quantity').fill('98')
    await page.getByLabel('Quantity').press('Tab')
    expect(await page.getByLabel('Quantity').inputValue()).toBe('5')
    await page.getByRole('button', { name: 'One less' }).click()
    await page.getByText('8.00').first().waitFor()

    await page.getByRole('button', { name: 'I have a code' }).click()
    await page.getByLabel('Code', { exact: true }).fill('WINTER')
    await page.getByLabel('Code', { exact: true }).press('Enter')
    await page
      .getByText(/not valid here/)
      .first()
      .waitFor()
    expect(await total.textContent()).toBe('8.00')
    await page.getByLabel('Code', { exact: true }).fill('spring')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('−2.00 USDC').waitFor()
    expect(await total.textContent()).toBe('6.00')
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await shiftsOf(page)).toBeLessThan(0.02)
    await picture('price-quantity-code')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Payment complete').first().waitFor()
    await page.getByText('2.00 USDC with SPRING').waitFor()
    const { body } = await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)
    const lines = { unit: 2, quantity: 4, subtotal: 8, coupon: 'SPRING', discount: 2, total: 6 }
    expect(body.payments[0]).toMatchObject({ amount: 6, lines })
  })

  it('follows the option; a coupon that ends in the meantime is removed, and the new price is paid', async () => {
    const coupon = { code: 'ONCE', amount: 1, max: 1 }
    const created = await shop.person.call('POST', '/v1/coupons', { body: coupon })
    const pricing = { kind: 'byField', field: 'size', prices: { small: 3, large: 7.5 } }
    const sale = await shop.sell({ fields: [SIZE], pricing, coupons: true })
    const { page, payer } = await shop.visit(sale)
    await page.getByLabel('Size').selectOption('large')
    await page.getByText('7.50').first().waitFor()
    await page.getByRole('button', { name: 'I have a code' }).click()
    await page.getByLabel('Code', { exact: true }).fill('once')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('−1.00 USDC').waitFor()
    await shop.person.call('POST', `/v1/coupons/${String(created.body.coupon.id)}/archive`)
    await page
      .getByRole('button', { name: /Test Wallet|Wallet/ })
      .first()
      .click()
    await page.getByRole('button', { name: /^Pay 6\.50/ }).click()
    await page
      .getByText(/not valid here/)
      .first()
      .waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    await page.getByRole('button', { name: 'Remove code' }).click()
    await page.getByRole('button', { name: /^Pay 7\.50/ }).click()
    await page.getByText('Payment complete').first().waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(12_500_000n)
  })

  it('starts with the quantity in the link, and no message to the page changes it', async () => {
    const sale = await shop.sell({ ...QUANTITY, testMode: true })
    const { page } = await shop.visit(sale, { wallet: false })
    await page.goto(`${page.url()}?quantity=3`)
    await page.getByText('6.00').first().waitFor()
    expect(await page.getByLabel('Quantity').inputValue()).toBe('3')
    await page.evaluate(`for (const data of [{ quantity: 1 }, { choice: { quantity: 1 } }, { type: 'coinslot:choice', quantity: 1, amount: 0.01 }])
      window.postMessage(data, '*')`)
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Payment complete').first().waitFor()
    const { body } = await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)
    expect(body.payments[0]).toMatchObject({ amount: 6, lines: { quantity: 3 } })
  })

  it('is the amount that the customer enters, within the bounds', async () => {
    const sale = await shop.sell({
      fields: [],
      pricing: { kind: 'choose', min: 2, max: 50, suggested: 5 },
      testMode: true,
    })
    const { page } = await shop.visit(sale, { wallet: false })
    await page.getByLabel(/Your price/).fill('1')
    await page
      .getByText(/must be at least 2/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    expect((await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)).body.total).toBe(0)
    // What may be another amount is none.
    for (const typed of ['3,000', '3.000,5', '3.000', '']) {
      await page.getByLabel(/Your price/).fill(typed)
      await page.getByText('Enter an amount without thousands separators, such as 1000.50.').waitFor()
      await page.getByRole('button', { name: 'Simulate payment' }).click()
      expect((await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)).body.total).toBe(0)
      await page.getByLabel(/Your price/).fill('5')
      await page.getByText('Enter an amount without').waitFor({ state: 'detached' })
    }
    // Without an answer the price is not known, and is not said to have changed.
    await page.route('**/quote', (route) => route.abort())
    await page.getByLabel(/Your price/).fill('12.5')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('The server did not answer. Try again in a minute.').first().waitFor()
    expect(await page.getByText(/price has changed/).count()).toBe(0)
    await page.unroute('**/quote')
    await page.getByText('12.50').first().waitFor()
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Payment complete').first().waitFor()
    const { body } = await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)
    expect(body.payments[0].amount).toBe(12.5)
  })
})
