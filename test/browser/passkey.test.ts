import type { BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { usdcOf } from '../facilitator/world.ts'
import type { Hex } from '../../service/chain/model.ts'
import { placeSafe } from '../passkeys/safe.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop, type Visit } from './shop.ts'

const DEVICES = [
  ['desktop', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: { width: 390, height: 800 }, colorScheme: 'dark' }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]

inBrowser('a person who pays with a passkey', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ environment: { PASSKEY_WALLETS: 'true', SETTLE_WAIT_MS: '10000' } })
    await placeSafe(shop.chain)
  })
  afterAll(() => shop.close())

  const look = async ({ page, picture }: Visit, state: string): Promise<void> => {
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await picture(`passkey-${state}`)
  }

  /** Passkeys belong to a name, so the page is opened under one. */
  const named = (path: string): string => `http://localhost:${new URL(shop.service.origin).port}/p/${path}`

  async function visit(
    path: string,
    settings: BrowserContextOptions,
    device = new Device(),
    script = '',
  ): Promise<Visit> {
    return await shop.visit(
      { id: 'none' },
      {
        ...settings,
        wallet: false,
        async prepare(page) {
          await page.addInitScript(script)
          await device.join(page)
          const go = page.goto.bind(page)
          page.goto = async () => await go(named(path))
        },
      },
    )
  }

  async function addressOn(page: Page): Promise<Hex> {
    return (await page.locator('.copied code').first().innerText()).toLowerCase() as Hex
  }

  it.each(DEVICES)('creates one, tops it up, pays twice, and withdraws the rest, on a %s', async (name, settings) => {
    const { id } = await shop.sell({ fields: [], price: 2 })
    const device = new Device()
    const person = await visit(`${id}?lang=en`, settings, device)
    const { page } = person
    await page.getByRole('button', { name: 'Pay with a new passkey' }).waitFor()
    await look(person, `ways-${name}`)
    await page.getByRole('button', { name: 'Pay with a new passkey' }).click()
    await page.getByText(/You need 2.00 USDC more/).waitFor()
    const address = await addressOn(page)
    await page.getByRole('img', { name: 'The transfer as a QR code for wallets' }).waitFor()
    await look(person, `too-little-${name}`)

    await shop.chain.fund(address, 5_000_000n)
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByRole('button', { name: 'Pay 2.00 USDC' }).waitFor()
    await look(person, `ready-${name}`)
    expect(await shop.chain.call('eth_getCode', address, 'latest')).toBe('0x')
    await page.getByRole('button', { name: 'Pay 2.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await look(person, `paid-${name}`)
    expect(await shop.chain.call('eth_getCode', address, 'latest')).not.toBe('0x')
    expect(await usdcOf(shop.chain, address)).toBe(3_000_000n)

    // The same browser knows it without being asked.
    await page.goto('again')
    await page.getByRole('button', { name: 'Pay 2.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
    expect(await usdcOf(shop.chain, address)).toBe(1_000_000n)

    const purse = await visit('wallet?lang=en', settings, device)
    await purse.page.getByRole('button', { name: 'Use your passkey' }).click()
    await purse.page.getByText('1.00 USDC').first().waitFor()
    await purse.page.getByLabel('Amount').fill('4')
    await purse.page.getByRole('button', { name: 'Send USDC' }).click()
    await purse.page.getByText(/Your wallet has 1.00 USDC/).waitFor()
    await purse.page.getByRole('button', { name: 'Everything' }).click()
    await purse.page.getByLabel('Address to send to').fill('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD')
    await purse.page.getByRole('button', { name: 'Send USDC' }).click()
    await purse.page.getByText(/not an address that USDC can be sent to/).waitFor()
    await look(purse, `wallet-${name}`)
    const home = (await shop.chain.payer(0n)).address
    await purse.page.getByLabel('Address to send to').fill(home)
    await purse.page.getByRole('button', { name: 'Send USDC' }).click()
    await purse.page.getByText(/1.00 USDC were sent to/).waitFor()
    await look(purse, `sent-${name}`)
    expect(await usdcOf(shop.chain, home)).toBe(1_000_000n)
    expect(await usdcOf(shop.chain, address)).toBe(0n)
  })

  it('finds its wallet again on another device, with and without money in it', async () => {
    const { id } = await shop.sell({ fields: [], price: 2 })
    const device = new Device()
    const first = await visit(`${id}?lang=en`, DEVICES[0][1], device)
    await first.page.getByRole('button', { name: 'Pay with a new passkey' }).click()
    await first.page.getByText(/You need 2.00 USDC more/).waitFor()
    const address = await addressOn(first.page)

    // Empty: only a second signature tells which of two keys it is.
    const second = await visit(`${id}?lang=en`, DEVICES[1][1], device)
    await second.page.getByRole('button', { name: 'Use your passkey' }).click()
    await second.page.getByText(/You need 2.00 USDC more/).waitFor()
    expect(await addressOn(second.page)).toBe(address)

    await shop.chain.fund(address, 2_000_000n)
    const third = await visit(`${id}?lang=en`, DEVICES[1][1], device)
    await third.page.getByRole('button', { name: 'Use your passkey' }).click()
    await third.page.getByRole('button', { name: 'Pay 2.00 USDC' }).click()
    await third.page.getByRole('heading', { name: 'Payment complete' }).waitFor()
    expect(await usdcOf(shop.chain, address)).toBe(0n)
  })

  it.each([
    ['stores', ''],
    [
      'refuses to store',
      `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('Denied', 'SecurityError') } })`,
    ],
  ])('sends their money once, through limits, lost answers and a reload, in a browser that %s', async (_, storage) => {
    const { id } = await shop.sell({ fields: [], price: 2 })
    const device = new Device()
    const first = await visit(`${id}?lang=en`, DEVICES[0][1], device)
    await first.page.getByRole('button', { name: 'Pay with a new passkey' }).click()
    await first.page.getByText(/You need 2.00 USDC more/).waitFor()
    await shop.chain.fund(await addressOn(first.page), 3_000_000n)
    const { page } = await visit('wallet?lang=en', DEVICES[0][1], device, storage)
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    await page.getByText('3.00 USDC').first().waitFor()

    const spent = { error: 'The gas budget is used up.', code: 'payer_gas_budget_spent' }
    const limited = { error: 'Too many requests.', code: 'rate_limited' }
    const pending = { status: 'pending', reason: null, explorerUrl: null }
    const answers = [
      { status: 429, json: spent },
      { status: 200, json: pending },
      { status: 429, json: limited },
      { status: 503, json: spent },
    ]
    const sent: (string | null)[] = []
    let isCut = false
    await page.route('**/wallet/transfers', async (route) => {
      sent.push(route.request().postData())
      if (isCut) return await route.abort()
      const answer = answers.shift()
      // What is pending has reached the server.
      if (answer?.json === pending) await route.fetch()
      await (answer === undefined ? route.continue() : route.fulfill(answer))
    })
    const home = (await shop.chain.payer(0n)).address
    await page.getByLabel('Amount').fill('1')
    await page.getByLabel('Address to send to').fill(home)
    await page.getByRole('button', { name: 'Send USDC' }).click()
    await page.getByText('The network cannot be reached right now.').waitFor()
    expect(sent).toHaveLength(1)
    isCut = true
    const tried = page.waitForRequest('**/wallet/transfers')
    await page.getByRole('button', { name: 'Send USDC' }).click()
    await tried
    await page.reload()
    if (storage !== '') await page.getByRole('button', { name: 'Use your passkey' }).click()
    await page.getByText(/It is not known yet whether 1.00 USDC were sent/).waitFor()
    expect(await page.getByText(/on their way/).count()).toBe(0)
    isCut = false
    await page
      .getByText(/1.00 USDC were sent to/)
      .filter({ hasNotText: 'not known' })
      .waitFor()
    expect([answers.length, new Set(sent.slice(1)).size]).toEqual([0, 1])
    expect(await usdcOf(shop.chain, home)).toBe(1_000_000n)
  })

  it('may decline, and is charged nothing', async () => {
    const { id } = await shop.sell({ fields: [], price: 2 })
    const device = new Device()
    const { page } = await visit(`${id}?lang=en`, DEVICES[1][1], device)
    await device.declines(true)
    await page.getByRole('button', { name: 'Pay with a new passkey' }).click()
    await page
      .getByText(/You did not connect a wallet/)
      .first()
      .waitFor()
    await device.declines(false)
    await page.getByRole('button', { name: 'Pay with a new passkey' }).click()
    await page.getByText(/You need 2.00 USDC more/).waitFor()
    const address = await addressOn(page)
    await shop.chain.fund(address, 2_000_000n)
    await page.getByRole('button', { name: 'Check again' }).click()
    await device.declines(true)
    await page.getByRole('button', { name: 'Pay 2.00 USDC' }).click()
    await page
      .getByText(/You declined in your wallet/)
      .first()
      .waitFor()
    expect(await usdcOf(shop.chain, address)).toBe(2_000_000n)
  })

  it('sees no passkey option in a browser without passkeys', async () => {
    const { id } = await shop.sell({ fields: [] })
    const without = await shop.visit({ id: `${id}?lang=en` }, { ...DEVICES[0][1], wallet: false })
    await without.page.getByText('There is no wallet in this browser.').waitFor()
    expect(await without.page.getByRole('button', { name: /passkey/ }).count()).toBe(0)
    expect(await shiftsOf(without.page)).toBeLessThan(0.1)
  })

  it('sends no request to another origin and causes no error', () => {
    const port = new URL(shop.service.origin).port
    expect(shop.problems().filter((one) => !one.startsWith(`asked http://localhost:${port}/`))).toEqual([])
  })
})

/** What a person carries from one browser to another: their passkeys, as a synchronised account has them. */
class Device {
  #credentials: unknown[] = []
  #last: { session: CDPSession; authenticatorId: string } | null = null

  async join(page: Page): Promise<void> {
    if (this.#last !== null) {
      const { session, authenticatorId } = this.#last
      const stored = await session.send('WebAuthn.getCredentials', { authenticatorId })
      this.#credentials = stored.credentials
    }
    const session = await page.context().newCDPSession(page)
    await session.send('WebAuthn.enable')
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    for (const credential of this.#credentials) {
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never })
    }
    this.#last = { session, authenticatorId }
  }

  /** From now on the person is not recognised by the device's lock. */
  async declines(declines: boolean): Promise<void> {
    const { session, authenticatorId } = this.#last!
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: !declines })
  }
}
