import { until } from '../harness/until.ts'
import { inBrowser, picture } from './chromium.ts'
import { openShop, type Shop } from './shop.ts'

const FIELDS = [{ name: 'paper', label: 'Your paper', type: 'file', required: true }]
const PDF = { name: 'My paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 the paper') }

inBrowser('a form that asks for a file', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const chooser = '#field-paper'

  it.each([
    ['desktop', { width: 1280, height: 900 }],
    ['phone', { width: 360, height: 740 }],
  ])('uploads it, keeps it over a reload, and sends its link: %s', async (name, viewport) => {
    const sale = await shop.sell({ fields: FIELDS, testMode: true })
    const { page } = await shop.visit(sale, { wallet: false, viewport })
    await page.getByText('At most 10 MB.').waitFor()
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('This field is required.').waitFor()
    await picture(page, `upload-empty-${name}`, { fullPage: true })
    await page.locator(chooser).setInputFiles(PDF)
    await page.getByText('Choose another file').waitFor()
    await page.getByRole('status').getByText('18 bytes').waitFor()
    await page.reload()
    await page.getByRole('status').getByText('My paper.pdf').waitFor()
    await picture(page, `upload-done-${name}`, { fullPage: true })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Order started').waitFor()
    const delivered = await until(() => shop.receiver.calls.find(({ body }) => body.includes(sale.id)))
    const link = new URL((JSON.parse(delivered.body) as { input: { paper: string } }).input.paper)
    const fetched = await fetch(shop.service.origin + link.pathname + link.search)
    expect([fetched.status, await fetched.text()]).toEqual([200, '%PDF-1.7 the paper'])
    expect(shop.problems()).toEqual([])
  })

  it('says what is wrong with one, and takes another one or a link', async () => {
    const sale = await shop.sell({ fields: FIELDS, testMode: true })
    const { page } = await shop.visit(sale, { wallet: false })
    await page.locator(chooser).setInputFiles({ ...PDF, buffer: Buffer.alloc(10_000_001) })
    await page.getByRole('alert').getByText('The file is too large: at most 10 MB.').waitFor()
    await page.locator(chooser).setInputFiles({ ...PDF, buffer: Buffer.alloc(0) })
    await page.getByRole('alert').getByText('The file is empty.').waitFor()
    await page.route('**/files?**', (route) => route.abort())
    await page.locator(chooser).setInputFiles(PDF)
    await page.getByRole('alert').getByText('The file could not be uploaded.').waitFor()
    await picture(page, 'upload-failed', { fullPage: true })
    await page.unroute('**/files?**')
    await page.locator(chooser).setInputFiles(PDF)
    await page.getByRole('status').getByText('My paper.pdf').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'or enter a link' }).click()
    await page.getByLabel('Link to the file').fill('https://example.com/a.pdf')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Order started').waitFor()
    const delivered = await until(() => shop.receiver.calls.find(({ body }) => body.includes(sale.id)))
    expect(JSON.parse(delivered.body)).toMatchObject({ input: { paper: 'https://example.com/a.pdf' } })
  })
})
