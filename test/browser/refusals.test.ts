import { until } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { inBrowser } from './chromium.ts'
import { openShop, SITE, type Shop, type Visit } from './shop.ts'

inBrowser('what can go wrong on the way to a payment', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const signatures = ({ wallet }: Visit): number =>
    wallet.requests.filter((one) => one === 'eth_signTypedData_v4').length

  it('a customer who declines to connect, or to sign, sees that nothing was charged and can retry', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [] }))
    const { page, wallet, payer, picture } = visit
    wallet.declines('eth_requestAccounts')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('status').getByText('You did not connect a wallet').waitFor({ state: 'attached' })
    wallet.declines('eth_signTypedData_v4')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('form').getByText('You declined in your wallet. Nothing was charged.').waitFor()
    await picture('refused')
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    wallet.declines()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
  })

  it("a text that does not match shows the seller's own message, and not the pattern", async () => {
    const words = 'An order number is <b>ORD-</b> and four digits, as on your invoice.'
    const sale = await shop.sell({
      fields: [
        {
          ...{ name: 'order', label: 'Order number', type: 'text', required: true },
          ...{ pattern: 'ORD-[0-9]{4}', patternMessage: words },
        },
      ],
    })
    const { page, payer, picture } = await shop.visit(sale)
    const field = page.getByLabel('Order number')
    const fault = page.locator('.fault').first()
    await field.fill('4711')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await fault.waitFor()
    expect(await fault.textContent()).toBe(words)
    expect(await page.locator('form').innerText()).not.toContain('[0-9]')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await picture('pattern-message')
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    await field.fill('ORD-4711')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
  })

  it('a wallet on another network is switched, also when it has to add the network first', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [] }), { wallet: { chainId: 1, ignorant: true } })
    const { page, wallet, picture } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    const change = page.getByRole('button', { name: 'Switch to Base Sepolia' })
    await change.waitFor()
    await picture('wrong-network')
    wallet.declines('wallet_switchEthereumChain')
    await change.click()
    await page.locator('form').getByText('The network was not switched.').waitFor()
    wallet.declines()
    await change.click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    expect(wallet.requests).toContain('wallet_addEthereumChain')

    // And back, without notifying the page.
    await wallet.moveTo(page, 1)
    await change.waitFor()
    expect(signatures(visit)).toBe(0)
  })

  it('a wallet with too little money shows the missing amount, and pays once it has come', async () => {
    const { page, payer, wallet, picture } = await shop.visit(await shop.sell({ fields: [] }), { usdc: 1_500_000n })
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByText('You need 3.50 USDC more').waitFor()
    expect(await page.getByRole('button', { name: 'Pay 5.00 USDC' }).count()).toBe(0)
    await picture('not-enough')
    const again = page.getByRole('button', { name: 'Check again' })
    await again.click()
    await shop.chain.fund(payer.address, 5_000_000n)
    // The page also checks by itself, and may be first.
    await again.click({ timeout: 2_000 }).catch(() => undefined)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(0n)
    // The page checks now and then, and does not flood the wallet with requests meanwhile.
    expect(wallet.requests.filter((one) => one === 'eth_call').length).toBeLessThan(8)
  })

  it('a wallet that lies about its balance is refused by the server, and nothing is taken', async () => {
    const { page, payer } = await shop.visit(await shop.sell({ fields: [] }))
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByText('20.00 USDC').waitFor()
    await shop.chain.fund(payer.address, 1n)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('form .notice-bad').getByText('Nothing was charged.').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(1n)
  })

  it("shows each field's error beside it, and focuses the first", async () => {
    const fields = [
      { name: 'plan', label: 'Plan', type: 'select', required: true, options: ['Small', 'Large'] },
      { name: 'pages', label: 'Pages', type: 'number', required: true, min: 1, max: 500 },
      { name: 'mail', label: 'E-mail', type: 'email', required: true },
      ...SITE,
      { name: 'extra', label: 'Extra', type: 'json', required: false },
    ]
    const visit = await shop.visit(await shop.sell({ fields }))
    const { page, picture } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByLabel('Pages').fill('501')
    await page.getByLabel('E-mail', { exact: true }).fill('ada@')
    await page.getByLabel('Website').fill('nowhere')
    await page.getByLabel('Extra').fill('{')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('.fault').first().waitFor()
    await picture('field-errors')
    const faultOf = async (name: string): Promise<unknown> =>
      await page.evaluate(
        `((field) => [field.getAttribute('aria-invalid'), document.getElementById(field.getAttribute('aria-describedby')).textContent])(document.getElementById('field-${name}'))`,
      )
    expect(await faultOf('plan')).toEqual(['true', 'Choose an option.'])
    expect(await faultOf('pages')).toEqual(['true', 'Enter 500 or less.'])
    expect(await faultOf('mail')).toEqual(['true', 'Enter an e-mail address, such as name@example.com.'])
    expect(await faultOf('site')).toEqual(['true', 'Enter a full web address, such as https://example.com.'])
    expect(await faultOf('extra')).toEqual(['true', 'This is not valid JSON.'])
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'field-plan')
    expect(signatures(visit)).toBe(0)
  })

  it('shows an error found by the server beside its field, without a second signature', async () => {
    const fields = [{ name: 'code', label: 'Code', type: 'text', required: true, pattern: '[A-Z]{3}-[0-9]+' }]
    const visit = await shop.visit(await shop.sell({ fields }))
    const { page, payer } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByLabel('Code').fill('abc')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('#field-code-error').getByText('must match').waitFor()
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'field-code')
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    await page.getByLabel('Code').fill('ABC-1')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(signatures(visit)).toBe(1)
  })

  it('an expired quote is renewed: the same price is paid with the same signature', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [] }))
    const { page, payer } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    shop.service.clock.forward(11 * 60_000)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(signatures(visit)).toBe(1)
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
  })

  it('a changed price is shown before any payment', async () => {
    const source = { instanceId: 'i', workflowId: 'w', nodeId: 'n' }
    const visit = await shop.visit(await shop.sell({ fields: [], source }))
    const { page, payer, picture } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    await shop.sell({ fields: [], source, price: 7.25 })
    shop.service.clock.forward(11 * 60_000)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('form').getByText('The price has changed. It is now 7.25 USDC.').waitFor()
    await picture('price-changed')
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    await page.getByRole('button', { name: 'Pay 7.25 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(12_750_000n)
    expect(signatures(visit)).toBe(2)
  })

  it('charges nothing while the workflow does not answer, and says so', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [], preflight: true }))
    const { page, payer, picture } = visit
    shop.receiver.answers((response) => void response.writeHead(404).end())
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Not available right now' }).waitFor()
    await picture('unavailable')
    expect(await usdcOf(shop.chain, payer.address)).toBe(20_000_000n)
    shop.receiver.answers((response) => void response.writeHead(200).end('{"ok":true}'))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(signatures(visit)).toBe(1)
  })

  it('a link that ended says so, before and while the page is open', async () => {
    const sale = await shop.sell({ fields: [] })
    const { page } = await shop.visit(sale)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    await shop.person.call('DELETE', `/v1/checkouts/${sale.id}`)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByRole('heading', { name: 'This payment link has expired' }).waitFor()
    const answer = await page.goto(`${shop.service.origin}/p/${sale.id}`)
    expect(answer?.status()).toBe(404)
    await page.getByRole('heading', { name: 'This payment link does not exist or has expired' }).waitFor()
  })

  it('a browser without a wallet says so', async () => {
    const { page, picture } = await shop.visit(await shop.sell(), { wallet: false })
    await page.getByText('There is no wallet in this browser.').waitFor()
    await picture('no-wallet')
  })

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})
