import type { BrowserContext, Page } from 'playwright-core'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop } from './shop.ts'

inBrowser('the page of a checkout', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it('can be used within a second on a slow phone: four times as slow, on a fast 4G network', async () => {
    const sale = await shop.sell()
    const times: { usable: number; plain: number }[] = []
    const least = (which: 'usable' | 'plain'): number => Math.min(...times.map((each) => each[which]))
    // On a machine that is busy with other suites a page of text alone takes as long.
    const isWithin = (): boolean => least('usable') < Math.max(1_000, 2 * least('plain'))
    // Another suite can only make it slower, so the fastest of several loads is the page's own time.
    while (times.length < 10 && !isWithin()) {
      const { page, context } = await shop.visit(sale, { viewport: { width: 390, height: 844 }, prepare: slowPhone })
      await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
      const usable = await page.evaluate<number>('window.__usable')
      const { page: other } = await shop.visit({ id: 'chk_none' }, { wallet: false, prepare: slowPhone })
      const plain = await other.evaluate<number>('performance.getEntriesByType("navigation")[0].loadEventEnd')
      times.push({ usable, plain })
      await Promise.all([context.close(), other.context().close()])
    }
    process.stdout.write(`usable after ms: ${JSON.stringify(times)}\n`)
    expect(isWithin()).toBe(true)
  })
})

/** Chromium's own figures for Fast 4G. `__usable`: when the button of a wallet was there, which only the script draws. */
async function slowPhone(page: Page, context: BrowserContext): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await session.send('Network.enable')
  const network = { offline: false, latency: 165, downloadThroughput: 1_012_500, uploadThroughput: 168_750 }
  await session.send('Network.emulateNetworkConditions', network)
  await page.addInitScript(`
    new MutationObserver((changes, observer) => {
      if (document.querySelector('button.wallet') === null) return
      window.__usable = performance.now()
      observer.disconnect()
    }).observe(document, { childList: true, subtree: true })`)
}
