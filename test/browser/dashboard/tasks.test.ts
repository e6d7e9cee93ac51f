import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { startReceiver, status, type Receiver } from '../../deliveries/receiver.ts'
import { promptBody, toolBody } from '../../marketplace/bodies.ts'
import { addSale } from '../../refunds/sales.ts'
import { inBrowser } from '../chromium.ts'
import { callerOf, openDesk, pictures, STORY_MS, type Desk, type Seat } from './desk.ts'

const MONTH_MS = 31 * 86_400_000

/** Each begins on the overview and ends when the page says that it is done. */
inBrowser('the five things that somebody who looks after the money does', () => {
  let desk: Desk
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    desk = await openDesk({ ALLOW_HOSTS: '127.0.0.1' })
  })
  afterAll(async () => {
    await desk.close()
    await receiver.close()
  })

  it(
    'finds a failed delivery and sends it again',
    async () => {
      const seat = await desk.sit('/')
      const { page } = seat
      receiver.answers(status(410))
      const { pay } = await testPayment(seat)
      await page.getByRole('link', { name: /1 delivery was refused/ }).waitFor()
      await timed('a failed delivery', page, async (hand) => {
        await hand.click(page.getByRole('link', { name: /1 delivery was refused/ }))
        await hand.click(page.getByRole('button', { name: pay }))
        receiver.answers(status(200))
        await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Send again' }))
        await page.getByRole('dialog').getByText('delivered', { exact: true }).waitFor()
      })
      await page.getByRole('dialog').getByRole('link', { name: pay }).click()
      await page.getByText('The customer’s input').waitFor()
      await page.getByText('https://example.com', { exact: true }).waitFor()
      await page.getByText('Delivered', { exact: true }).waitFor()
      await pictures(page, 'payment-delivered')
    },
    STORY_MS,
  )

  it(
    'refunds a buyer',
    async () => {
      const seat = await desk.sit('/')
      const { page, call } = seat
      await call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
      const receipt = { email: 'grace@example.com', language: 'en' }
      for (const email of ['ada@example.com', 'grace@example.com', 'alan@example.com']) {
        const details = { input: { site: 'example.com' }, receipt: { ...receipt, email } }
        await addSale(desk.service, await callerOf(desk, seat), { amount: 5_000_000, details })
      }
      await page.reload()
      await page.getByText('Latest payments').waitFor()
      await pictures(page, 'overview-payments')
      await timed('a refund', page, async (hand) => {
        await hand.click(page.getByRole('link', { name: 'Payments', exact: true }))
        // As it stands in the buyer's mail.
        await hand.paste(page.getByLabel('E-mail or 0x address'), receipt.email)
        await page.getByText('ada@example.com').waitFor({ state: 'detached' })
        await hand.click(page.getByRole('row', { name: /grace@example.com/ }).getByRole('link'))
        await hand.click(page.getByRole('button', { name: 'Refund payment' }))
        const dialog = page.getByRole('dialog')
        await hand.type(dialog.getByLabel('Reason'), 'Not wanted')
        await hand.click(dialog.getByRole('button', { name: 'Refund payment' }))
        await page.getByText('Refund of 5.00 USDC requested.', { exact: true }).waitFor()
      })
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
      await page.getByText('Refund of 5.00 USDC requested', { exact: true }).waitFor()
      await pictures(page, 'payment-refunded')
      const { payments } = (await call('GET', '/v1/payments?refunded=true')).body
      expect(payments).toHaveLength(1)
    },
    STORY_MS,
  )

  it(
    'finds a customer: by a payment, and by the beginning of the e-mail address',
    async () => {
      const seat = await desk.sit('/')
      const { page } = seat
      for (const email of ['ada@example.com', 'Grace@example.com']) {
        const details = { input: { site: 'example.com' }, receipt: { email, language: 'en' } }
        const id = await addSale(desk.service, await callerOf(desk, seat), { amount: 5_000_000, details })
        await page.goto(`${desk.origin}/payments/${id}`)
      }
      await page.getByRole('link', { name: 'All their payments' }).click()
      await page.getByRole('heading', { name: 'grace@example.com' }).waitFor()
      await page.getByRole('row', { name: /5\.00/ }).first().waitFor()
      // One of their payments bought a pass, and some of it went back.
      const { statements } = desk.service.database
      const { user } = (await callerOf(desk, seat)).caller
      const [sale] = await statements.run<{ id: string }>(
        `UPDATE sale SET refunded = 2000000 WHERE user_id = $1 AND details #>> '{receipt,email}' = 'Grace@example.com' RETURNING id`,
        [user.id],
      )
      const pass = `pas_${String(sale?.id.slice(4))}`
      await statements.run(
        `WITH added AS (
           INSERT INTO pass (id, checkout_id, user_id, environment, plan_id, plan_name, holder, simulated, network, token_hash, runs, used, created_at)
           SELECT $1, 'chk_none', $2, 'sandbox', 'ten', 'Ten audits', '0x' || repeat('0', 40), false, network, sha256('pass'), 10, 3, now()
           FROM sale WHERE id = $3
           RETURNING id
         ) INSERT INTO pass_sale (sale_id, pass_id, runs) SELECT $3, id, 10 FROM added`,
        [pass, user.id, sale?.id],
      )
      await prepaid(desk, seat, sale?.id ?? '')
      await page.reload()
      await page.getByRole('region', { name: 'Refunds' }).getByText('2.00').waitFor()
      const ahead = page.getByRole('region', { name: 'Prepaid at paywalls' })
      await ahead.getByText('0.50 of 2.00 USDC used').waitFor()
      await ahead.getByText('1.50').waitFor()
      await page
        .getByRole('row', { name: /Ten audits/ })
        .getByText('7 of 10')
        .waitFor()
      await pictures(page, 'customer')
      await page.getByRole('list', { name: 'Money' }).getByRole('link', { name: 'Customers' }).click()
      await page.getByRole('row', { name: /ada@example.com/ }).waitFor()
      await pictures(page, 'customers')
      await page.getByRole('searchbox', { name: 'Begins with' }).fill('Gra')
      await page.getByRole('row', { name: /ada@example.com/ }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'grace@example.com' }).click()
      await page.getByRole('heading', { name: 'grace@example.com' }).waitFor()
      await page.getByRole('row', { name: /grace@example.com/i }).waitFor()
      await page.getByRole('row', { name: /Ten audits/ }).waitFor()
    },
    STORY_MS,
  )

  it(
    'sees from where an order by transfer was paid',
    async () => {
      const seat = await desk.sit('/')
      const { page } = seat
      const caller = await callerOf(desk, seat)
      const [address, sender] = ['5e'.repeat(20), 'ec'.repeat(20)]
      await desk.service.database.statements.run(
        `INSERT INTO payment_address (id, user_id, environment, checkout_id, network, account, address, amount, bought,
           expires_at, created_at, looked_at, senders)
         VALUES ('adr_desk', $1, 'sandbox', 'chk_none', 'base-sepolia', '0x00', decode($2, 'hex'), 5000000, '{}',
           now(), now(), now(), ARRAY[decode($3, 'hex')])`,
        [caller.caller.user.id, address, sender],
      )
      await addSale(desk.service, caller, { amount: 5_000_000, payer: `0x${address}` })
      await page.goto(`${desk.origin}/customers`)
      await page.getByRole('link', { name: /^By transfer from 0xecec/ }).waitFor()
      await pictures(page, 'customers-transfer')
      await page.getByRole('link', { name: /^By transfer from 0xecec/ }).click()
      const facts = page.getByRole('region', { name: 'Customer', exact: true })
      await facts.getByText(`0x${sender}`).waitFor()
      await facts.getByText(/sends for many people/).waitFor()
      await pictures(page, 'customer-transfer')
      await page
        .getByRole('row', { name: /By transfer from/ })
        .getByRole('link')
        .first()
        .click()
      const payment = page.getByRole('region', { name: 'Payment', exact: true })
      await payment.getByText('Sent from', { exact: true }).waitFor()
      await payment.getByText(`0x${address}`).waitFor()
      await pictures(page, 'payment-transfer')
    },
    STORY_MS,
  )

  it(
    'sees why an asset fails',
    async () => {
      const creator = await desk.sit('/')
      const customer = await desk.sit('/')
      const { page } = creator
      await customer.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
      const { rda } = (await creator.call('POST', '/v1/rda', { body: toolBody({ name: 'Weather of a city' }) })).body
      expect((await creator.call('POST', `/v1/rda/${String(rda.slug)}/publish`)).status).toBe(200)
      await customer.call('POST', '/v1/run', { body: { rdaSlug: rda.slug, inputs: { city: 'Turin' } } })
      await timed('why an asset fails', page, async (hand) => {
        await hand.click(page.getByRole('link', { name: 'Assets', exact: true }))
        await hand.click(page.getByRole('link', { name: 'Weather of a city' }))
        await page.getByRole('cell', { name: /failed.+(?:API|answer|reach|connect)/i }).waitFor()
      })
      await pictures(page, 'asset-failing')
    },
    STORY_MS,
  )

  it(
    'exports last month, through a link',
    async () => {
      const seat = await desk.sit('/')
      const before = await addSale(desk.service, await callerOf(desk, seat), { details: { slug: '=HYPERLINK("x")' } })
      desk.service.clock.forward(MONTH_MS)
      const later = await desk.sit('/')
      const caller = await callerOf(desk, later)
      // One of the month that is over, and one of this month, for an account of its own.
      await desk.service.database.statements.run(`UPDATE sale SET user_id = $2 WHERE id = $1`, [
        before,
        caller.caller.user.id,
      ])
      const now = await addSale(desk.service, caller)
      const { page } = later
      const file = await timed('an export', page, async (hand) => {
        await hand.click(page.getByRole('link', { name: 'Payments', exact: true }))
        await hand.choose(page.getByLabel('Period'), 'Last month')
        await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          hand.click(page.getByRole('button', { name: 'CSV' })),
        ])
        return await readFile(await download.path(), 'utf8')
      })
      expect(file).toContain(before)
      expect(file).toContain(`'=HYPERLINK`)
      expect(file).not.toContain(now)
      await pictures(page, 'payments-last-month')
      // Whoever opens the link sees the same list.
      await page.goto(page.url())
      await page.getByRole('row').nth(1).waitFor()
      expect(await page.getByLabel('Period').inputValue()).toBe('last-month')
      expect(await page.getByRole('row').count()).toBe(2)
      await page.getByRole('button', { name: 'Save view' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Month end')
      await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
      await pictures(page, 'payments-saved-view')
      await page.getByLabel('Period').selectOption('')
      await page.getByLabel('Saved views').selectOption('Month end')
      expect(await page.getByLabel('Period').inputValue()).toBe('last-month')
      await page.reload()
      await page.getByRole('button', { name: 'Delete view' }).click()
      expect(await page.getByLabel('Saved views').count()).toBe(0)
      await page.getByLabel('E-mail or 0x address').fill('ada@')
      await page.getByText('Enter the whole e-mail address').waitFor()
      await pictures(page, 'payments-half-customer')
    },
    STORY_MS,
  )

  it(
    "exports a checkout's payments, which tell simulated money from real money",
    async () => {
      const seat = await desk.sit('/')
      receiver.answers(status(200))
      const { pay, checkout } = await testPayment(seat)
      const paid = await addSale(desk.service, await callerOf(desk, seat), { subject: checkout, amount: 5_000_000 })
      await desk.service.database.statements.run('UPDATE sale SET refunded = 2000000 WHERE id = $1', [paid])
      const { page } = seat
      await page.goto(`${desk.origin}/checkouts/${checkout}`)
      await page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(2).waitFor()
      const [titles = [], ...lines] = await exported(page)
      const of = (id: string, title: string) => lines.find((line) => line.includes(id))?.[titles.indexOf(title)]
      expect(['Test', 'Network', 'Amount', 'Refunded'].map((title) => of(pay, title))).toEqual([
        ...['yes', 'base-sepolia', '5', '0'],
      ])
      expect(['Test', 'Network', 'Amount', 'Refunded'].map((title) => of(paid, title))).toEqual([
        ...['no', 'base-sepolia', '5', '2'],
      ])
    },
    STORY_MS,
  )

  it(
    'exports each row of a long list once, though rows arrive meanwhile',
    async () => {
      const { page, call } = await desk.sit('/')
      const hashOf = (nth: number) => `0x${String(nth).padStart(64, '0')}`
      const deposit = async (nth: number): Promise<void> => {
        const body = { amount: 1, transactionHash: hashOf(nth) }
        expect((await call('POST', '/v1/wallet/deposit', { body })).status).toBe(200)
      }
      const before = Array.from({ length: 150 }, (_, nth) => nth)
      for (const nth of before) await deposit(nth)
      await page.route(
        (url) => decodeURIComponent(url.search).includes('"offset":100'),
        async (route) => {
          await deposit(150)
          await route.continue()
        },
      )
      await page.goto(`${desk.origin}/wallet`)
      await page.getByText('150 in total').waitFor()
      const [titles = [], ...lines] = await exported(page)
      const references = lines.map((line) => line[titles.indexOf('Reference')])
      expect(references).toEqual(before.map(hashOf).reverse())
    },
    STORY_MS,
  )

  it(
    'stops an agent',
    async () => {
      const { page, call } = await desk.sit('/')
      const { agent } = (await call('POST', '/v1/agents', { body: { name: 'Research assistant' } })).body
      await call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
      const { rda } = (await call('POST', '/v1/rda', { body: promptBody() })).body
      const { secret } = (await call('POST', '/v1/keys', { body: { name: 'buyer', agentId: agent.id } })).body
      const run = () =>
        desk.service.call('POST', '/v1/run', {
          key: secret,
          body: { rdaSlug: rda.slug, inputs: { article: 'A coin.' } },
        })
      expect((await run()).status).toBe(200)
      await timed('an agent', page, async (hand) => {
        await hand.click(page.getByRole('link', { name: 'Agents', exact: true }))
        await hand.click(page.getByRole('link', { name: 'Research assistant' }))
        await hand.click(page.getByRole('button', { name: 'Pause' }))
        await page.getByText('Agent paused.').first().waitFor()
      })
      expect((await run()).status).toBe(403)
    },
    STORY_MS,
  )

  it('sends no request to another origin and causes no error', () => {
    expect(desk.problems()).toEqual([])
  })

  /** Pays at a new checkout, whose deliveries go to the receiver. */
  async function testPayment({ call }: Seat): Promise<{ pay: string; checkout: string }> {
    const { checkout } = (
      await call('POST', '/v1/checkouts', {
        body: {
          ...{ callbackUrl: receiver.url, product: { name: 'SEO audit' }, price: 5, testMode: true },
          ...{ network: 'base-sepolia', lifetime: 'persistent' },
          fields: [{ name: 'site', label: 'Website', type: 'url', required: true }],
        },
      })
    ).body
    const paid = await desk.service.call('POST', `/p/${String(checkout.id)}/pay`, {
      body: { input: { site: 'https://example.com' }, simulate: true },
    })
    return { pay: paid.body.payment.id as string, checkout: checkout.id as string }
  }
})

