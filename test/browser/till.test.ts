import type { Page } from 'playwright-core'
import { ok } from '../deliveries/receiver.ts'
import { signed, type ToSign } from '../refunds/own.ts'
import { refund } from '../refunds/sales.ts'
import { barriers } from './access.ts'
import { inBrowser, picture } from './chromium.ts'
import { openShop, shiftsOf, type Shop } from './shop.ts'

const ANSWER = '# Your audit\n\n| page | problem |\n|---|---|\n| / | **slow** |\n'

/** What the page of a payment shows after the money: the work, its answer, and money that goes back. */
inBrowser('the page of a payment', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())
  afterEach(() => {
    expect(shop.problems()).toEqual([])
  })

  /** On a desktop and on a telephone, where everything must be readable too. */
  async function pictures(page: Page, name: string): Promise<void> {
    for (const [size, width] of [
      ['phone', 390],
      ['desktop', 1280],
    ] as const) {
      await page.setViewportSize({ width, height: 844 })
      await picture(page, `till-${name}-${size}`, { fullPage: true })
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
  }

  const paymentIn = (page: Page): string => String(new URL(page.url()).searchParams.get('payment'))

  it("shows the workflow's progress as it comes, also after a reload, and then the answer", async () => {
    let finish: () => void = () => undefined
    shop.receiver.answers((response) => {
      finish = () => void response.writeHead(200).end(ANSWER)
    })
    const scripts: string[] = []
    const sale = await shop.sell({ fields: [], testMode: true, responseMode: 'lastNode' })
    const { page } = await shop.visit(sale, {
      wallet: false,
      prepare: (page) => {
        page.on('request', (request) => {
          if (request.resourceType() === 'script') scripts.push(request.url().replace(/^.*[/]|-.*$/g, ''))
        })
        return Promise.resolve()
      },
    })
    const button = page.getByRole('button', { name: 'Simulate payment' })
    await button.waitFor()
    // What shows answers is no part of the first script.
    expect(scripts).toEqual(['main'])
    await button.click()
    await shop.receiver.waitForCalls(1)
    await page.getByText('Starting your order').waitFor()
    const write = async (body: Record<string, unknown>): Promise<void> => {
      const { status, text } = await shop.person.call('POST', `/v1/payments/${paymentIn(page)}/progress`, { body })
      expect([status, text]).toEqual([200, '{"shown":true}'])
    }
    const log = page.getByRole('log', { name: 'Progress' })
    await write({ text: 'Reading <img src=x onerror=alert(1)> of the site', percent: 20 })
    await log.getByText('Reading <img src=x onerror=alert(1)> of the site').waitFor()
    await page.getByText('Order in progress').waitFor()
    const before = await shiftsOf(page)
    for (const [place, text] of ['Measuring it', 'Writing '.repeat(24)].entries()) {
      await write({ text, percent: 40 + 40 * place })
      await log.getByText(text.trim()).waitFor()
    }
    expect(await page.getByRole('progressbar', { name: 'Progress' }).getAttribute('value')).toBe('80')
    expect((await shiftsOf(page)) - before).toBeLessThan(0.02)
    await pictures(page, 'progress')
    await page.reload()
    await log.getByText('Measuring it').waitFor()

    finish()
    await page.getByRole('heading', { name: 'Your audit' }).waitFor()
    expect(await log.count()).toBe(0)
    await page.getByRole('cell', { name: 'slow' }).waitFor()
    await pictures(page, 'answer')
    await page.reload()
    await page.getByRole('heading', { name: 'Your audit' }).waitFor()
    expect(await shiftsOf(page)).toBeLessThan(0.02)
  })

  it('shows a further amount when it comes, to refuse it or pay it on its own page', async () => {
    let finish: () => void = () => undefined
    shop.receiver.answers((response) => {
      finish = () => void response.writeHead(200).end(ANSWER)
    })
    const { page } = await shop.visit(await shop.sell({ fields: [], testMode: true, responseMode: 'lastNode' }), {
      wallet: false,
    })
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.waitForURL(/[?&]payment=pay_/)
    const requestMore = async (amount: number, note: string): Promise<void> => {
      const body = { amount, note }
      const { status } = await shop.person.call('POST', `/v1/payments/${paymentIn(page)}/requests`, { body })
      expect(status).toBe(201)
    }
    const request = page.getByRole('region', { name: 'The seller asks for more' })
    await requestMore(2, 'Forty <b>more</b> pages')
    await request.getByText('Forty <b>more</b> pages').waitFor()
    await pictures(page, 'request')
    await request.getByRole('button', { name: 'Refuse' }).click()
    await request.getByText('Refused. Nothing was charged.').waitFor()

    await requestMore(3, 'A second language')
    const link = request.getByRole('link', { name: 'Pay 3.00 USDC' })
    const [further] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await further.getByText('A second language').first().waitFor()
    await further.getByRole('button', { name: 'Simulate payment' }).click()
    // The page of the order hears of it, also after a reload.
    await request.getByText('Paid.', { exact: true }).waitFor()
    await page.reload()
    await request.getByText('Paid.', { exact: true }).waitFor()
    finish()
    await page.getByRole('heading', { name: 'Your audit' }).waitFor()
  })

  it('shows each refund as pending, failed, partial with its transaction, or full', async () => {
    shop.receiver.answers(ok)
    const { page } = await shop.visit(await shop.sell({ fields: [] }))
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    const payment = paymentIn(page)
    const seller = shop.chain.accounts[3]!
    const list = page.getByRole('list', { name: 'Refunds' })

    const answer = await refund(shop.person, payment, { from: 'own', amount: 2 })
    expect(answer.status).toBe(202)
    await page.reload()
    await list.getByText('A refund of 2.00 USDC is on its way.').waitFor()
    await pictures(page, 'refund-under-way')
    const { id, toSign } = answer.body.refund as { id: string; toSign: ToSign }
    const signature = await signed(toSign, seller.privateKey)
    const path = `/v1/payments/${payment}/refunds/${id}/signature`
    expect((await shop.person.call('POST', path, { body: { signature } })).status).toBeLessThan(300)
    const mining = setInterval(() => void shop.chain.mine(1), 300)
    const partly = list.getByText('2.00 USDC was refunded.')
    while ((await partly.count()) === 0) {
      await page.reload()
      await page.getByText('Payment number').waitFor()
    }
    expect(await list.getByRole('link', { name: /^0x/ }).getAttribute('href')).toMatch(/\/tx\/0x[0-9a-f]{64}$/)
    expect(await page.getByRole('heading', { name: 'Payment complete' }).count()).toBe(1)

    // Nobody signs the second one. The third pays the rest.
    await refund(shop.person, payment, { from: 'own', amount: 1 })
    await shop.service.database.statements.run(
      `UPDATE refund SET state = 'failed', failure = 'expired', ended_at = now(), look_at = NULL WHERE sale_id = $1 AND state = 'requested'`,
      [payment],
    )
    await page.reload()
    await list.getByText('A refund of 1.00 USDC did not go through.').waitFor()
    await pictures(page, 'refund-partly-and-failed')
    const rest = (await refund(shop.person, payment, { from: 'own' })).body.refund as { id: string; toSign: ToSign }
    const rests = `/v1/payments/${payment}/refunds/${rest.id}/signature`
    await shop.person.call('POST', rests, { body: { signature: await signed(rest.toSign, seller.privateKey) } })
    while ((await list.getByText('3.00 USDC was refunded.').count()) === 0) {
      await page.reload()
      await page.getByText('Payment number').waitFor()
    }
    clearInterval(mining)
    await page.getByRole('heading', { name: 'Payment refunded' }).waitFor()
    expect(await shiftsOf(page)).toBeLessThan(0.02)
    await pictures(page, 'refund-whole')
    // Who knows the payment's number alone sees none of it.
    await page.goto(
      `${shop.service.origin}/p/${page.url().replace(/^.*[/]p[/]([^?]+)[?].*$/, '$1')}/payments/${payment}`,
    )
    await page.getByText('Payment number').waitFor()
    expect(await list.count()).toBe(0)
  })
})
