import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrameLocator, Page } from 'playwright-core'
import type { Hex } from '../../service/chain/model.ts'
import { status } from '../deliveries/receiver.ts'
import { transfer } from '../wallet/world.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop, type Visit } from './shop.ts'

/** A site of a seller, under a strict policy of its own. What its page hears is in `__heard`. */
interface Site {
  origin: string
  /** The page with this in its body. */
  shows(body: string): string
  close(): void
}

const LISTEN = `
  window.__heard = []
  addEventListener('message', ({ origin, data }) => window.__heard.push({ origin, data }))
  addEventListener('coinslot:paid', ({ detail }) => window.__heard.push({ event: detail }))
`

async function openSite(host: string, pay: string): Promise<Site> {
  const pages = new Map<string, string>()
  const nonce = randomUUID()
  const server: Server = createServer((request, response) => {
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; script-src 'nonce-${nonce}' ${pay}; frame-src ${pay}; require-trusted-types-for 'script'`,
    )
    const html = `<!doctype html><html lang="en"><title>Shop</title><script nonce="${nonce}">${LISTEN}</script>
      <main><h1>Shop</h1>${pages.get(request.url ?? '') ?? ''}</main></html>`
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://${host}:${String((server.address() as AddressInfo).port)}`
  return {
    origin,
    shows(body) {
      const path = `/${randomUUID()}`
      pages.set(path, body)
      return origin + path
    },
    close: () => server.close(),
  }
}

type PageMessages = { origin?: string; data?: Record<string, unknown>; event?: unknown }[]

inBrowser('a checkout in the page of another site', () => {
  let shop: Shop
  /** Another site than the service, to the browser too: what it stores for one is apart from the other. */
  let mine: Site
  let other: Site

  beforeAll(async () => {
    shop = await openShop()
    ;[mine, other] = await Promise.all([
      openSite('localhost', shop.service.origin),
      openSite('127.0.0.1', shop.service.origin),
    ])
  })
  afterAll(async () => {
    mine.close()
    other.close()
    await shop.close()
  })

  const sell = (terms: object = {}) => shop.sell({ fields: [], embedOrigins: [mine.origin], ...terms })
  const script = (id: string, more = '') =>
    `<script src="${shop.service.origin}/embed.js" data-checkout="${id}" ${more} async></script>`
  const open = async (id: string, address: string, options: Parameters<Shop['visit']>[1] = {}): Promise<Visit> => {
    const visit = await shop.visit({ id }, options)
    visit.context.setDefaultTimeout(15_000)
    await visit.page.goto(address)
    return visit
  }
  const messagesIn = (page: Page): Promise<PageMessages> => page.evaluate('window.__heard')
  const paidIn = async (page: Page): Promise<PageMessages> => {
    // The site's policy forbids the evaluation of text, with which the browser's driver would wait.
    await page.evaluate(`new Promise((done) => {
      const isPaid = ({ data }) => data?.type === 'coinslot:paid'
      const look = () => (window.__heard.some(isPaid) ? done() : setTimeout(look, 50))
      look()
    })`)
    return await messagesIn(page)
  }
  /** Opens it, and waits until the browser shows an error in place of the frame. */
  const refused = (page: Page, address: string): Promise<unknown> =>
    Promise.all([
      page.waitForEvent('framenavigated', (frame) => frame.url().startsWith('chrome-error:')),
      page.goto(address),
    ])
  const frameOf = (page: Page): FrameLocator => page.frameLocator('iframe')

  it('a button opens it, by keyboard too, and the page learns of the payment only', async () => {
    const { id } = await sell({ testMode: true })
    const { page, picture } = await open(id, mine.shows(script(id, 'data-label="Buy the audit"')), { wallet: false })
    const button = page.getByRole('button', { name: 'Buy the audit' })
    await button.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Buy the audit' })
    await frameOf(page).getByRole('button', { name: 'Simulate payment' }).waitFor()
    expect(await barriers(page)).toEqual([])
    await picture('embed-button-light-1280')
    // Escape closes it from inside and from around the frame, and the focus is where it was.
    await frameOf(page).getByRole('button', { name: 'Simulate payment' }).focus()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await picture('embed-button-light-390')
    await frameOf(page).getByRole('button', { name: 'Simulate payment' }).click()
    const received = await paidIn(page)
    const payment = (await shop.person.call('GET', `/v1/checkouts/${id}/payments`)).body.payments[0].id as string
    const paid = { paymentId: payment, checkoutId: id }
    const messages = received.filter(({ data }) => data !== undefined)
    expect(new Set(messages.map(({ origin }) => origin))).toEqual(new Set([shop.service.origin]))
    expect(messages.filter(({ data }) => data?.['type'] === 'coinslot:paid')).toEqual([
      { origin: shop.service.origin, data: { type: 'coinslot:paid', ...paid } },
    ])
    expect(received).toContainEqual({ event: paid })
    expect(JSON.stringify(received)).not.toContain('tok_')
    expect(await page.evaluate('Object.keys(window).filter((name) => /coinslot|embed/i.test(name))')).toEqual([])
    // A reload inside the frame stays in it.
    await page.frames()[1]?.evaluate('location.reload()')
    await frameOf(page).getByText('Order started').waitFor()
  })

  it("an inline frame fits its content's height, and a wallet that works in frames pays there", async () => {
    const { id } = await sell()
    const { page, picture } = await open(id, mine.shows(script(id, 'data-mode="frame"')))
    await frameOf(page)
      .getByRole('button', { name: /Test Wallet/ })
      .click()
    await frameOf(page)
      .getByRole('button', { name: /^Pay 5/ })
      .click()
    await paidIn(page)
    await frameOf(page).getByText('Order started').waitFor()
    await picture('embed-frame-light-1280')
    expect(await page.frames()[1]?.evaluate('document.documentElement.scrollHeight <= innerHeight + 1')).toBe(true)
  })

  it('shows what was paid again after a reload of the site, until it is ordered again', async () => {
    const { id } = await sell({ testMode: true, callbackUrl: undefined, after: { kind: 'text', text: 'The audit.' } })
    const { page, context, picture } = await open(id, mine.shows(script(id, 'data-mode="frame"')), { wallet: false })
    const frame = frameOf(page)
    await frame.getByRole('button', { name: 'Simulate payment' }).click()
    await paidIn(page)
    await frame.getByText('The audit.').waitFor()
    await page.reload()
    await frame.getByText('The audit.').waitFor()
    await picture('embed-again')
    expect((await messagesIn(page)).filter(({ data }) => data?.['type'] === 'coinslot:paid')).toEqual([])
    // No site may frame the receipt's page.
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      frame.getByRole('link', { name: 'Link to come back' }).click(),
    ])
    await tab.getByText('The audit.').waitFor()
    await frame.getByRole('button', { name: 'Order again' }).click()
    await frame.getByRole('button', { name: 'Simulate payment' }).waitFor()
    await page.reload()
    await frame.getByRole('button', { name: 'Simulate payment' }).waitFor()
  })

  it('shows an order by transfer again after a reload of the site, with its link, and the form when it is left', async () => {
    const { id } = await sell()
    const { page, picture } = await open(id, mine.shows(script(id, 'data-mode="frame"')), { wallet: false })
    const frame = frameOf(page)
    const shown = async (): Promise<Hex> => {
      await frame.getByText('Waiting for your transfer').waitFor()
      return (await frame.locator('.copied code').first().innerText()).toLowerCase() as Hex
    }
    await frame.getByRole('button', { name: /Pay without a wallet/ }).click()
    await frame.getByRole('button', { name: 'Show where to send' }).click()
    const address = await shown()
    // Its money may be on its way all the same.
    await frame.getByRole('button', { name: 'Pay with a wallet instead' }).click()
    await frame.getByRole('button', { name: /Pay without a wallet/ }).waitFor()
    // An answer that is not about the order leaves it there.
    const looks = /addresses\/adr_/
    await page.route(looks, (route) => route.fulfill({ status: 404, json: { code: 'not_found' } }))
    await Promise.all([page.waitForResponse(looks), page.reload()])
    await page.waitForResponse(looks)
    expect(await frame.getByRole('button', { name: 'Order again' }).count()).toBe(0)
    await page.unroute(looks)
    expect(await shown()).toBe(address)
    await picture('embed-transfer')
    const tab = await page.context().newPage()
    await tab.goto(await frame.locator('.copied code').last().innerText())
    await tab.getByText('Waiting for your transfer').waitFor()
    await transfer(shop.chain, (await shop.chain.payer(5_000_000n)).address, address, 5_000_000n)
    // An address is looked at no more often than this.
    shop.service.clock.forward(10_000)
    await frame.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await frame.getByRole('button', { name: 'Order again' }).click()
    await frame.getByRole('button', { name: /Pay without a wallet/ }).waitFor()
    await page.reload()
    await frame.getByRole('button', { name: /Pay without a wallet/ }).waitFor()
  })

  it('shows an order by transfer that was left once more after a payment of another one', async () => {
    const { id } = await sell({ fields: [] })
    const { page } = await open(id, mine.shows(script(id, 'data-mode="frame"')))
    const frame = frameOf(page)
    await frame.getByRole('button', { name: /Pay without a wallet/ }).click()
    await frame.getByRole('button', { name: 'Show where to send' }).click()
    await frame.getByText('Waiting for your transfer').waitFor()
    const address = await frame.locator('.copied code').first().innerText()
    await frame.getByRole('button', { name: 'Pay with a wallet instead' }).click()
    await frame.getByRole('button', { name: /Test Wallet/ }).click()
    await frame.getByRole('button', { name: /^Pay 5/ }).click()
    await frame.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await page.reload()
    await frame.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await frame.getByRole('button', { name: 'Order again' }).click()
    await frame
      .getByRole('button', { name: /^Pay 5|Test Wallet/ })
      .first()
      .waitFor()
    await page.reload()
    await frame.getByText('Waiting for your transfer').waitFor()
    expect(await frame.locator('.copied code').first().innerText()).toBe(address)
  })

  const end = async (id: string): Promise<void> => {
    expect((await shop.person.call('DELETE', `/v1/checkouts/${id}`)).status).toBeLessThan(300)
  }

  it('shows an order by transfer and a payment again after the checkout has ended', async () => {
    const { id } = await sell({ fields: [] })
    const { page } = await open(id, mine.shows(script(id, 'data-mode="frame"')), { wallet: false })
    const frame = frameOf(page)
    await frame.getByRole('button', { name: /Pay without a wallet/ }).click()
    await frame.getByRole('button', { name: 'Show where to send' }).click()
    await frame.getByText('Waiting for your transfer').waitFor()
    const address = (await frame.locator('.copied code').first().innerText()).toLowerCase() as Hex
    await transfer(shop.chain, (await shop.chain.payer(5_000_000n)).address, address, 2_000_000n)
    shop.service.clock.forward(10_000)
    await frame.getByText(/2.00 USDC of 5.00 USDC have arrived/).waitFor()
    await end(id)
    await page.reload()
    await frame.getByText(/2.00 USDC of 5.00 USDC have arrived/).waitFor()

    const paid = await sell({ fields: [], testMode: true })
    await page.goto(mine.shows(script(paid.id, 'data-mode="frame"')))
    await frame.getByRole('button', { name: 'Simulate payment' }).click()
    await frame.getByText('Order started').waitFor()
    await end(paid.id)
    await page.reload()
    await frame.getByText('Order started').waitFor()
  })

  it('a form in a frame takes an upload, and sends its link', async () => {
    const fields = [{ name: 'paper', label: 'Your paper', type: 'file', required: true }]
    const { id } = await sell({ fields, testMode: true })
    const { page } = await open(id, mine.shows(script(id, 'data-mode="frame"')), { wallet: false })
    const frame = frameOf(page)
    const paper = { name: 'My paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 the paper') }
    await frame.locator('#field-paper').setInputFiles(paper)
    await frame.getByRole('status').getByText('My paper.pdf').waitFor()
    const { length } = shop.receiver.calls
    await frame.getByRole('button', { name: 'Simulate payment' }).click()
    await paidIn(page)
    await shop.receiver.waitForCalls(length + 1)
    const { input } = JSON.parse(shop.receiver.calls[length]!.body) as { input: { paper: string } }
    expect(input.paper).toContain(`/p/${id}/files/`)
    // Whoever has the link has the file: the site around the form does not learn it.
    expect(JSON.stringify(await messagesIn(page))).not.toContain('/files/')
  })

  it('a chat in an inline frame is paid once, continues, and keeps its height', async () => {
    shop.receiver.answers(status(200, '{"output":"At your service."}'))
    const plans = [{ id: 'three', name: 'Starter', price: 0.6, kind: 'runs', runs: 3 }]
    const chat = { chat: { greeting: 'Hello!' }, plans, responseMode: 'lastNode' }
    const { id } = await sell({ ...chat, testMode: true })
    const { page, picture } = await open(id, mine.shows(script(id, 'data-mode="frame"')))
    const frame = frameOf(page)
    await frame.getByLabel('Your message').fill('Hi')
    await frame.getByRole('button', { name: 'Simulate payment' }).click()
    await frame.getByText('2 messages left').waitFor()
    await frame.getByText('At your service.').waitFor()
    const height = () => page.frames()[1]?.evaluate<number>('document.documentElement.scrollHeight')
    const before = await height()
    await frame.getByLabel('Your message').fill('And again?')
    await frame.getByRole('button', { name: 'Send' }).click()
    await frame.getByText('1 message left').waitFor()
    await frame.getByText('At your service.').nth(1).waitFor()
    expect(await height()).toBe(before)
    await picture('embed-chat')
    expect((await messagesIn(page)).filter(({ data }) => data?.['type'] === 'coinslot:paid')).toHaveLength(1)
  })

  it('a wallet that does not work in frames pays in a tab, and the frame shows it', async () => {
    const { id } = await sell()
    const { page, context } = await open(id, mine.shows(script(id, 'data-mode="frame"')), {
      prepare: async (each) => {
        await each.context().addInitScript(`if (window !== top) {
          window.addEventListener('eip6963:announceProvider', (event) => event.stopImmediatePropagation(), true)
        }`)
      },
    })
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      frameOf(page).getByRole('button', { name: 'Pay in a new tab' }).click(),
    ])
    await tab.getByRole('button', { name: /Test Wallet/ }).click()
    await tab.getByRole('button', { name: /^Pay 5/ }).click()
    await tab.getByText('Order started').waitFor()
    await paidIn(page)
    await frameOf(page).getByText('Order started').waitFor()
    expect(JSON.stringify(await messagesIn(page))).not.toContain('tok_')
  })

  it('a site that is not allowed cannot frame it, also when it names an allowed one', async () => {
    const { id } = await sell({ testMode: true })
    const pay = `${shop.service.origin}/p/${id}`
    const { page } = await open(id, other.shows(script(id, 'data-mode="frame"')), { wallet: false })
    await page.getByRole('link', { name: 'Open the payment page' }).waitFor()
    for (const src of [pay, `${pay}?embed=${other.origin}`, `${pay}?embed=${mine.origin}`]) {
      await refused(page, other.shows(`<iframe title="Pay" src="${src}"></iframe>`))
    }
    // An allowed site inside of one that is not is not allowed either.
    const inner = mine.shows(`<iframe title="Pay" src="${pay}?embed=${mine.origin}"></iframe>`)
    const outer = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<iframe src="${inner}"></iframe>`)
    })
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve))
    await refused(page, `http://127.0.0.1:${String((outer.address() as AddressInfo).port)}/`)
    expect(page.frames().map((frame) => new URL(frame.url()).protocol)).toEqual(['http:', 'http:', 'chrome-error:'])
    expect(await page.frames()[1]?.evaluate('window.__heard')).toEqual([])
    outer.close()
  })

  it('no message of the surrounding site changes the price, the recipient, the input or the result', async () => {
    const fields = [{ name: 'site', label: 'Website', type: 'text', required: true }]
    const { id, recipient } = await sell({ fields })
    const { page, payer } = await open(id, mine.shows(script(id, 'data-mode="frame"')))
    const frame = frameOf(page)
    await frame.getByLabel('Website').fill('example.com')
    const attack = (): Promise<unknown> =>
      page.evaluate(`{ const framed = document.querySelector('div').shadowRoot.querySelector('iframe').contentWindow
      for (const type of ['coinslot:paid', 'coinslot:tab-paid', 'coinslot:resize', 'state', 'page']) {
        const data = {
          type, payment: 'pay_00000000000000000000000000', paymentId: 'pay_1', token: 'tok_' + 'A'.repeat(43),
          page: { checkout: { price: 0.01, recipient: '0x${'66'.repeat(20)}' } }, price: 0.01,
          recipient: '0x${'66'.repeat(20)}', input: { site: 'evil.example' }, state: { payment: { status: 'paid' } },
        }
        framed.postMessage(data, '*')
        framed.postMessage(JSON.stringify(data), '*')
      } }`)
    await attack()
    await frame.getByRole('button', { name: /Test Wallet/ }).click()
    await attack()
    expect(await frame.getByLabel('Website').inputValue()).toBe('example.com')
    const { length } = shop.receiver.calls
    await frame.getByRole('button', { name: /^Pay 5/ }).click()
    await attack()
    const received = await paidIn(page)
    await shop.receiver.waitForCalls(length + 1)
    expect(JSON.parse(shop.receiver.calls[length]!.body)).toMatchObject({
      payment: { amount: 5, payer: payer.address.toLowerCase() },
      input: { site: 'example.com' },
    })
    const [payment] = (await shop.person.call('GET', `/v1/checkouts/${id}/payments`)).body.payments
    expect(payment).toMatchObject({ amount: 5, status: 'paid' })
    expect(received.filter(({ data }) => data?.['type'] === 'coinslot:paid')).toHaveLength(1)
    expect((await shop.person.call('GET', `/v1/checkouts/${id}`)).body.checkout.recipient).toBe(recipient.toLowerCase())
  })
})