/** The cells of the file that the first list of a page exports. No cell of these lists has a comma. */
async function exported(page: Page): Promise<string[][]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).first().click(),
  ])
  const text = await readFile(await download.path(), 'utf8')
  return text
    .slice(1)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
}

/** The wallet of this sale has paid 2 USDC ahead at a paywall of this seat's, and used half a dollar of it. */
async function prepaid(desk: Desk, seat: Seat, sale: string): Promise<void> {
  const { body } = await seat.call('POST', '/v1/paywalls', {
    body: {
      ...{ slug: 'weather', name: 'Weather', upstreamUrl: 'http://127.0.0.1:9', network: 'base-sepolia' },
      recipient: `0x${'a1'.repeat(20)}`,
      routes: [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }],
    },
  })
  await desk.service.database.statements.run(
    `INSERT INTO paywall_balance (paywall_id, network, payer, available, held, paid, drawn)
     SELECT $1, 'base-sepolia', payer, 1500000, 0, 2000000, 500000 FROM sale WHERE id = $2`,
    [body.paywall.id, sale],
  )
}

/** What a person does on a page, and how long it takes them besides what the page takes. */
interface Hand {
  click(target: Locator): Promise<void>
  /** Opens a list and clicks one of its entries. */
  choose(target: Locator, option: string): Promise<void>
  /** Clicks into the field and types. */
  type(target: Locator, text: string): Promise<void>
  /** Clicks into the field and pastes what was copied before. */
  paste(target: Locator, text: string): Promise<void>
}

