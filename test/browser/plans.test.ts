import type { Page } from 'playwright-core'
import { usdcOf } from '../facilitator/world.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop } from './shop.ts'

const TEN = { id: 'ten', name: 'Ten runs', price: 12, kind: 'runs', runs: 10 }

/** Clicks this; the service gets the call, and the page nothing. */
async function loseAnswer(page: Page, button: string): Promise<void> {
  const path = '**/pay'
  let sent = false
  const lost = new Promise<void>((resolve, reject) => {
    void page.route(path, async (route) => {
      if (sent) return await route.abort()
      sent = true
      const answer = await route.fetch()
      if (answer.status() === 200) resolve()
      else reject(new Error(await answer.text()))
      await route.abort()
    })
  })
  await page.getByRole('button', { name: button }).click()
  await lost
  await page.unroute(path)
}

inBrowser('a customer who pays ahead, or not at all', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it('chooses a plan, pays its price once, and uses its runs on this device without the wallet', async () => {
    const sale = await shop.sell({ plans: [TEN] })
    const { page, wallet, payer, picture } = await shop.visit(sale)
    await page.getByLabel('Website').fill('https://example.com')
    await page.getByRole('radio', { name: /Ten runs/ }).check()
    await picture('plans-1-chosen')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 12.00 USDC' }).click()
    await page.getByRole('region', { name: 'Ten runs' }).getByText('9 runs left (Ten runs)').waitFor()
    await picture('plans-2-bought')
    expect(await usdcOf(shop.chain, payer.address)).toBe(8_000_000n)
    const link = await page.getByRole('link', { name: 'the link to your runs' }).getAttribute('href')
    expect(link).toMatch(/#pass=pst_[\w-]{43}$/)

    await page.goto(new URL(page.url()).origin + new URL(page.url()).pathname)
    await page.locator('form').getByText('9 runs left (Ten runs)').waitFor()
    await page.getByLabel('Website').fill('https://example.com/2')
    await page.getByRole('button', { name: 'Use a run' }).click()
    await page.getByText('Order started').waitFor()
    await page.getByRole('region', { name: 'Ten runs' }).getByText('8 runs left (Ten runs)').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(8_000_000n)
    expect(wallet.requests.filter((method) => /sign/i.test(method))).toHaveLength(1)
  })

  it('gets the result of a run whose answer was lost, and uses no other run, when the page is loaded again', async () => {
    const { page } = await shop.visit(await shop.sell({ plans: [TEN], fields: [] }))
    await page.getByRole('radio', { name: /Ten runs/ }).check()
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 12.00 USDC' }).click()
    await page.getByRole('region', { name: 'Ten runs' }).getByText('9 runs left (Ten runs)').waitFor()
    await page.goto(new URL(page.url()).origin + new URL(page.url()).pathname)
    await loseAnswer(page, 'Use a run')
    await page.reload()
    await page.getByText('Order started').waitFor()
    await page.getByRole('region', { name: 'Ten runs' }).getByText('8 runs left (Ten runs)').waitFor()
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => !key.startsWith("coinslot:pass:"))')).toEqual(
      [],
    )
  })

  it('gets what a free code bought once, when the page is loaded again before the answer', async () => {
    const created = await shop.person.call('POST', '/v1/coupons', { body: { code: 'GIFT', percent: 100, max: 1 } })
    expect(created.status).toBe(201)
    const { page } = await shop.visit(await shop.sell({ coupons: true, fields: [] }), { wallet: false })
    await page.getByRole('button', { name: 'I have a code' }).click()
    await page.getByRole('textbox', { name: /code/i }).fill('GIFT')
    await page.getByRole('button', { name: 'Apply' }).click()
    await loseAnswer(page, 'Get it free')
    await page.reload()
    await page.getByText('Order started').waitFor()
  })

  it('tries it free with a signature, as often as the seller allows', async () => {
    const sale = await shop.sell({ trialRuns: 1 })
    const { page, wallet, payer } = await shop.visit(sale)
    await page.getByLabel('Website').fill('https://example.com/ü')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Try it free (1 left)' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    expect(wallet.requests.filter((method) => method === 'personal_sign')).toHaveLength(1)
    await page.goto(new URL(page.url()).origin + new URL(page.url()).pathname)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    expect(await page.getByRole('button', { name: /Try it free/ }).count()).toBe(0)
  })
})
