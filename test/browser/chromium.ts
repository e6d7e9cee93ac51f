import { existsSync, mkdirSync } from 'node:fs'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  type PageScreenshotOptions,
} from 'playwright-core'
import { pollOften, releaseProcess } from './playwright.ts'

/** The system's Chromium; the suite does not bring one along. Its shell draws the same without a window around it. */
const PROGRAM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  process.env['CHROMIUM'],
].find((path) => path !== undefined && existsSync(path))

/**
 * Declares a suite that needs a browser. Without one it says so and passes, on a developer's machine; where the
 * whole has to be proven, it fails.
 */
export function inBrowser(title: string, suite: () => void): void {
  if (PROGRAM !== undefined) {
    describe(title, suite)
    return
  }
  const lack = 'Chromium is not installed (set CHROMIUM to its path): the pages are not tested in a browser.'
  process.stderr.write(`${lack}\n`)
  it(`${title}: not run without Chromium`, () => {
    if (process.env['CI'] !== undefined && process.env['CI'] !== '') throw new Error(lack)
  })
}

export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    ...(PROGRAM === undefined ? {} : { executablePath: PROGRAM }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    // Chromium ends with the pipe of a process that was killed. Playwright's handlers would keep that process from its end.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  await pollOften(browser)
  return browser
}

/** The browser of this process: the next file uses it too, with contexts of its own. */
export async function openBrowser(): Promise<Browser> {
  if (shared?.isConnected() !== true) {
    shared = await startBrowser()
    releaseProcess(shared)
  }
  return shared
}

let shared: Browser | undefined

/** Closes what a file has opened in the browser of this process. */
export async function leaveBrowser(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

/**
 * A browser of its own for one person. Those that an earlier test opened are closed first: pages that wait for something
 * draw and ask as long as they are open. Nothing moves unless a test wants it: half of a movement is a colour and a place
 * that nobody meant.
 */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const { currentTestName: test } = expect.getState()
  const over = browser.contexts().filter((context) => test !== undefined && openedBy.get(context) !== test)
  await Promise.all(over.map((context) => context.close()))
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  openedBy.set(context, test)
  return context
}

const openedBy = new WeakMap<BrowserContext, string | undefined>()

/**
 * Stores a picture of a page, for people who inspect a run. Only where SCREENS is set: drawing pages takes longer than
 * most of the tests do without it.
 */
export async function picture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (process.env['SCREENS'] === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}/${name}.png`, animations: 'disabled', ...options })
}

const PICTURES = '.build/browser'
