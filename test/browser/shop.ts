import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Mining } from '../harness/anvil.ts'
import { startReceiver, type Receiver } from '../deliveries/receiver.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { pictureAt, startBrowser } from './chromium.ts'
import { putWallet, type TestWallet, type WalletOptions } from './wallet.ts'

/** Somebody who sells a workflow, the chain it is paid on, and a browser for whoever buys. */
export interface Shop {
  service: TestService
  chain: TestChain
  person: TestPerson
  /** The workflow's address. */
  receiver: Receiver
  /** Puts something up for sale; what is not given is a free choice that works. */
  sell(terms?: Record<string, unknown>): Promise<Sale>
  /** Somebody new in a browser of their own, with 20 USDC unless the test says otherwise. */
  visit(sale: { id: string }, options?: VisitOptions): Promise<Visit>
  /** Whatever a page asked of anybody but its own service, and every fault that a browser told of. */
  amiss(): readonly string[]
  close(): Promise<void>
}

export interface Sale {
  id: string
  secret: string
  recipient: string
}

export interface VisitOptions extends BrowserContextOptions {
  usdc?: bigint
  /** False: a browser without one. */
  wallet?: WalletOptions | false
  /** Before the page is opened. */
  prepare?(page: Page, context: BrowserContext): Promise<void>
}

export interface Visit {
  page: Page
  context: BrowserContext
  wallet: TestWallet
  payer: TestAccount
  /** Kept with the results of the run. */
  picture(name: string): Promise<void>
}

export async function openShop(options: { mining?: Mining; environment?: Record<string, string> } = {}): Promise<Shop> {
  const [chain, browser, receiver] = await Promise.all([
    startChain({ mining: options.mining ?? 'automine' }),
    startBrowser(),
    startReceiver(),
  ])
  const service = await testService({
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    RATE_API_PER_MINUTE: '0',
    RATE_PAY_PER_MINUTE: '0',
    ...options.environment,
  })
  await service.start()
  const person = await service.person()
  const recipient = chain.accounts[3]!.address
  const amiss: string[] = []
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
          network: 'base-sepolia',
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
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...settings })
      // Sooner than Jest gives up, so that a failure says what was waited for.
      context.setDefaultTimeout(45_000)
      const payer = await chain.payer(usdc)
      const put = await putWallet(context, chain, payer, wallet === false ? { found: 'announced' } : wallet)
      const page = await context.newPage()
      if (wallet === false) await page.addInitScript(NO_WALLET)
      await page.addInitScript(COUNT_SHIFTS)
      watch(page, service.origin, amiss)
      await prepare?.(page, context)
      await page.goto(`${service.origin}/p/${id}`)
      return {
        page,
        context,
        wallet: put,
        payer,
        async picture(name) {
          await page.screenshot({ path: pictureAt(name), fullPage: true, animations: 'disabled' })
        },
      }
    },
    amiss: () => amiss,
    close: () => close(browser, service, receiver, chain),
  }
}

export const SITE = [{ name: 'site', label: 'Website', type: 'url', required: true }]

/** Without a wallet's script: the one that was put there is taken away before anybody asks for it. */
const NO_WALLET = `window.addEventListener('eip6963:announceProvider', (event) => event.stopImmediatePropagation(), true)`

/** As browsers count what moved by itself under the reader's eyes. */
const COUNT_SHIFTS = `
  window.__shifts = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shifts += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
`

function watch(page: Page, origin: string, amiss: string[]): void {
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) amiss.push(`asked ${url}`)
  })
  page.on('pageerror', (error) => amiss.push(`threw ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // A browser writes down each answer above 399; those are what the tests are about.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) amiss.push(`said ${text}`)
  })
}

async function close(browser: Browser, service: TestService, receiver: Receiver, chain: TestChain): Promise<void> {
  await browser.close()
  await service.close()
  await receiver.close()
  await chain.stop()
}
