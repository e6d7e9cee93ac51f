import type { Browser, BrowserContext, Page } from 'playwright-core'
import { barriers } from './access.ts'
import { inBrowser, leaveBrowser, openBrowser, openContext, picture } from './chromium.ts'
import { putWallet, type TestWallet } from './wallet.ts'
import type { TestAccount } from '../harness/chain.ts'
import { usdcOf } from '../facilitator/world.ts'
import { json } from '../paywall/upstream.ts'
import { openWorld, until, type World } from '../paywall/world.ts'

inBrowser('a person at a gate', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await leaveBrowser(browser)
    await world.close()
  })

  it('sees the price, pays with their wallet and reads the answer, without a request elsewhere', async () => {
    const { gate } = await world.sell([
      { path: '/report', pricing: { model: 'per-request', amount: 0.25 }, description: 'A <b>report</b>' },
    ])
    world.upstream.on('/report', (_request, response) => {
      json(response, 200, { verdict: '<img src=x onerror=alert(1)>' })
    })
    const payer = await world.chain.payer(1_000_000n)
    const context = await openContext(browser)
    context.setDefaultTimeout(45_000)
    await putWallet(context, world.chain, payer, { found: 'announced' })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('dialog', (dialog) => problems.push(dialog.message()))
    page.on('request', (request) => {
      if (!request.url().startsWith(world.service.origin) && !/^(data|blob):/.test(request.url()))
        problems.push(request.url())
    })
    const opened = await page.goto(`${gate}/report?of=all`)
    expect(opened!.status()).toBe(402)
    expect(opened!.headers()['content-security-policy']).toContain("script-src 'self'")
    expect(opened!.headers()['payment-required']).toBeDefined()
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).waitFor()
    expect(await barriers(page)).toEqual([])
    await picture(page, 'gate-pay')
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    expect(await page.locator('pre').textContent()).toContain('<img src=x')
    await picture(page, 'gate-paid')
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    expect(problems).toEqual([])
    await context.close()
  })

  it('simulates a payment in test mode with the token of its owner, and with no other', async () => {
    const paywall = await world.sell([{ path: '/free', pricing: { model: 'per-request', amount: 0.25 } }], {
      testMode: true,
      recipient: null,
    })
    world.upstream.on('/free', (_request, response) => {
      json(response, 200, [
        { page: 'a', score: 1 },
        { page: 'b', score: 2 },
      ])
    })
    const context = await openContext(browser, { viewport: { width: 390, height: 800 } })
    context.setDefaultTimeout(45_000)
    const page = await context.newPage()
    await page.goto(`${paywall.gate}/free`)
    const token = page.getByLabel('Test token')
    const simulate = page.getByRole('button', { name: 'Simulate payment' })
    for (const wrong of ['', 'test_wrong', 'test_ü\n']) {
      await token.fill(wrong)
      await simulate.click()
      await page.locator('form').getByText('This is not the test token of this paywall.').waitFor()
    }
    expect(await barriers(page)).toEqual([])
    await picture(page, 'gate-simulate-390')
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await barriers(page)).toEqual([])
    await picture(page, 'gate-simulate-1280')
    await token.fill(String(paywall.paywall.testToken))
    await simulate.click()
    await page.getByRole('heading', { name: 'Payment simulated' }).waitFor()
    // The table is drawn by a script that is fetched when there is an answer.
    await page.getByRole('row').nth(2).waitFor()
    expect(await page.getByRole('row').count()).toBe(3)
    expect(await barriers(page)).toEqual([])
    await picture(page, 'gate-simulated')
    await context.close()
  })

  it('pays once for one signature, also when the page is reloaded before the answer', async () => {
    const { gate } = await world.sell([{ path: '/slow', pricing: { model: 'per-request', amount: 0.25 } }])
    let requests = 0
    let answerNow = (): void => undefined
    world.upstream.on('/slow', (_request, response) => {
      requests++
      answerNow = () => json(response, 200, { done: true })
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page } = await opened(payer, `${gate}/slow`)
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('heading', { name: 'Sending your payment' }).waitFor()
    await until(() => requests > 0)
    await page.reload()
    // The upstream request finishes although the page left, and its response is stored for the buyer.
    answerNow()
    // A settlement that is slow on a busy machine is checked again some seconds later.
    await page.getByRole('heading', { name: 'Paid' }).waitFor({ timeout: 60_000 })
    expect(requests).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  })

  it('pays once for two signatures that were asked for in two tabs', async () => {
    const { gate } = await world.sell([{ path: '/tabs', pricing: { model: 'per-request', amount: 0.25 } }])
    world.upstream.on('/tabs', (_request, response) => {
      json(response, 200, { done: true })
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page, wallet } = await opened(payer, `${gate}/tabs`)
    const other = await context.newPage()
    await other.goto(`${gate}/tabs`)
    const confirms = []
    for (const tab of [page, other]) {
      confirms.push(wallet.holds('eth_signTypedData_v4'))
      await tab.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
      await tab.getByRole('button', { name: /Confirm in your wallet/ }).waitFor()
    }
    confirms[0]!()
    await page.getByRole('heading', { name: 'Paid' }).waitFor({ timeout: 60_000 })
    confirms[1]!()
    await other.locator('form').getByText('You have paid for this in another tab.').waitFor()
    expect(wallet.requests.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(2)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    expect(await other.evaluate('localStorage.length')).toBe(0)
    await context.close()
  })

  it('is owed the answer of a payment that arrived before it, whatever the API answers first', async () => {
    const { gate, id } = await world.sell([
      { path: '/owed', pricing: { model: 'per-request', amount: 0.25 }, settle: 'before' },
    ])
    const answers = [404, 500, 200]
    world.upstream.on('/owed', (_request, response) => {
      const status = answers.shift() ?? 500
      json(response, status, status === 200 ? { done: true } : { error: 'No such city.' })
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page } = await opened(payer, `${gate}/owed`)
    const pay = page.getByRole('button', { name: 'Pay 0.25 USDC' })
    const notice = page.locator('form').getByText('Your payment arrived.')
    await pay.click()
    await notice.waitFor()
    expect(await notice.innerText()).toContain('No such city.')
    expect(await page.locator('body').innerText()).not.toContain('Nothing was charged')
    expect(await barriers(page)).toEqual([])
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)

    const dearer = { routes: [{ method: 'GET', path: '/owed', pricing: { model: 'per-request', amount: 0.5 } }] }
    expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: dearer })).status).toBe(200)
    world.service.clock.forward(2_000)
    await pay.click()
    await page.getByRole('heading', { name: 'Sending your payment' }).waitFor({ state: 'hidden' })
    await notice.waitFor()
    await pay.click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    expect(await page.locator('.outcome').innerText()).toContain('done')
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  })

  it('does not pay on a reload after a failure that was free, and pays with the same signature on a click', async () => {
    const { gate } = await world.sell([{ path: '/down', pricing: { model: 'per-request', amount: 0.25 } }])
    let status = 500
    let requests = 0
    let answerNow = (): void => undefined
    world.upstream.on('/down', (_request, response) => {
      requests++
      answerNow = () => json(response, status, { done: true })
      if (status === 500) answerNow()
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page, wallet } = await opened(payer, `${gate}/down`)
    const pay = page.getByRole('button', { name: 'Pay 0.25 USDC' })
    await pay.click()
    await page.locator('form').getByText('Nothing was charged').waitFor()
    expect(requests).toBe(1)

    status = 200
    await page.reload()
    // A payment that is resumed is sent before the page looks for wallets.
    await pay.waitFor()
    expect(requests).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)

    await pay.click()
    await until(() => requests === 2)
    // This attempt has no answer yet, so a reload resumes it.
    await page.reload()
    answerNow()
    await page.getByRole('heading', { name: 'Paid' }).waitFor({ timeout: 60_000 })
    expect(requests).toBe(2)
    expect(wallet.requests.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  })

  it('sends one signature until the gate answers, also where a proxy or a limit answers in its place', async () => {
    const { gate } = await world.sell([{ path: '/busy', pricing: { model: 'per-request', amount: 0.25 } }])
    const payer = await world.chain.payer(1_000_000n)
    const { context, page, wallet } = await opened(payer, `${gate}/busy`)
    const answers = [
      { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' },
      { status: 429, json: { error: 'Too many requests.', code: 'rate_limited' } },
    ]
    const signatures: unknown[] = []
    await page.route(`${gate}/busy`, async (route) => {
      signatures.push(route.request().headers()['payment-signature'])
      const answer = answers.shift()
      await (answer === undefined ? route.continue() : route.fulfill(answer))
    })
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    expect([signatures.length, new Set(signatures).size]).toEqual([3, 1])
    expect(wallet.requests.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  })

  it('sees that a result broke off, and pays for no second one by asking for it again', async () => {
    const { gate } = await world.sell([{ path: '/stream', pricing: { model: 'per-request', amount: 0.25 } }])
    let breakOff = (): void => undefined
    world.upstream.on('/stream', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      breakOff = () => response.destroy()
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page } = await opened(payer, `${gate}/stream`)
    const pay = page.getByRole('button', { name: 'Pay 0.25 USDC' })
    const started = page.waitForResponse((response) => response.headers()['x-payment-status'] === 'paid')
    await pay.click()
    await started
    breakOff()
    await page.locator('form').getByText('The result broke off before its end.').waitFor()
    expect(await barriers(page)).toEqual([])
    await pay.click()
    // It was streamed, so there is nothing to send again: it says what became of the money, and whom to ask.
    await page.locator('form').getByText('its result can no longer be delivered. Ask the seller for a refund').waitFor()
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  })

  it('gets the address that the API redirects to, and pays for it once', async () => {
    const { gate } = await world.sell([{ path: '/file', pricing: { model: 'per-request', amount: 0.25 } }])
    const place = 'https://files.example/report.pdf?signature=a&expires=1'
    world.upstream.on('/file', (_request, response) => {
      response.writeHead(302, { location: place }).end()
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page } = await opened(payer, `${gate}/file`)
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    const link = page.getByRole('link', { name: 'Open the result' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe(place)
    await page.getByText('The result is at files.example.').waitFor()
    expect(await barriers(page)).toEqual([])
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    const [sent] = world.upstream.requests.filter(({ url }) => url === '/file')
    expect(sent?.headers).not.toHaveProperty('coinslot-page')
    // For a program the redirect stays one.
    const headers = await world.sign(payer, await world.request(`${gate}/file`))
    const raw = await fetch(`${gate}/file`, { headers, redirect: 'manual' })
    expect([raw.status, raw.headers.get('location')]).toEqual([302, place])
    await context.close()
  })

  it('follows no redirect to what is no web address', async () => {
    const { gate } = await world.sell([{ path: '/script', pricing: { model: 'per-request', amount: 0.25 } }])
    world.upstream.on('/script', (_request, response) => {
      response.writeHead(302, { location: 'javascript:alert(1)', 'content-type': 'text/plain' }).end('moved')
    })
    const payer = await world.chain.payer(1_000_000n)
    const { context, page } = await opened(payer, `${gate}/script`)
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('link', { name: 'Save the result' }).waitFor()
    expect(await page.getByRole('link', { name: 'Open the result' }).count()).toBe(0)
    await context.close()
  })

  /** The page of a gate in a new browser, with a connected wallet. */
  async function opened(payer: TestAccount, url: string): Promise<Opened> {
    const context = await openContext(browser)
    context.setDefaultTimeout(45_000)
    const wallet = await putWallet(context, world.chain, payer, { found: 'announced' })
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    return { context, page, wallet }
  }
})

interface Opened {
  context: BrowserContext
  page: Page
  wallet: TestWallet
}
