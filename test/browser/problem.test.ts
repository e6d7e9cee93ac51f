import { addSale } from '../refunds/sales.ts'
import { disputeOf } from '../disputes/reports.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop } from './shop.ts'

inBrowser('a buyer whose order did not come', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
    shop.receiver.answers((response) => void response.writeHead(200).end('{}'))
  })
  afterAll(() => shop.close())

  it.each([
    [1280, 'light'],
    [360, 'dark'],
  ] as const)('reports it on the page, and sees the outcome, %d wide', async (width, colorScheme) => {
    const sale = await shop.sell({ testMode: true, fields: [] })
    for (let at = 0; at < 25; at++) await addSale(shop.service, shop.person, { subject: sale.id })
    const settings = { viewport: { width, height: 800 }, colorScheme } as const
    const visit = await shop.visit(sale, { ...settings, wallet: false })
    const { page } = visit
    const look = async (step: string) => {
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await visit.picture(`problem-${step}-${String(width)}`)
    }
    await page.getByText('20+ customers, 0% refunded, 0% disputed').waitFor()
    await look('offer')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    await page.getByRole('button', { name: 'Report a problem' }).waitFor()
    await look('paid')
    await page.getByRole('button', { name: 'Report a problem' }).click()
    await page.getByLabel('What is wrong?').selectOption({ label: 'What I got does not work' })
    await page.getByLabel('What happened?').fill('The report is empty.')
    await look('form')
    await page.getByRole('button', { name: 'Report problem' }).click()
    await page.getByText('You reported a problem. The seller can answer until').waitFor()
    await look('reported')
    const { id, saleId } = await disputeOf(shop.service, (await page.locator('.whole').first().innerText()).trim())
    const body = { action: 'refund', text: 'Sorry for that.' }
    expect((await shop.person.call('POST', `/v1/disputes/${id}/answer`, { body })).status).toBe(200)
    await page.reload()
    await page.getByText('and you were refunded. The seller writes: “Sorry for that.”').waitFor()
    await look('refunded')
    expect(await shiftsOf(page)).toBeLessThan(0.02)
    expect(await disputeOf(shop.service, saleId)).toMatchObject({ reason: 'service_defective', state: 'refunded' })
    expect(shop.problems()).toEqual([])
  })
})
