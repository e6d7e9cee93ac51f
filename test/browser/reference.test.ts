import type { Browser } from 'playwright-core'
import { barriers } from './access.ts'
import { inBrowser, leaveBrowser, openBrowser, picture } from './chromium.ts'
import { testService, type TestService } from '../harness/service.ts'

inBrowser('the API reference', () => {
  let service: TestService
  let browser: Browser
  beforeAll(async () => {
    service = await testService()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await leaveBrowser(browser)
    await service.close()
  })

  it.each([
    ['desktop', 1280],
    ['phone', 390],
  ])('has no barriers and no line wider than the page on a %s', async (name, width) => {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    for (const path of ['/docs', '/docs/checkouts', '/docs/sign-in', '/docs/mcp', '/docs/gate']) {
      await page.goto(service.origin + path)
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await picture(page, `reference${path.replaceAll('/', '-')}-${name}`)
    }
    await page.close()
  })
})
