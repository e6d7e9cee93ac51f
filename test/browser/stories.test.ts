import type { Page } from 'playwright-core'
import { startReceiver, type Receiver } from '../deliveries/receiver.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { barriers } from './access.ts'
import { inBrowser, picture } from './chromium.ts'
import { isTooWide, openDesk, STORY_MS, type Desk, type Seat } from './dashboard/desk.ts'
import { COUNT_SHIFTS, shiftsOf } from './shop.ts'
import { putWallet } from './wallet.ts'

/** A seller sets it up with forms alone; a buyer with a wallet uses it. Each takes less than two minutes. */
inBrowser('a seller and a buyer', () => {
  let desk: Desk
  let chain: TestChain
  let receiver: Receiver
  beforeAll(async () => {
    ;[chain, receiver] = await Promise.all([startChain(), startReceiver()])
    desk = await openDesk({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      RATE_PAY_PER_MINUTE: '0',
    })
  })
  afterAll(async () => {
    await desk.close()
    await receiver.close()
    await chain.stop()
  })

  /** On a desktop and on a phone. */
  async function pictures(page: Page, name: string): Promise<void> {
    for (const [size, width] of [
      ['phone', 390],
      ['desktop', 1280],
    ] as const) {
      await page.setViewportSize({ width, height: 844 })
      await picture(page, `story-${name}-${size}`, { fullPage: true })
      expect(await isTooWide(page)).toBe(false)
    }
    expect(await barriers(page)).toEqual([])
  }

  /** From the empty form to the checkout's page; answers its link. */
  async function create({ page }: Seat, recipient: string, terms: () => Promise<void>): Promise<string> {
    await page.goto(`${desk.origin}/checkouts/new`)
    await page.getByLabel('Name', { exact: true }).first().fill('SEO audit')
    await page.getByRole('textbox', { name: 'Price' }).first().fill('5')
    await page.getByLabel('Callback URL').fill(receiver.url)
    await page.getByLabel('Test mode').uncheck()
    await page.getByLabel('Recipient').fill(recipient)
    await terms()
    await page.getByRole('button', { name: 'Create checkout' }).click()
    await page.getByLabel('I have saved it').check()
    await page.getByRole('button', { name: 'Done' }).click()
    return String(await page.getByRole('link', { name: /\/p\/chk_/ }).getAttribute('href'))
  }

  async function buyer(address: string): Promise<{ page: Page; payer: TestAccount; connect: () => Promise<void> }> {
    const { page, context } = await desk.visit('/healthz')
    const payer = await chain.payer(100_000_000n)
    await putWallet(context, chain, payer)
    await page.addInitScript(COUNT_SHIFTS)
    await page.goto(address)
    const connect = (): Promise<void> => page.getByRole('button', { name: 'Test Wallet' }).click()
    return { page, payer, connect }
  }

  const spent = async ({ address }: TestAccount): Promise<bigint> => 100_000_000n - (await usdcOf(chain, address))

  it(
    'give a trial run, and sell a month and the month after it',
    async () => {
      const seat = await desk.sit()
      const address = await create(seat, chain.accounts[3]!.address, async () => {
        const { page } = seat
        await page.getByLabel('Free trial runs').fill('1')
        await page.getByRole('button', { name: 'Add a plan' }).click()
        await page.getByLabel('Name', { exact: true }).last().fill('A month')
        await page.getByLabel('Price', { exact: true }).last().fill('12')
        await page.getByLabel('Sold as').selectOption('period')
        await page.getByLabel('Maximum runs').fill('')
        await pictures(page, 'plan-form')
      })
      const { page, payer, connect } = await buyer(address)
      await connect()
      await page.getByRole('button', { name: 'Try it free (1 left)' }).click()
      await page.getByText('Order started').waitFor()
      await pictures(page, 'trial')
      expect(await spent(payer)).toBe(0n)

      const untilOf = async (): Promise<Date> => {
        const { body } = await seat.call('GET', `/v1/passes?checkout=${new URL(address).pathname.slice(3)}`)
        expect(body.passes).toHaveLength(1)
        return new Date(body.passes[0].until as string)
      }
      const days = (from: number, to: Date): number => Math.round((to.getTime() - from) / 86_400_000)
      const now = desk.service.clock.now().getTime()
      for (const month of [1, 2]) {
        await page.goto(address)
        if (month === 2) {
          await page.locator('form').getByText('A month until').waitFor()
          await pictures(page, 'subscribed')
        }
        await page.getByRole('radio', { name: /A month/ }).check()
        if (month === 1) await pictures(page, 'plan-chosen')
        await page.getByRole('button', { name: 'Pay 12.00 USDC' }).click()
        await page.getByRole('region', { name: 'A month' }).waitFor()
        expect(days(now, await untilOf())).toBe(30 * month)
      }
      await pictures(page, 'renewed')
      expect(await spent(payer)).toBe(24_000_000n)
      expect(await shiftsOf(page)).toBeLessThan(0.02)
      await seat.page.reload()
      await seat.page.getByRole('table', { name: 'Passes' }).getByText('A month').waitFor()
      await pictures(seat.page, 'passes')
    },
    STORY_MS,
  )

  it(
    'apply a coupon, and charge the price shown when it changes in the meantime',
    async () => {
      const seat = await desk.sit('/coupons')
      const { page: office } = seat
      await office.getByRole('button', { name: 'Create coupon' }).first().click()
      await office.getByRole('dialog').getByLabel('Code').fill('spring')
      await office.getByRole('dialog').getByLabel('Percent').fill('20')
      await office.getByRole('dialog').getByRole('button', { name: 'Create coupon' }).click()
      await office.getByRole('cell', { name: '20% off' }).waitFor()
      await pictures(office, 'coupon-made')
      const address = await create(seat, chain.accounts[3]!.address, async () => {
        await office.getByLabel('Buyers may use your coupons').check()
      })
      const { page, payer, connect } = await buyer(address)
      await page.getByRole('button', { name: 'I have a code' }).click()
      await page.getByLabel('Code', { exact: true }).fill('spring')
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('−1.00 USDC').waitFor()
      await connect()
      await pictures(page, 'coupon-used')

      await office.getByRole('link', { name: 'Edit' }).click()
      await office.getByRole('textbox', { name: 'Price' }).first().fill('9')
      await office.frameLocator('iframe[title="The page that buyers see"]').getByText('9.00').first().waitFor()
      await pictures(office, 'edit')
      await office.getByRole('button', { name: 'Save checkout' }).click()
      await office.getByText('Checkout saved.').first().waitFor()

      await page.getByRole('button', { name: 'Pay 4.00 USDC' }).click()
      await page.getByText('1.00 USDC with SPRING').waitFor()
      expect(await spent(payer)).toBe(4_000_000n)
      await pictures(page, 'coupon-paid')
      const later = await buyer(address)
      await later.connect()
      await later.page.getByRole('button', { name: 'Pay 9.00 USDC' }).waitFor()
      await pictures(later.page, 'edited')
    },
    STORY_MS,
  )

  it(
    'write an invoice, and refund the payment',
    async () => {
      const seat = await desk.sit('/settings')
      const { page: office, context } = seat
      const wallet = await chain.payer(0n)
      await putWallet(context, chain, wallet)
      await office.getByLabel('Your name or company').fill('Müller GmbH')
      await office.getByLabel('Your address').fill('Allee 1\n10115 Berlin')
      await office.getByLabel('Rate').fill('19')
      await office.getByLabel('Buyers can ask for an invoice').check()
      await office.getByRole('button', { name: 'Save details' }).click()
      await office.getByText('Details saved.').first().waitFor()
      await pictures(office, 'invoicing')
      const address = await create(seat, wallet.address, () => Promise.resolve())
      const { page, payer, connect } = await buyer(address)
      await connect()
      await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
      await page.getByRole('button', { name: 'Get an invoice' }).click()
      const form = page.getByRole('form', { name: 'Get an invoice' })
      await form.getByLabel('Name or company').fill('Café Ltd')
      await form.getByLabel('Address').fill('1 High Street')
      await form.getByLabel('Country').fill('gb')
      await form.getByRole('button', { name: 'Issue invoice' }).click()
      const invoice = page.getByRole('link', { name: /^Invoice .*-000001/ })
      await invoice.waitFor()
      await pictures(page, 'invoice')
      const file = await fetch(new URL(String(await invoice.getAttribute('href')), desk.origin))
      expect(file.headers.get('content-type')).toBe('application/pdf')

      // The page has been open since before the payment.
      await office.reload()
      await office.getByRole('button', { name: 'Refund payment' }).click()
      const dialog = office.getByRole('dialog')
      await dialog.getByLabel('Pay from').selectOption('own')
      await dialog.getByLabel('Reason').fill('It was not what you needed.')
      await dialog.getByRole('button', { name: 'Refund payment' }).click()
      await dialog.getByRole('button', { name: 'Sign with Test Wallet' }).click()
      await office.getByText('Refund signed. It is on its way.', { exact: true }).waitFor()
      const mining = setInterval(() => void chain.mine(1), 300)
      await dialog.getByText('confirmed').first().waitFor()
      clearInterval(mining)
      await pictures(office, 'refunded')
      await page.reload()
      await page.getByRole('heading', { name: 'Payment refunded' }).waitFor()
      await page.getByRole('list', { name: 'Refunds' }).getByText('5.00 USDC was refunded.').waitFor()
      await pictures(page, 'refund-seen')
      expect(await spent(payer)).toBe(0n)
    },
    STORY_MS,
  )

  it('send no request to another origin and cause no error', () => {
    expect(desk.problems()).toEqual([])
  })
})
