import { qrOf } from '../../service/checkouts/service/presenter.ts'
import type { Hex } from '../../service/chain/model.ts'
import { usdcOf } from '../facilitator/world.ts'
import { until } from '../harness/until.ts'
import { work } from '../refunds/sales.ts'
import { send as mint, transfer } from '../wallet/world.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop, type Visit, type VisitOptions } from './shop.ts'

/** The page asks what has arrived every three seconds. Here it waits a tenth of that. */
const prepare: NonNullable<VisitOptions['prepare']> = async (page) => {
  await page.addInitScript(`
    const wait = window.setTimeout
    window.setTimeout = (act, ms, ...input) => wait(act, ms === 3_000 ? 300 : ms, ...input)`)
}

const DEVICES = [
  ['desktop', { prepare, viewport: { width: 1280, height: 800 } }],
  ['phone', { prepare, viewport: { width: 390, height: 800 }, colorScheme: 'dark' }],
] as const satisfies readonly (readonly [string, VisitOptions])[]

inBrowser('a person who pays by a transfer from an exchange', () => {
  let shop: Shop
  let exchange: Hex
  beforeAll(async () => {
    shop = await openShop()
    exchange = (await shop.chain.payer(1_000_000_000n)).address
  })
  afterAll(() => shop.close())

  const look = async ({ page, picture }: Visit, state: string): Promise<void> => {
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await picture(`transfer-${state}`)
  }
  const send = async (to: string, micro: bigint): Promise<void> => {
    await transfer(shop.chain, exchange, to.toLowerCase() as Hex, micro)
    // An address is looked at no more often than this.
    shop.service.clock.forward(10_000)
  }

  it('sees the received amount at once when they return to the tab', async () => {
    const sale = await shop.sell()
    const { page } = await shop.visit(
      { id: `${sale.id}?lang=en` },
      {
        wallet: false,
        prepare: async (opened) => {
          // A tab that is not seen asks five times less often. Here it does not ask at all.
          await opened.addInitScript(`
            const wait = window.setTimeout
            window.setTimeout = (act, ms, ...input) => wait(act, ms === 15_000 ? 3_600_000 : ms, ...input)
            window.seen = true
            Object.defineProperty(document, 'visibilityState', { get: () => (window.seen ? 'visible' : 'hidden') })
            window.show = (seen) => {
              window.seen = seen
              document.dispatchEvent(new Event('visibilitychange'))
            }`)
        },
      },
    )
    await page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await page.getByLabel('Website').fill('example.com')
    // The look that is planned while the tab is seen, also where it comes before the tab is left.
    const looked = page.waitForResponse((response) => response.url().includes('/addresses/adr_'))
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/addresses')),
      page.getByRole('button', { name: 'Show where to send' }).click(),
    ])
    const { address } = (await answer.json()) as { address: { address: string } }
    await page.evaluate('show(false)')
    await looked
    await send(address.address, 2_000_000n)
    await page.evaluate('show(true)')
    await page.getByText(/2.00 USDC of 5.00 USDC have arrived/).waitFor()
  })

  it.each(DEVICES)('sends too little, then too much, and gets the excess back, on a %s', async (device, settings) => {
    const sale = await shop.sell()
    const visit = await shop.visit({ id: `${sale.id}?lang=en` }, { ...settings, wallet: false })
    const { page } = visit
    await page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await page.getByRole('button', { name: 'Show where to send' }).click()
    // Nothing is sent for an order that lacks something.
    await page.getByText('This field is required.').waitFor()
    await page.getByLabel('Website').fill('example.com')
    await look(visit, `begin-${device}`)
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/addresses')),
      page.getByRole('button', { name: 'Show where to send' }).click(),
    ])
    const { address } = (await answer.json()) as { address: { address: string; link: string } }
    const code = page.getByRole('img', { name: 'The transfer as a QR code for wallets' })
    await code.waitFor()
    expect(await code.getAttribute('src')).toBe(`data:image/svg+xml,${encodeURIComponent(qrOf(address.link))}`)
    await page.getByText(address.address).waitFor()
    await page.getByText(/Waiting for your transfer/).waitFor()
    await look(visit, `waiting-${device}`)

    await send(address.address, 2_000_000n)
    await page.getByText(/2.00 USDC of 5.00 USDC have arrived/).waitFor()
    await page.getByText('3.00 USDC', { exact: true }).waitFor()
    await look(visit, `partly-${device}`)
    // What was ordered is fixed.
    expect(await page.getByLabel('Website').count()).toBe(0)
    // The address of the page leads back, also in another browser.
    const again = await shop.visit({ id: page.url().split('/p/')[1]! }, { ...settings, wallet: false })
    await again.page.getByText(/2.00 USDC of 5.00 USDC have arrived/).waitFor()
    await again.context.close()

    await send(address.address, 3_500_000n)
    await page.getByText('Your order is paid.').waitFor()
    await shop.chain.mine(5)
    // The newest block is remembered for a moment.
    shop.service.clock.forward(3_000)
    await page.getByRole('button', { name: 'Return 0.50 USDC' }).click()
    await page.getByText('This is not an address that USDC can be returned to.').waitFor()
    const home = (await shop.chain.payer(0n)).address
    await page.getByLabel('Your address for the return').fill(home)
    await look(visit, `left-${device}`)
    await page.getByRole('button', { name: 'Return 0.50 USDC' }).click()
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
    expect(await usdcOf(shop.chain, home)).toBe(500_000n)
    await look(visit, `paid-${device}`)
  })

  it.each(DEVICES)(
    'sends the price twice, and finds the second one at the order, on a %s',
    async (device, settings) => {
      const visit = await shop.visit(await shop.sell({ fields: [] }), { ...settings, wallet: false })
      const { page, context } = visit
      await page.getByRole('button', { name: /Pay without a wallet/ }).click()
      await page.getByRole('button', { name: 'Show where to send' }).click()
      const address = await page.locator('.copied code').first().innerText()
      const link = { id: page.url().split('/p/')[1]! }
      await send(address, 5_000_000n)
      await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
      await context.close()

      await send(address, 5_000_000n)
      await shop.chain.mine(5)
      // The newest block is remembered for a moment.
      shop.service.clock.forward(3_000)
      const later = await shop.visit(link, { ...settings, wallet: false })
      await later.page.getByText('Your order is paid.').waitFor()
      const home = (await shop.chain.payer(0n)).address
      await later.page.getByLabel('Your address for the return').fill(home)
      await look(later, `twice-${device}`)
      await later.page.getByRole('button', { name: 'Return 5.00 USDC' }).click()
      await later.page.getByText(/5.00 USDC were returned to/).waitFor()
      expect(await usdcOf(shop.chain, home)).toBe(5_000_000n)
      await look(later, `twice-returned-${device}`)
      await later.context.close()
    },
  )

  it.each(DEVICES)(
    'is refunded, and says on the page of the order where the money goes, on a %s',
    async (device, settings) => {
      const { service, chain, person } = shop
      const visit = await shop.visit(await shop.sell({ fields: [] }), { ...settings, wallet: false })
      const { page } = visit
      await page.getByRole('button', { name: /Pay without a wallet/ }).click()
      await page.getByRole('button', { name: 'Show where to send' }).click()
      await send(await page.locator('.copied code').first().innerText(), 5_000_000n)
      await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
      // The page has left the order's address, whose link it was.
      const id = new URL(page.url()).searchParams.get('payment')
      await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
      await mint(chain, [{ to: service.wallets.treasury()!, value: 100_000_000n }])
      const body = { reason: 'Not as described' }
      expect((await person.call('POST', `/v1/payments/${String(id)}/refund`, { body })).status).toBeLessThan(300)
      await page.reload()
      await page.getByText('The refund is on its way to the address that you sent the money to.').waitFor()
      await until(async () => {
        await chain.mine(3)
        service.clock.forward(10_000)
        await work(service)
        const { payment } = (await person.call('GET', `/v1/payments/${String(id)}`)).body as {
          payment: { state: string }
        }
        return payment.state === 'refunded'
      })
      await page.reload()
      await page.getByText('The refund went to the address that you sent the money to.').waitFor()
      expect(await page.getByText(/back (in|to) your wallet/).count()).toBe(0)
      const home = (await chain.payer(0n)).address
      await page.getByLabel('Your address for the return').fill(home)
      await look(visit, `refunded-${device}`)
      await page.getByRole('button', { name: 'Return 5.00 USDC' }).click()
      await page.getByText(/5.00 USDC were returned to/).waitFor()
      expect(await usdcOf(chain, home)).toBe(5_000_000n)
      await visit.context.close()
    },
  )

  it('can switch from the transfer back to a wallet', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [] }), DEVICES[0][1])
    const { page } = visit
    await page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await page.getByRole('button', { name: 'Pay with a wallet instead' }).click()
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
  })

  it.each(DEVICES)('sees which choices need a wallet, on a %s', async (device, settings) => {
    const plans = [{ id: 'ten', name: 'Ten runs', price: 12, kind: 'runs', runs: 10 }]
    const code = `EACH${device.toUpperCase()}`
    const created = await shop.person.call('POST', '/v1/coupons', { body: { code, percent: 10, perCustomer: 1 } })
    expect(created.status).toBe(201)
    const needed = /Plans, free trials and codes that count for each customer need a wallet/
    const visit = await shop.visit(await shop.sell({ fields: [], coupons: true, plans }), {
      ...settings,
      wallet: false,
    })
    const { page } = visit
    await page.getByRole('button', { name: /Pay without a wallet/ }).click()
    expect(await page.getByText(needed).count()).toBe(0)
    // A plan says so before anything is asked for.
    await page.getByRole('radio', { name: /Ten runs/ }).check()
    await page.getByText(needed).waitFor()
    await look(visit, `plan-${device}`)
    // Before its price is shown, the page would show that first.
    await page.locator('.price').getByText('12.00').waitFor()
    await page.getByRole('button', { name: 'Show where to send' }).click()
    await page.getByRole('alert').getByText(needed).waitFor()

    const coded = await shop.visit(await shop.sell({ fields: [], coupons: true }), { ...settings, wallet: false })
    await coded.page.getByRole('button', { name: 'I have a code' }).click()
    await coded.page.getByRole('textbox', { name: /code/i }).fill(code)
    await coded.page.getByRole('button', { name: 'Apply' }).click()
    await coded.page.getByText('4.50 USDC').first().waitFor()
    await coded.page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await coded.page.getByRole('button', { name: 'Show where to send' }).click()
    await coded.page.getByRole('alert').getByText(needed).waitFor()
    await look(coded, `coupon-${device}`)

    const free = await shop.visit(await shop.sell({ fields: [], trialRuns: 1 }), { ...settings, wallet: false })
    await free.page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await free.page.getByText(needed).waitFor()
    for (const { context } of [visit, coded, free]) await context.close()
  })

  it('gets the money back, and sees that the order has ended', async () => {
    const visit = await shop.visit(await shop.sell({ fields: [] }), { ...DEVICES[1][1], wallet: false })
    const { page } = visit
    await page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await page.getByRole('button', { name: 'Show where to send' }).click()
    const address = await page.locator('.copied code').first().innerText()
    await send(address, 1_000_000n)
    await shop.chain.mine(5)
    // The newest block is remembered for a moment.
    shop.service.clock.forward(3_000)
    await page.getByRole('button', { name: 'I want my money back' }).click()
    const home = (await shop.chain.payer(0n)).address
    await page.getByLabel('Your address for the return').fill(home)
    await page.getByRole('button', { name: 'Return 1.00 USDC' }).click()
    await page.getByText('This order has ended.').waitFor()
    await page.getByText(/1.00 USDC were returned to/).waitFor()
    await look(visit, 'ended-phone')
    expect(await usdcOf(shop.chain, home)).toBe(1_000_000n)
  })

  it.each([
    ['whose wallet is connected', async () => undefined],
    [
      'once the checkout is paused',
      async (id: string) => {
        const paused = "UPDATE checkout SET state = 'paused', paused_at = now(), probe_at = now() + interval '1 day'"
        await shop.service.database.statements.run(`${paused} WHERE id = $1`, [id])
      },
    ],
    [
      'once the checkout is a test',
      async (id: string) => {
        const { status } = await shop.person.call('PATCH', `/v1/checkouts/${id}`, { body: { testMode: true } })
        expect(status).toBe(200)
      },
    ],
    [
      'once the checkout has ended',
      async (id: string) => {
        expect((await shop.person.call('DELETE', `/v1/checkouts/${id}`)).status).toBeLessThan(300)
      },
    ],
  ] as const)('finds the order by its link, in a browser %s', async (state, change) => {
    const sale = await shop.sell({ fields: [] })
    const begun = await shop.visit({ id: `${sale.id}?lang=en` }, { ...DEVICES[0][1], wallet: false })
    await begun.page.getByRole('button', { name: /Pay without a wallet/ }).click()
    await begun.page.getByRole('button', { name: 'Show where to send' }).click()
    await send(await begun.page.locator('.copied code').first().innerText(), 1_000_000n)
    await shop.chain.mine(5)
    // The newest block is remembered for a moment.
    shop.service.clock.forward(3_000)
    const link = begun.page.url()
    await begun.context.close()

    const visit = await shop.visit(sale, DEVICES[1][1])
    const { page } = visit
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    await change(sale.id)
    await page.goto(link)
    await page.getByRole('button', { name: 'I want my money back' }).click()
    expect(await page.getByRole('button', { name: /Pay|Wallet/ }).count()).toBe(0)
    expect(await page.getByText(/Nothing was charged|Test mode/).count()).toBe(0)
    const home = (await shop.chain.payer(0n)).address
    await page.getByLabel('Your address for the return').fill(home)
    await look(visit, state.replaceAll(' ', '-'))
    await page.getByRole('button', { name: 'Return 1.00 USDC' }).click()
    await page.getByText(/1.00 USDC were returned to/).waitFor()
    expect(await usdcOf(shop.chain, home)).toBe(1_000_000n)
    await visit.context.close()
  })

  it('says so where the link of an order is not complete', async () => {
    const sale = await shop.sell({ fields: [] })
    const visit = await shop.visit({ id: `${sale.id}?lang=en#transfer=adr_1` }, { ...DEVICES[0][1], wallet: false })
    await visit.page.getByText('Open the whole link of your order.').waitFor()
    await visit.context.close()
  })

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})
