import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Mining } from '../harness/anvil.ts'
import { LIVE } from '../checkouts/world.ts'
import { startReceiver, type Receiver } from '../deliveries/receiver.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { leaveBrowser, openBrowser, openContext, picture } from './chromium.ts'
import { putWallet, type TestWallet, type WalletOptions } from './wallet.ts'

/** A seller with a workflow, the chain it is paid on, and a browser for the buyers. */
export interface Shop {
  service: TestService
  chain: TestChain
  person: TestPerson
  /** The workflow's address. */
  receiver: Receiver
  /** Creates a checkout; terms that are left out get a working default. */
  sell(terms?: Record<string, unknown>): Promise<Sale>
  /** Opens a new buyer's own browser, with 20 USDC unless the test sets another amount. */
  visit(sale: { id: string }, options?: VisitOptions): Promise<Visit>
  /** Requests that a page sent to other services than its own, and every error that a browser reported. */
  problems(): readonly string[]
  close(): Promise<void>
}

export interface Sale {
  id: string
  secret: string
  recipient: string
}

export interface VisitOptions extends BrowserContextOptions {
  usdc?: bigint
  /** False: a browser without a wallet. */
  wallet?: WalletOptions | false
  /** Runs before the page is opened. */
  prepare?(page: Page, context: BrowserContext): Promise<void>
}

export interface Visit {
  page: Page
  context: BrowserContext
  wallet: TestWallet
  payer: TestAccount
  /** Stored with the results of the run. */
  picture(name: string): Promise<void>
}

/** `live`: a server for real money, whose shop sells on Base. */
export async function openShop(
  options: { mining?: Mining; environment?: Record<string, string>; live?: boolean } = {},
): Promise<Shop> {
  const { live = false } = options
  const [chain, browser, receiver] = await Promise.all([
    startChain({ mining: options.mining ?? 'automine', chainId: live ? 8453 : 84532 }),
    openBrowser(),
    startReceiver(),
  ])
  const service = await testService({
    ...(live ? { ...LIVE, BASE_RPC_URLS: chain.url } : { BASE_SEPOLIA_RPC_URLS: chain.url }),
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    RATE_API_PER_MINUTE: '0',
    RATE_PAY_PER_MINUTE: '0',
    ...options.environment,
  })
  await service.start()
  const person = await service.person(live ? { environment: 'production' } : {})
  const recipient = chain.accounts[3]!.address
  const problems: string[] = []
  return {
    service,
    chain,
    person,
    receiver,
    async sell(terms = {}) {
      const answer = await person.call('POST', '/v1/checkouts', {
        body: {
          callbackUrl: receiver.url,
          product: { name: 'SEO audit', description: 'A report of what to fix first.' },
          price: 5,
          network: chain.network.name,
          recipient,
          fields: SITE,
          lifetime: 'persistent',
          ...terms,
        },
      })
      if (answer.status !== 201) throw new Error(answer.text)
      return { id: answer.body.checkout.id, secret: answer.body.secret, recipient }
    },
    async visit({ id }, { usdc = 20_000_000n, wallet = {}, prepare, ...settings } = {}) {
      const context = await openContext(browser, settings)
      // Shorter than Jest's timeout, so that a failure says what was waited for.
      context.setDefaultTimeout(45_000)
      const payer = await chain.payer(usdc)
      const put = await putWallet(context, chain, payer, wallet === false ? { found: 'announced' } : wallet)
      const page = await context.newPage()
      if (wallet === false) await page.addInitScript(NO_WALLET)
      await page.addInitScript(COUNT_SHIFTS)
      watch(page, service.origin, problems)
      await prepare?.(page, context)
      await page.goto(`${service.origin}/p/${id}`)
      return {
        page,
        context,
        wallet: put,
        payer,
        async picture(name) {
          await picture(page, name, { fullPage: true })
        },
      }
    },
    problems: () => problems,
    close: () => close(browser, service, receiver, chain),
  }
}

export const SITE = [{ name: 'site', label: 'Website', type: 'url', required: true }]

/** Removes the wallet: its announcement is stopped before the page can receive it. */
const NO_WALLET = `window.addEventListener('eip6963:announceProvider', (event) => event.stopImmediatePropagation(), true)`

/** Counts layout shifts as browsers do: elements that moved without user input. */
export const COUNT_SHIFTS = `
  window.__shifts = 0
  const count = (entries) => {
    for (const entry of entries) if (!entry.hadRecentInput) window.__shifts += entry.value
  }
  window.__seen = new PerformanceObserver((list) => count(list.getEntries()))
  window.__seen.observe({ type: 'layout-shift', buffered: true })
  window.__drawn = async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done))
    count(window.__seen.takeRecords())
    return window.__shifts
  }
`

/** How far what is drawn by now has moved; a browser tells of a shift only after the frame that has it. */
export async function shiftsOf(page: Page): Promise<number> {
  return await page.evaluate<number>('window.__drawn()')
}

function watch(page: Page, origin: string, problems: string[]): void {
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`asked ${url}`)
  })
  page.on('pageerror', (error) => problems.push(`threw ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // A browser logs each response above 399; the tests are about such responses.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) problems.push(`said ${text}`)
  })
}

async function close(browser: Browser, service: TestService, receiver: Receiver, chain: TestChain): Promise<void> {
  await leaveBrowser(browser)
  await service.close()
  await receiver.close()
  await chain.stop()
}