/**
 * A task of at most six clicks that takes a person less than thirty seconds, by the keystroke-level model of Card, Moran
 * and Newell, in which a click is thinking, pointing and pressing.
 */
async function timed<T>(task: string, page: Page, work: (hand: Hand) => Promise<T>): Promise<T> {
  let clicks = 0
  let personMs = 0
  const click = (): void => {
    clicks++
    personMs += THINK_MS + POINT_MS + PRESS_MS
  }
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const done = await work({
    async click(target) {
      click()
      await target.click()
    },
    async choose(target, option) {
      click()
      click()
      await target.selectOption(option)
    },
    async type(target, text) {
      click()
      personMs += text.length * KEY_MS
      await target.click()
      await target.fill(text)
    },
    async paste(target, text) {
      click()
      personMs += 2 * KEY_MS
      await target.click()
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
      await page.keyboard.press('Control+V')
    },
  })
  const seconds = personMs / 1_000
  process.stderr.write(`${task}: ${String(clicks)} clicks, ${seconds.toFixed(1)} s\n`)
  expect(clicks).toBeLessThanOrEqual(6)
  expect(seconds).toBeLessThan(30)
  return done
}

const THINK_MS = 1_350
const POINT_MS = 1_100
const PRESS_MS = 200
/** Of somebody who types, but not for a living. */
const KEY_MS = 280
