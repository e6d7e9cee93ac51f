import type { BrowserContextOptions } from 'playwright-core'
import { qrOf } from '../../service/checkouts/service/presenter.ts'
import { usdcOf } from '../facilitator/world.ts'
import { until } from '../harness/until.ts'
import { json, startUpstream, type Upstream } from '../paywall/upstream.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, SITE, type Shop, type Visit } from './shop.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1'
const DEVICES = [
  ['desktop', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: { width: 390, height: 800 }, userAgent: PHONE, colorScheme: 'dark' }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]
const FAUCET = 'https://faucet.circle.com/'
const FIELDS = [...SITE, { name: 'deep', label: 'In depth', type: 'boolean', required: false }]

inBrowser('a person who pays without knowing crypto', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  /** A picture of a state, which is open to all, fits, and has not moved under its reader. */
  const look = async ({ page, picture }: Visit, state: string): Promise<void> => {
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await picture(`beginner-${state}`)
  }
  const usdcLink = async ({ page }: Visit): Promise<string | null> =>
    await page.getByRole('link', { name: 'Get test USDC' }).getAttribute('href')

  it('sees what USDC is and where to get it, and pays the filled-in order on a phone by QR code', async () => {
    const sale = await shop.sell({ fields: FIELDS })
    const settings = { ...DEVICES[0][1], wallet: false } as const
    const visit = await shop.visit({ id: `${sale.id}?lang=en` }, settings)
    const { page } = visit
    await page.getByText('This page takes test USDC').waitFor()
    expect(await usdcLink(visit)).toBe(FAUCET)
    await look(visit, 'no-wallet-desktop')
    await page.getByLabel('Website').fill('example.com/private')
    await page.getByLabel('In depth').check()
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/drafts')),
      page.getByRole('button', { name: 'Pay from another device' }).click(),
    ])
    const { url } = (await answer.json()) as { url: string }
    const code = page.getByRole('img', { name: 'The link to this order as a QR code' })
    await code.waitFor()
    expect(await code.getAttribute('src')).toBe(`data:image/svg+xml,${encodeURIComponent(qrOf(url))}`)
    expect(url).not.toContain('private')
    await look(visit, 'code-desktop')

    const link = new URL(url)
    const other = await shop.visit({ id: `${sale.id}${link.search}` }, DEVICES[1][1])
    await other.page.getByText('This order was started on another device.').waitFor()
    expect(await other.page.getByLabel('Website').inputValue()).toBe('example.com/private')
    expect(await other.page.getByLabel('In depth').isChecked()).toBe(true)
    await look(other, 'continued-phone')
    const callsBefore = shop.receiver.calls.length
    await other.page.getByRole('button', { name: 'Test Wallet' }).click()
    await other.page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await other.page.getByText('Order started').waitFor()
    const { input } = JSON.parse(shop.receiver.calls[callsBefore]!.body) as { input: unknown }
    expect(input).toEqual({ site: 'https://example.com/private', deep: true })

    // Another form is another code.
    await page.getByLabel('Website').fill('example.com/other')
    await page.getByRole('button', { name: 'Pay from another device' }).waitFor()
    shop.service.clock.forward(3_600_001)
    const late = await shop.visit({ id: `${sale.id}${link.search}` }, DEVICES[1][1])
    await late.page.getByText('This link has expired.').waitFor()
    expect(await late.page.getByLabel('Website').inputValue()).toBe('')
  })

  it('opens the order in the app of a wallet, on a phone', async () => {
    const visit = await shop.visit(await shop.sell(), { ...DEVICES[1][1], wallet: false })
    const { page } = visit
    await page.getByLabel('Website').fill('example.com')
    await page.getByRole('button', { name: 'Pay in your wallet’s app' }).waitFor()
    await look(visit, 'no-wallet-phone')
    await page.getByRole('button', { name: 'Pay in your wallet’s app' }).click()
    const link = page.getByRole('link', { name: 'Open in MetaMask' })
    await link.waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    await until(async () => (await page.evaluate('document.activeElement.textContent')) === 'Open in MetaMask')
    const address = (await link.getAttribute('href'))!.replace('https://link.metamask.io/dapp/', '')
    expect(address).toMatch(/^[\w.:-]+\/p\/chk_\w+\?draft=tok_[\w-]{43}$/)
    const encoded = encodeURIComponent(`http://${address}`)
    expect(await page.getByRole('link', { name: 'Open in Coinbase Wallet' }).getAttribute('href')).toBe(
      `https://go.cb-w.com/dapp?cb_url=${encoded}`,
    )
    expect(await page.getByRole('link', { name: 'Open in Trust Wallet' }).getAttribute('href')).toBe(
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}`,
    )
    await look(visit, 'apps-phone')
  })

  it.each(DEVICES)('has one next step in every state of a wallet, on a %s', async (device, settings) => {
    const sale = await shop.sell({ fields: [] })
    const visit = await shop.visit(sale, { ...settings, usdc: 1_500_000n, wallet: { chainId: 1 } })
    const { page, wallet, payer } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByText('Test Wallet is set to another network.').waitFor()
    await look(visit, `wrong-network-${device}`)
    await page.getByRole('button', { name: 'Switch to Base Sepolia' }).click()
    await page.getByText('You need 3.50 USDC more on Base Sepolia.').waitFor()
    expect(await usdcLink(visit)).toBe(FAUCET)
    await look(visit, `too-little-${device}`)
    await shop.chain.fund(payer.address, 20_000_000n)
    await page.getByRole('button', { name: 'Check again' }).click()
    wallet.declines('eth_signTypedData_v4')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('form').getByText('To pay, press the button again.').waitFor()
    await look(visit, `declined-${device}`)
    wallet.declines()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
    await look(visit, `paid-${device}`)
  })

  it.each(DEVICES)(
    'sees what a free run has started, without “Payment complete” or 0.00, on a %s',
    async (device, settings) => {
      const plans = [{ id: 'month', name: 'A month', price: 12, kind: 'period', days: 30 }]
      const visit = await shop.visit(await shop.sell({ fields: [], trialRuns: 1, plans }), settings)
      const { page } = visit
      await page.getByRole('button', { name: 'Test Wallet' }).click()
      await page.getByRole('button', { name: 'Try it free (1 left)' }).click()
      await page.getByRole('heading', { name: 'Order received' }).waitFor()
      const receipt = page.getByRole('region', { name: 'Receipt' })
      await receipt.getByText('Free trial').waitFor()
      expect(await page.locator('.outcome').innerText()).not.toMatch(/Payment complete|0\.00/)
      await look(visit, `trial-${device}`)
    },
  )

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})

inBrowser('a person who has no USDC yet, where real money is taken', () => {
  let shop: Shop
  let source: Upstream
  beforeAll(async () => {
    const ONRAMP_URL = 'https://ramp.example/buy?usdc={amount}&to={address}&on={network}'
    source = await startUpstream()
    source.on('/latest/USD', (_request, response) => json(response, 200, { rates: { EUR: 0.92 } }))
    shop = await openShop({ live: true, environment: { ONRAMP_URL, RATES_URL: `${source.url}/latest/USD` } })
  })
  afterAll(async () => {
    await shop.close()
    await source.close()
  })

  it.each(DEVICES)('sees what a price is worth in the own currency, on a %s', async (device, settings) => {
    const sale = await shop.sell({ fields: [] })
    // The first page asks for the rates, and does not wait for them.
    const { page, picture, context } = await shop.visit(sale, { ...settings, wallet: false, locale: 'de-AT' })
    await until(async () => {
      const shown = await page.locator('.about').textContent()
      if (shown?.includes('€') === true) return shown
      await page.reload()
      return null
    })
    expect(await page.locator('.about').textContent()).toBe('etwa 4,60\u00A0€')
    expect(await barriers(page)).toEqual([])
    await picture(`local-money-${device}`)
    expect(source.requests).toHaveLength(1)
    await context.close()
  })

  it.each(DEVICES)(
    'gets a link to where USDC is sold, with the amount and the address, on a %s',
    async (device, settings) => {
      const sale = await shop.sell({ fields: [] })
      const link = (visit: Visit) =>
        visit.page.getByRole('link', { name: /USDC/ }).and(visit.page.locator('[href*=ramp]'))
      const look = async ({ page, picture }: Visit, state: string): Promise<void> => {
        expect(await barriers(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        await picture(`onramp-${state}-${device}`)
      }
      const none = await shop.visit(sale, { ...settings, wallet: false })
      await none.page
        .getByText('USDC is a digital dollar: 1 USDC is worth about 1 US dollar.', { exact: false })
        .waitFor()
      // The address is known once there is a wallet.
      expect(await link(none).first().getAttribute('href')).toBe('https://ramp.example/buy?usdc=5.00&on=base')
      await look(none, 'no-wallet')

      const poor = await shop.visit(sale, { ...settings, usdc: 1_500_000n })
      await poor.page.getByRole('button', { name: 'Test Wallet' }).click()
      await poor.page.getByText('You need 3.50 USDC more on Base.').waitFor()
      const { searchParams } = new URL((await link(poor).first().getAttribute('href'))!)
      expect(searchParams.get('usdc')).toBe('3.50')
      expect(searchParams.get('to')?.toLowerCase()).toBe(poor.payer.address)
      expect(searchParams.get('on')).toBe('base')
      await poor.page.getByText('about 1 US dollar each').first().waitFor()
      await look(poor, 'too-little')
      for (const { context } of [none, poor]) await context.close()
    },
  )

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})

inBrowser('a person whose payment takes long', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ mining: 'manual', environment: { SETTLE_WAIT_MS: '300' } })
  })
  afterAll(() => shop.close())

  it.each(DEVICES)('is asked to wait, on a %s, and gets free test USDC on a test network', async (device, settings) => {
    const sale = await shop.sell({ fields: [] })
    const none = await shop.visit(sale, { ...settings, wallet: false })
    await none.page.getByText('This page takes test USDC').waitFor()
    expect(await none.page.getByRole('link', { name: 'Get test USDC' }).getAttribute('href')).toBe(FAUCET)
    await none.picture(`beginner-test-network-${device}`)
    const prepare: NonNullable<Parameters<Shop['visit']>[1]>['prepare'] = async (page) => {
      await page.clock.install()
    }
    const { page, picture } = await shop.visit(sale, { ...settings, prepare })
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('This takes a few seconds. Keep this page open.').first().waitFor()
    await picture(`beginner-confirming-${device}`)
    const slow = page.getByRole('heading', { name: 'Still confirming your payment' })
    // The page begins to wait when the service has answered, with which its address changes.
    await page.waitForURL(/[?]payment=/)
    await page.clock.fastForward(21_000)
    await slow.waitFor()
    expect(await barriers(page)).toEqual([])
    await picture(`beginner-slow-${device}`)
  })
})
