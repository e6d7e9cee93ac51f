import { mkdirSync } from 'node:fs'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { testService, type Answer, type CallOptions, type TestService } from '../../harness/service.ts'
import { barriers } from '../access.ts'
import { leaveBrowser, openBrowser, openContext, picture } from '../chromium.ts'
import { freePort } from '../../harness/ports.ts'

/** The dashboard on a service of its own, and a browser in front of it. */
export interface Desk {
  service: TestService
  origin: string
  browser: Browser
  /** Signs up a new user in a browser of their own. */
  sit(path?: string, options?: BrowserContextOptions): Promise<Seat>
  /** Opens a browser without a session. */
  visit(path: string, options?: BrowserContextOptions): Promise<{ page: Page; context: BrowserContext }>
  /** Requests that a page sent to other services than its own, and every error that a browser reported. */
  problems(): readonly string[]
  close(): Promise<void>
}

export interface Seat {
  page: Page
  context: BrowserContext
  email: string
  /** The user's own API key. */
  key: string
  /** The API with that key. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

/** A story walks through many pages, on a machine that is busy with other suites. */
export const STORY_MS = 180_000

/** Some settings need to know the address at which the service will be. */
export async function openDesk(
  environment: Record<string, string> | ((origin: string) => Record<string, string>) = {},
): Promise<Desk> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${String(port)}`
  const [service, browser] = await Promise.all([
    testService({
      PORT: String(port),
      PUBLIC_DASHBOARD_URL: origin,
      PUBLIC_API_URL: `${origin}/v1`,
      PUBLIC_PAY_URL: `${origin}/p`,
      PUBLIC_TOOLS_URL: `${origin}/tools`,
      PUBLIC_GATE_URL: `${origin}/gate`,
      RATE_API_PER_MINUTE: '0',
      RATE_SIGN_IN_PER_MINUTE: '0',
      ...(typeof environment === 'function' ? environment(origin) : environment),
    }),
    openBrowser(),
  ])
  await service.start()
  const problems: string[] = []
  let people = 0

  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; context: BrowserContext }> {
    const context = await openContext(browser, options)
    // Shorter than Jest's timeout, so that a failure says what was waited for.
    context.setDefaultTimeout(45_000)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
    const page = await context.newPage()
    watch(page, origin, problems)
    return { page, context }
  }

  return {
    service,
    origin,
    browser,
    async sit(path = '/', options = {}) {
      const { page, context } = await open(options)
      const email = `seat${String(++people)}@example.com`
      // The browser's own cookie jar: the session is in it afterwards, as if the form had been sent.
      const signedUp = await context.request.post(`${origin}/auth/sign-up/email`, {
        data: { name: 'Ada Lovelace', email, password: PASSWORD },
        headers: { origin },
      })
      if (!signedUp.ok()) throw new Error(await signedUp.text())
      if (((await signedUp.json()) as { token: string | null }).token === null) {
        // A live server waits for the mail's link, which the tests of the sign-in follow.
        await service.testDatabase.statements.run('UPDATE signin_user SET email_verified = true WHERE email = $1', [
          email,
        ])
        const signedIn = await context.request.post(`${origin}/auth/sign-in/email`, {
          data: { email, password: PASSWORD },
          headers: { origin },
        })
        if (!signedIn.ok()) throw new Error(await signedIn.text())
      }
      const created = await context.request.post(`${origin}/v1/keys`, { data: { name: 'test' }, headers: { origin } })
      const { secret } = (await created.json()) as { secret: string }
      await page.goto(origin + path)
      // Found by its tag: when the address opens a dialog, the page under it has no role any more.
      await page.locator('main').waitFor()
      return {
        page,
        context,
        email,
        key: secret,
        call: (method, address, options) => service.call(method, address, { key: secret, ...options }),
      }
    },
    async visit(path, options) {
      const opened = await open(options)
      await opened.page.goto(origin + path)
      return opened
    },
    problems: () => problems,
    async close() {
      await leaveBrowser(browser)
      await service.close()
    },
  }
}

export const PASSWORD = 'correct horse battery'

/** Accessibility problems of a page that has finished loading. */
export async function findings(page: Page): Promise<string[]> {
  // Data that is being reloaded is shown pale until it has arrived.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  return await barriers(page)
}

/**
 * Whether anything is wider than the screen, so that a telephone would have to scroll sideways. Charts and tables measure
 * themselves after a change of the screen, so it is looked at again for some frames.
 */
export async function isTooWide(page: Page): Promise<boolean> {
  return await page.evaluate<boolean>(IS_TOO_WIDE)
}

const IS_TOO_WIDE = `(async () => {
  const { documentElement: page } = document
  const isTooWide = () => page.scrollWidth > page.clientWidth || page.clientWidth > innerWidth
  for (let frame = 0; frame < 600 && (frame < 3 || isTooWide()); frame++) await new Promise(requestAnimationFrame)
  return isTooWide()
})()`

/** Buttons, links and fields that are partly off the screen, or hidden by the elements around them. */
export async function cutControls(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(CUT_CONTROLS)
}

const CUT_CONTROLS = `
[...document.querySelectorAll('main :is(button, a[href], input, select, textarea), [role=dialog] :is(button, a[href], input, select, textarea)')]
  .filter((control) => {
    const box = control.getBoundingClientRect()
    if (box.width <= 1 || box.height <= 1 || getComputedStyle(control).visibility !== 'visible') return false
    if (box.left < -1 || box.right > document.documentElement.clientWidth + 1) {
      // What scrolls by itself, a wide table for instance, may hold more than is seen.
      for (let around = control.parentElement; around !== null; around = around.parentElement) {
        const { overflowX } = getComputedStyle(around)
        if (overflowX === 'auto' || overflowX === 'scroll') return false
      }
      return true
    }
    // A button's words are never cut; the end of a long text may be, where dots say so.
    const isCut = control.tagName === 'BUTTON' && control.scrollWidth > control.clientWidth + 1
    return isCut && getComputedStyle(control).textOverflow !== 'ellipsis'
  })
  .map((control) => control.outerHTML.slice(0, 200))`

/**
 * Checks that a page is accessible and that nothing is wider than the screen. If SCREENS names a folder, the page is
 * checked in both themes on a desktop and on a telephone, and the pictures are stored there (`npm run pictures`).
 * Otherwise, since each check takes a second, it alternates between light on a desktop and dark on a telephone.
 */
export async function checkLook(page: Page, name: string): Promise<void> {
  await atRest(page)
  // Notifications cover the page.
  await page.evaluate(DISMISS)
  await page.mouse.move(0, 0)
  await page.evaluate('scrollTo(0, 0)')
  const turn = count++ % 2
  for (const [place, [theme, width, height]] of LOOKS.entries()) {
    if (SCREENS === undefined && place !== turn * 3) continue
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: theme })
    let found = await findings(page)
    // What is fetched again is dimmed meanwhile: what is wrong is found again when the page is at rest.
    for (let again = 0; found.length > 0 && again < 3; again++) {
      await atRest(page)
      found = await findings(page)
    }
    // Not before: elements that change their colours with the theme would still have those of the one before.
    if (SCREENS !== undefined) {
      mkdirSync(SCREENS, { recursive: true })
      await page.screenshot({ path: `${SCREENS}/${name}-${theme}-${String(width)}.png`, animations: 'disabled' })
    }
    expect(found).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** A page that waits for a response is not the finished page. */
async function atRest(page: Page): Promise<void> {
  await page.locator('.animate-wait, .opacity-60').first().waitFor({ state: 'detached' })
}

/** Runs in the page itself: a notification may disappear by itself meanwhile, which is not an error. */
const DISMISS = `
for (const button of document.querySelectorAll('button')) {
  if (button.getAttribute('aria-label') === 'Dismiss' || button.textContent === 'Dismiss') button.click()
}`

let count = 0
const SCREENS = process.env['SCREENS']
const LOOKS = [
  ['light', 1440, 900],
  ['dark', 1440, 900],
  ['light', 390, 844],
  ['dark', 390, 844],
] as const

function watch(page: Page, origin: string, problems: string[]): void {
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) problems.push(`asked ${url}`)
  })
  page.on('pageerror', (error) => problems.push(`threw ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // A browser logs each response above 399; some tests are about such responses.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) problems.push(`said ${text}`)
  })
}

/** The account of a seat. */
export async function callerOf({ service }: Desk, { key }: Seat) {
  const { user, ...caller } = await service.identity.identify({
    ...{ authorization: `Bearer ${key}`, cookie: undefined, environmentHeader: undefined },
    now: service.clock.now(),
  })
  if (user === null) throw new Error('a seat has an account')
  return { caller: { ...caller, user } }
}

/** On a desktop and on a telephone. */
export async function pictures(page: Page, name: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await picture(page, `${name}-${String(width)}`, { fullPage: true })
    expect([await isTooWide(page), await cutControls(page)]).toEqual([false, []])
  }
  expect(await findings(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
}
