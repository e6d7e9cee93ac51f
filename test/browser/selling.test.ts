import type { Page } from 'playwright-core'
import { png } from '../files/pictures.ts'
import { barriers } from './access.ts'
import { inBrowser, picture } from './chromium.ts'
import { isTooWide, openDesk, PASSWORD, STORY_MS, type Desk } from './dashboard/desk.ts'

import { COUNT_SHIFTS, shiftsOf } from './shop.ts'

/** Whether the picture was loaded, and shown. */
const HAS_PICTURE = `document.querySelector('.picture').decode().then(() => document.querySelector('.picture').naturalWidth === 320)`
const GUIDE = Buffer.from('%PDF-1.4\nA guide to round coins.\n')
/** From the empty sign-up form to the file on the buyer's disk. */

inBrowser('a newcomer sells a file', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ RATE_PAY_PER_MINUTE: '0' })
  })
  afterAll(() => desk.close())

  const sizes = [
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 360, height: 740 }],
  ] as const

  async function pictures(page: Page, name: string): Promise<void> {
    for (const [size, viewport] of sizes) {
      await page.setViewportSize(viewport)
      await picture(page, `selling-${name}-${size}`, { fullPage: true })
      expect(await barriers(page)).toEqual([])
      expect(await isTooWide(page)).toBe(false)
    }
    await page.setViewportSize(sizes[0][1])
  }

  it(
    'signs up, uploads it, and the buyer downloads it',
    async () => {
      const { page } = await desk.visit('/sign-in')
      await page.getByRole('button', { name: 'Create an account' }).click()
      await page.getByLabel('Name').fill('Grace Hopper')
      await page.getByLabel('E-mail').fill('newcomer@example.com')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      await page.goto(`${desk.origin}/checkouts/new`)
      await page.getByLabel('Name', { exact: true }).first().fill('A guide to coins')
      await page.getByRole('textbox', { name: 'Price' }).fill('3')
      const cup = { name: 'cup.png', mimeType: 'image/png', buffer: png(320, 200) }
      await page.getByLabel('Picture', { exact: true }).setInputFiles(cup)
      await page.getByText('cup.png').waitFor()
      await page.getByLabel('Hand out a file').check()
      await page.getByLabel('File', { exact: true }).setInputFiles({
        name: 'guide.pdf',
        mimeType: 'application/pdf',
        buffer: GUIDE,
      })
      await page.getByText('guide.pdf').first().waitFor()
      const buyers = page.frameLocator('iframe[title="The page that buyers see"]')
      await buyers.getByRole('heading', { name: 'A guide to coins' }).waitFor()
      await buyers.getByText(/guide\.pdf \(33 bytes\), right after the payment/).waitFor()
      await buyers.locator('.picture').waitFor()
      await pictures(page, 'form')
      await page.getByRole('button', { name: 'Create checkout' }).click()
      const link = page.getByRole('link', { name: /\/p\/chk_/ })
      const address = String(await link.getAttribute('href'))

      const { page: shop } = await desk.visit('/', { viewport: { width: 360, height: 740 } })
      await shop.addInitScript(COUNT_SHIFTS)
      await shop.goto(address)
      await shop.getByText('guide.pdf (33 bytes), right after the payment').waitFor()
      expect(await shop.evaluate<boolean>(HAS_PICTURE)).toBe(true)
      const shifts = await shiftsOf(shop)
      await pictures(shop, 'page')
      await shop.evaluate('window.__shifts = 0')
      await shop.getByRole('button', { name: /Simulate/ }).click()
      await shop.getByRole('heading', { name: 'Payment complete' }).waitFor()
      const [download] = await Promise.all([
        shop.waitForEvent('download'),
        shop.getByRole('link', { name: 'Download guide.pdf' }).click(),
      ])
      expect(download.suggestedFilename()).toBe('guide.pdf')
      const chunks: Buffer[] = []
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
      expect(Buffer.concat(chunks).equals(GUIDE)).toBe(true)
      expect(shifts + (await shiftsOf(shop))).toBeLessThan(0.02)
      await pictures(shop, 'paid')
    },
    STORY_MS,
  )

  it(
    'shows only the fields that a choice makes necessary',
    async () => {
      const { page, call } = await desk.sit('/checkouts/new')
      await page.getByLabel('Name', { exact: true }).first().fill('A visit')
      await page.getByLabel('Show a text').check()
      await page.getByLabel('Text', { exact: true }).fill('# See you <b>soon</b>\n\n[map](javascript:alert(1))')
      await page.getByRole('button', { name: 'Add a field' }).click()
      await page.getByLabel('Label').fill('Who comes?')
      await page.getByLabel('Name', { exact: true }).nth(1).fill('who')
      await page.getByLabel('Type', { exact: true }).selectOption('select')
      await page.getByLabel('Choices').fill('Person\nCompany')
      await page.getByRole('button', { name: 'Add a field' }).click()
      await page.getByLabel('Label').nth(1).fill('VAT number')
      await page.getByLabel('Name', { exact: true }).nth(2).fill('vat')
      const labels = async () => [
        await page.getByLabel('Label').nth(0).inputValue(),
        await page.getByLabel('Label').nth(1).inputValue(),
      ]
      // Dragged by its handle above the first, and put back with the button, as without a pointer.
      const handle = (await page.locator('[data-handle]').nth(1).boundingBox())!
      const first = (await page.locator('[data-rows] > fieldset').first().boundingBox())!
      await page.mouse.move(handle.x + 10, handle.y + 10)
      await page.mouse.down()
      await page.mouse.move(handle.x, first.y + 20, { steps: 4 })
      await picture(page, 'selling-dragging')
      await page.mouse.up()
      expect(await labels()).toEqual(['VAT number', 'Who comes?'])
      await page.getByRole('button', { name: 'Move field 2 up' }).click()
      expect(await labels()).toEqual(['Who comes?', 'VAT number'])
      await page.getByLabel('Show', { exact: true }).selectOption('If “Who comes?” is')
      await page.getByLabel('Value').selectOption('Company')
      await pictures(page, 'conditions')
      await page.getByRole('button', { name: 'Create checkout' }).click()
      await page.getByText('No payments yet').waitFor()
      const [created] = (await call('GET', '/v1/checkouts')).body.checkouts
      expect(created.fields[1]).toMatchObject({ name: 'vat', showIf: { field: 'who', equals: 'Company' } })

      const { page: shop } = await desk.visit(`/p/${String(created.id)}`)
      const vat = shop.getByLabel('VAT number')
      expect(await vat.isVisible()).toBe(false)
      await shop.getByLabel('Who comes?').selectOption('Company')
      await vat.waitFor()
      await shop.getByRole('button', { name: 'Simulate payment' }).click()
      await shop.getByText('This field is required.').waitFor()
      await vat.fill('DE1')
      await shop.getByLabel('Who comes?').selectOption('Person')
      await vat.waitFor({ state: 'hidden' })
      await shop.getByRole('button', { name: 'Simulate payment' }).click()
      await shop.getByRole('heading', { name: /See you <b>soon/ }).waitFor()
      expect(await shop.locator('a[href^="javascript:"]').count()).toBe(0)
      await pictures(shop, 'text')
      const { payments } = (await call('GET', `/v1/checkouts/${String(created.id)}/payments`)).body
      expect(payments[0].input).toEqual({ who: 'Person' })
      await Promise.all([
        shop.waitForResponse(/\/receipts\/pay_/),
        shop.getByRole('link', { name: 'Link to come back' }).click(),
      ])
      await shop.getByRole('heading', { name: /See you <b>soon/ }).waitFor()
    },
    STORY_MS,
  )

  it('sends no request to another origin and causes no error', () => {
    expect(desk.problems()).toEqual([])
  })
})
