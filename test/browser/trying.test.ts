import type { BrowserContextOptions } from 'playwright-core'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, SITE, type Shop, type Visit } from './shop.ts'
import { until } from '../checkouts/world.ts'

const LOOKS = [
  ['light', 1280],
  ['dark', 390],
] as const

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const REPORT = {
  summary: [
    '## What to fix first',
    'The page is **slow**. See [the guide](https://example.com/guide) or <b onclick=alert(1)>mail</b>.',
    '',
    '- Compress pictures',
    '- [Run this](javascript:alert(1))',
    '',
    '| Check | Score |',
    '|---|---|',
    '| Speed | `41` |',
    '',
    '![Chart](https://tracker.example/p.png)',
  ].join('\n'),
  pages: [
    { address: 'https://example.com/a', status: 200 },
    { address: 'https://example.com/b', status: 404 },
  ],
  chart: `data:image/png;base64,${PNG}`,
  report: { fileName: 'report.csv', contentType: 'text/csv', base64: Buffer.from('a,b\n1,2\n').toString('base64') },
}

inBrowser('a checkout that is tried out', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const visit = async (terms: Record<string, unknown>, settings: BrowserContextOptions = {}): Promise<Visit> =>
    await shop.visit(await shop.sell({ testMode: true, fields: [], ...terms }), {
      wallet: false,
      ...settings,
    })

  /** Wide and light, narrow and dark. */
  const checkLook = async ({ page, picture }: Visit, step: string): Promise<void> => {
    for (const [colorScheme, width] of LOOKS) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await picture(`${step}-${colorScheme}-${width}`)
    }
  }

  it("shows an answer's texts, links, tables, pictures and files, and loads nothing from elsewhere", async () => {
    shop.receiver.answers((response) => void response.writeHead(200).end(JSON.stringify(REPORT)))
    const shown = await visit({ responseMode: 'lastNode' })
    const { page } = shown
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByRole('heading', { name: 'What to fix first' }).waitFor()
    const link = page.getByRole('link', { name: 'the guide' })
    expect(await link.getAttribute('href')).toBe('https://example.com/guide')
    expect(await link.getAttribute('rel')).toContain('noreferrer noopener')
    expect(await page.getByRole('link', { name: 'Image: Chart' }).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Run this' }).count()).toBe(0)
    expect(await page.locator('.answer b').count()).toBe(0)
    expect(await page.getByRole('table').count()).toBe(2)
    expect(await page.evaluate(`document.querySelector('.file img[alt="answer.png"]').naturalWidth`)).toBe(1)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save report.csv' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('report.csv')
    await checkLook(shown, 'answer')
    // The address of the payment shows it again, to the buyer.
    await page.reload()
    await page.getByRole('heading', { name: 'What to fix first' }).waitFor()
    await page.getByRole('button', { name: 'Show original' }).click()
    expect(await page.locator('.answer pre').textContent()).toContain('"fileName": "report.csv"')
    shop.receiver.answers((response) => void response.writeHead(200).end('{}'))
    expect(shop.problems()).toEqual([])
  })

  it('is filled in and locked by its link, which pays nothing by itself', async () => {
    const fields = [...SITE, { name: 'note', label: 'Note', type: 'text', required: false }]
    const sale = await shop.sell({ fields, testMode: true })
    const { page } = await shop.visit(
      { id: `${sale.id}?site=a.example&lock=site&f.note=hi&price=0` },
      { wallet: false },
    )
    const site = page.getByLabel('Website')
    await until(async () => (await site.inputValue()) === 'a.example' && !(await site.isEditable()))
    expect(await page.getByLabel('Note').inputValue()).toBe('hi')
    await page.getByLabel('Note').fill('typed')
    await page.reload()
    await until(async () => (await page.getByLabel('Note').inputValue()) === 'typed')
    expect(await site.inputValue()).toBe('a.example')
    // A delivery of the test before may still come.
    expect(shop.receiver.calls.filter(({ body }) => body.includes(sale.id))).toEqual([])
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Order started').waitFor()
    expect(JSON.parse(shop.receiver.calls.at(-1)!.body).input).toEqual({ site: 'https://a.example', note: 'typed' })
  })

  it("keeps the form's input over a reload until it is paid, and accepts an address without https://", async () => {
    const { page } = await visit({
      fields: [
        { name: 'site', type: 'url', required: true },
        { name: 'deep', type: 'boolean' },
        { name: 'document', type: 'file' },
      ],
    })
    await page.locator('#field-site').fill('example.com/shop')
    await page.locator('#field-deep').check()
    await page.getByRole('button', { name: 'or enter a link' }).click()
    await page.getByLabel('Link to the file').fill('https://example.com/report.pdf')
    const address = page.url()
    await page.goto('about:blank')
    await page.goto(address)
    await until(async () => (await page.locator('#field-site').inputValue()) === 'example.com/shop')
    expect(await page.locator('#field-deep').isChecked()).toBe(true)
    expect(await page.getByLabel('Link to the file').inputValue()).toBe('https://example.com/report.pdf')
    const callsBefore = shop.receiver.calls.length
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Order started').waitFor()
    expect(JSON.parse(shop.receiver.calls[callsBefore]!.body).input).toMatchObject({ site: 'https://example.com/shop' })
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  it('ends with the outcome that its customer chooses, as with real money', async () => {
    const shown = await visit({ fields: [{ name: 'outcome', type: 'text' }] })
    const { page, picture } = shown
    const choose = async (label: string): Promise<void> => {
      await page.getByLabel('Outcome', { exact: true }).selectOption({ label })
      await page.getByRole('button', { name: 'Simulate payment' }).click()
    }
    await page.getByLabel('outcomeOptional').fill('mine')
    await checkLook(shown, 'simulate')
    await choose('Payment is declined')
    await page.getByRole('heading', { name: 'The payment did not go through' }).waitFor()
    await page.locator('.outcome').getByText('The network refused the payment. Nothing was charged.').waitFor()
    await picture('declined')
    await page.getByRole('button', { name: 'Try again' }).click()
    await choose('Balance is too low')
    await page.locator('.outcome').getByText('There is too little USDC in the wallet. Nothing was charged.').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    const callsBefore = shop.receiver.calls.length
    await choose('Payment takes a few seconds')
    await page.getByRole('heading', { name: 'Simulating your payment' }).waitFor()
    shop.service.clock.forward(6_000)
    await shop.service.sales.sales(shop.service.clock.now())
    await page.getByText('Order started').waitFor()
    expect(JSON.parse(shop.receiver.calls[callsBefore]!.body).input).toEqual({ outcome: 'mine' })
    expect(shop.receiver.calls).toHaveLength(callsBefore + 1)
    await page.goto(page.url().split('?')[0]!)
    await choose('Delivery fails')
    await page.getByRole('heading', { name: 'Paid, but not delivered' }).waitFor()
    await page.getByText('Attempt 1').waitFor()
    await page.getByText('Simulated: the workflow was not called.').waitFor()
    await checkLook(shown, 'delivery-failed')
    expect(shop.receiver.calls).toHaveLength(callsBefore + 1)
  })

  it.each([
    ['onSuccess', 'Only if your order succeeds', ''],
    ['escrow', 'Until then your money waits in a contract.', 'escrow-'],
  ])('charges only for an order that succeeds, and says so at each step: %s', async (capture, promise, prefix) => {
    const terms = { capture, responseMode: 'lastNode', testMode: false, fields: [] }
    let finish: (status: number) => void = () => undefined
    shop.receiver.answers((response) => {
      finish = (status) => void response.writeHead(status).end('{"report":"All is well."}')
    })
    const shown = await shop.visit(await shop.sell(terms))
    const { page } = shown
    await page.getByText(promise).waitFor()
    const order = async (): Promise<void> => {
      const { length } = shop.receiver.calls
      await page.getByRole('button', { name: /^Pay 5/ }).click()
      await page.getByRole('heading', { name: 'Your order is being prepared' }).waitFor()
      await shop.receiver.waitForCalls(length + 1)
    }
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await order()
    await checkLook(shown, `${prefix}held`)
    expect(await page.locator('.outcome').textContent()).not.toContain('All is well')
    finish(410)
    await page.getByRole('heading', { name: 'Your order could not be completed' }).waitFor()
    await page.locator('.outcome').getByText('The order could not be completed. Nothing was charged.').waitFor()
    await checkLook(shown, `${prefix}given-up`)
    await page.getByRole('button', { name: 'Try again' }).click()
    await order()
    finish(200)
    await page.getByText('All is well.').waitFor()
    await page.getByText('Order completed').waitFor()
    await checkLook(shown, `${prefix}charged-after`)
    shop.receiver.answers((response) => void response.writeHead(200).end('{}'))
    expect(shop.problems()).toEqual([])
  })
})
