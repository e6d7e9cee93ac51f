import { Webhook } from 'standardwebhooks'
import { usdcOf } from '../facilitator/world.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop } from './shop.ts'

inBrowser('a customer with a wallet', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it('fills in the form, connects, signs once, and sees the workflow started; the delivery is signed', async () => {
    const sale = await shop.sell()
    const before = await usdcOf(shop.chain, shop.chain.accounts[3]!.address)
    const { page, wallet, payer, picture } = await shop.visit(sale)
    await page.getByLabel('Website').fill('https://example.com/shop?a=1&b=ü')
    await picture('1-form')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByText('20.00 USDC').waitFor()
    await picture('2-connected')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    await picture('3-started')

    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
    expect(await usdcOf(shop.chain, shop.chain.accounts[3]!.address)).toBe(before + 5_000_000n)
    expect(wallet.requests.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1)
    expect(await page.title()).toBe('Paid · SEO audit')

    const [call, ...more] = shop.receiver.calls
    expect(more).toEqual([])
    const delivery = new Webhook(sale.secret).verify(call!.body, call!.headers as Record<string, string>)
    const txHash = (delivery as { payment: { txHash: string } }).payment.txHash
    expect(delivery).toMatchObject({
      payment: {
        amount: 5,
        currency: 'USDC',
        network: 'base-sepolia',
        payer: expect.stringMatching(new RegExp(payer.address, 'i')),
      },
      input: { site: 'https://example.com/shop?a=1&b=ü' },
      metadata: { checkoutId: sale.id },
    })
    const receipt = page.getByRole('region', { name: 'Receipt' })
    const link = receipt.getByRole('link', { name: /opens the block explorer/ })
    expect(await link.getAttribute('href')).toBe(`https://sepolia.basescan.org/tx/${txHash}`)
  })

  it('pays with a wallet that is only in window.ethereum, by the keyboard alone', async () => {
    const { page, payer } = await shop.visit(await shop.sell(), { wallet: { found: 'injected' } })
    await page.getByRole('button', { name: 'Browser wallet' }).waitFor()
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement.id || document.activeElement.textContent')
    while ((await focused()) !== 'field-site') await page.keyboard.press('Tab')
    await page.keyboard.type('https://example.com')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('receipt-address')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Browser wallet')
    await page.keyboard.press('Enter')
    await page.getByText('20.00 USDC').waitFor()
    while ((await focused()) !== 'Pay 5.00 USDC') await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Order started').waitFor()
    // The focus moves to the result, so that a screen reader continues there.
    expect(await focused()).toBe('Payment complete')
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
  })

  it("sees the workflow's answer as plain text, also when it is HTML", async () => {
    const answer = '<img src=x onerror=alert(1)> & <b>done</b>'
    shop.receiver.answers((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(answer))
    const { page, picture } = await shop.visit(await shop.sell({ responseMode: 'lastNode', fields: [] }))
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await page.locator('pre').textContent()).toBe(answer)
    expect(await page.locator('.answer').locator('img, b').count()).toBe(0)
    await picture('4-answer')
    shop.receiver.answers((response) => void response.writeHead(200).end('{}'))
  })

  it("is redirected to the seller, with the ids added to the address's own query", async () => {
    const redirectUrl = `${shop.service.origin}/healthz?order=7&name=a%20b`
    const sale = await shop.sell({ redirectUrl, fields: [] })
    const { page, picture } = await shop.visit(sale)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Continuing automatically').waitFor()
    await picture('5-redirect')
    const id = new URL(page.url()).searchParams.get('payment')!
    await page.waitForURL(/healthz/)
    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toEqual({ order: '7', name: 'a b', checkout_id: sale.id, payment_id: id })

    // Going back shows the receipt, and the page stays there.
    await page.goBack()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    expect(await page.getByText('Continuing automatically').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Continue to' }).isVisible()).toBe(true)
  })

  it('simulates a payment in test mode, without a wallet', async () => {
    const sale = await shop.sell({ testMode: true, network: 'base', recipient: undefined })
    const count = shop.receiver.calls.length
    const { page, picture } = await shop.visit(sale, { wallet: false })
    expect(await page.getByRole('note').textContent()).toContain('Test mode')
    await page.getByLabel('Website').fill('https://example.com')
    await picture('6-test-mode')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Order started').waitFor()
    await picture('7-simulated')
    const [call] = shop.receiver.calls.slice(count)
    expect(call!.headers['coinslot-test']).toBe('true')
    const delivery = new Webhook(sale.secret).verify(call!.body, call!.headers as Record<string, string>)
    expect(delivery).toMatchObject({ payment: { txHash: expect.stringMatching(/^simulated:pay_/) } })
  })

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})
