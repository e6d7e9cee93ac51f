import type { Browser } from 'playwright-core'
import { barriers } from './access.ts'
import { inBrowser, pictureAt, startBrowser } from './chromium.ts'
import { putWallet } from './wallet.ts'
import { usdcOf } from '../facilitator/world.ts'
import { json } from '../paywall/upstream.ts'
import { openWorld, until, type World } from '../paywall/world.ts'

inBrowser('a person at a gate', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await world.close()
  })

  it('is shown the price, pays with their wallet, and reads what they bought; nobody else is asked for anything', async () => {
    const { gate } = await world.sell([
      { path: '/report', pricing: { model: 'per-request', amount: 0.25 }, description: 'A <b>report</b>' },
    ])
    world.upstream.on('/report', (_request, response) => {
      json(response, 200, { verdict: '<img src=x onerror=alert(1)>' })
    })
    const payer = await world.chain.payer(1_000_000n)
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(15_000)
    await putWallet(context, world.chain, payer, { found: 'announced' })
    const page = await context.newPage()
    const amiss: string[] = []
    page.on('pageerror', (error) => amiss.push(error.message))
    page.on('dialog', (dialog) => amiss.push(dialog.message()))
    page.on('request', (request) => {
      if (!request.url().startsWith(world.service.origin) && !/^(data|blob):/.test(request.url()))
        amiss.push(request.url())
    })
    const opened = await page.goto(`${gate}/report?of=all`)
    expect(opened!.status()).toBe(402)
    expect(opened!.headers()['content-security-policy']).toContain("script-src 'self'")
    expect(opened!.headers()['payment-required']).toBeDefined()
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.screenshot({ path: pictureAt('gate-pay'), animations: 'disabled' })
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    expect(await page.locator('pre').textContent()).toContain('<img src=x')
    await page.screenshot({ path: pictureAt('gate-paid'), animations: 'disabled' })
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    expect(amiss).toEqual([])
    await context.close()
  })

  it('pays once for one signature, also when the page is loaded anew before its answer came', async () => {
    const { gate } = await world.sell([{ path: '/slow', pricing: { model: 'per-request', amount: 0.25 } }])
    let hangs = false
    world.upstream.on('/slow', (_request, response) => {
      if (hangs) json(response, 200, { done: true })
      hangs = true
    })
    const payer = await world.chain.payer(1_000_000n)
    const context = await browser.newContext()
    context.setDefaultTimeout(15_000)
    await putWallet(context, world.chain, payer, { found: 'announced' })
    const page = await context.newPage()
    await page.goto(`${gate}/slow`)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 0.25 USDC' }).click()
    await page.getByRole('heading', { name: 'Asking and paying' }).waitFor()
    await until(() => hangs)
    await page.reload()
    // A settlement that is slow on a busy machine is asked for again, some seconds later.
    await page.getByRole('heading', { name: 'Paid' }).waitFor({ timeout: 60_000 })
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    await context.close()
  }, 90_000)
})
