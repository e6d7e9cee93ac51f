import { readFile } from 'node:fs/promises'
import { checkLook, STORY_MS, type Desk } from './desk.ts'

const STREAM = '/trpc/changes'
/** By then, requests that a page starts with its next frames are under way. */
const IDLE = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))'

export function wallet(opened: () => Desk): void {
  describe('the wallet', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'adds play money, withdraws it, and lists every transaction',
      async () => {
        const { page, call } = await desk.sit('/wallet')
        await page.getByText('No transactions yet').waitFor()
        await page.getByRole('button', { name: 'Add funds' }).first().click()
        await page.getByLabel('Amount').fill('0.1234567')
        await page.getByRole('button', { name: 'Add play money' }).click()
        await page.getByText(/at most 6 decimals/i).waitFor()
        expect(await page.getByLabel('Amount').inputValue()).toBe('0.1234567')
        await page.getByLabel('Amount').fill('40')
        await checkLook(page, 'wallet-add')
        await page.getByRole('button', { name: 'Add play money' }).click()
        await page.getByText('You have 40.00 USDC now.').first().waitFor()

        await page.getByRole('button', { name: 'Withdraw' }).click()
        await page.getByLabel('Amount').fill('12.5')
        await page.getByLabel('To').fill('0x123')
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
        await page.getByText(/must be an address/i).waitFor()
        await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        await page.getByText('None: Coinslot pays the network fee').waitFor()
        await checkLook(page, 'wallet-withdraw')
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
        await page.getByText('12.50 USDC are being withdrawn.').first().waitFor()
        // The progress is shown live, here and in the list behind.
        await page.getByRole('dialog').getByText('confirmed').waitFor({ timeout: 60_000 })
        await checkLook(page, 'wallet-withdrawn')
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByText('confirmed').waitFor()
        const { wallet } = (await call('GET', '/v1/wallet/balance')).body
        expect(wallet.balance).toBe(27.5)
        await checkLook(page, 'wallet')

        const saving = page.waitForEvent('download')
        await page.getByRole('button', { name: 'CSV' }).first().click()
        const file = await readFile(await (await saving).path(), 'utf8')
        expect(file.split('\r\n')[0]).toBe('\uFEFFType,Reference,When,Amount,Balance after')
        expect(file).toMatch(/^deposit,.*,40,40$/m)
      },
      STORY_MS,
    )

    it(
      'updates when money moves, and sends no requests while nothing changes',
      async () => {
        const { page, call } = await desk.sit('/wallet')
        const procedures: string[] = []
        page.on('request', (request) => {
          const { pathname } = new URL(request.url())
          if (pathname.startsWith('/trpc/') && pathname !== STREAM) procedures.push(...pathname.slice(6).split(','))
        })
        await page.clock.install()
        let listening = page.waitForResponse(`**${STREAM}`)
        await page.reload()
        await page.getByText('No transactions yet').waitFor()
        await listening

        // A page that stays open for half a minute or longer sends no requests while nothing changes.
        await page.evaluate(IDLE)
        procedures.length = 0
        await page.clock.fastForward(35_000)
        await page.evaluate(IDLE)
        expect(procedures).toEqual([])
        await call('POST', '/v1/wallet/deposit', { body: { amount: 3 } })
        await page.getByText('+3.00').waitFor()

        // While the stream is down, everything that is shown is reloaded once a minute and not more often.
        await page.route(`**${STREAM}`, (route) => route.abort())
        const broken = page.waitForEvent('requestfailed')
        await page.clock.fastForward(45_000)
        await broken
        await page.evaluate(IDLE)
        procedures.length = 0
        await page.clock.fastForward(61_000)
        await page.evaluate(IDLE)
        expect(procedures.length).toBeGreaterThan(2)
        expect(procedures.length).toBe(new Set(procedures).size)

        // When the stream is back, it reports the changes that were missed.
        await call('POST', '/v1/wallet/deposit', { body: { amount: 4 } })
        await page.unroute(`**${STREAM}`)
        listening = page.waitForResponse(`**${STREAM}`)
        await page.clock.fastForward(30_000)
        await listening
        await page.getByText('+4.00').waitFor()
      },
      STORY_MS,
    )

    it(
      'begins a withdrawal with the payout address of the settings',
      async () => {
        const { page } = await desk.sit('/settings')
        await page
          .getByRole('textbox', { name: 'Address', exact: true })
          .fill('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
        await page.getByRole('button', { name: 'Save address' }).click()
        await page.getByText('Payout address saved.').first().waitFor()
        await page.goto(`${desk.origin}/wallet?do=withdraw`)
        const to = page.getByRole('dialog').getByLabel('To')
        await to.waitFor()
        expect(await to.inputValue()).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        await page.getByRole('link', { name: 'your payout address' }).click()
        await page.getByRole('textbox', { name: 'Address', exact: true }).fill('')
        await page.getByRole('button', { name: 'Save address' }).click()
        await page.getByText('Payout address removed.').first().waitFor()
        await page.goto(`${desk.origin}/wallet?do=withdraw`)
        await page.getByText('Always the same address?').waitFor()
        expect(await to.inputValue()).toBe('')
      },
      STORY_MS,
    )

    it(
      'withdraws once when the answer is lost and the withdrawal is sent again, also after the page was loaded again',
      async () => {
        const { page, call } = await desk.sit('/wallet')
        await call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
        await page.goto(`${desk.origin}/wallet?do=withdraw`)
        await page.getByLabel('Amount').fill('4')
        await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        let lost = 0
        await page.route('**/trpc/wallet.withdraw**', async (route) => {
          await route.fetch()
          lost += 1
          await route.abort()
        })
        const send = page.getByRole('dialog').getByRole('button', { name: 'Withdraw' })
        await send.click()
        await page.getByText('No answer came.').waitFor()
        await page.reload()
        await page.getByLabel('Amount').fill('4')
        await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        await send.click()
        await page.getByText('No answer came.').waitFor()
        await page.unroute('**/trpc/wallet.withdraw**')
        // What answers before the action says nothing about it.
        for (const [status, body] of [
          [429, '{"error":"Too many requests.","code":"rate_limited"}'],
          [403, '<html>'],
        ] as const) {
          await page.route('**/trpc/wallet.withdraw**', (route) =>
            route.fulfill({ status, body, contentType: 'application/json' }),
          )
          const answered = page.waitForResponse((response) => response.status() === status)
          await send.click()
          await answered
          await page.unroute('**/trpc/wallet.withdraw**')
        }
        await send.click()
        await page.getByText('4.00 USDC are being withdrawn.').first().waitFor()
        expect(lost).toBe(2)
        expect((await call('GET', '/v1/wallet/withdrawals')).body.total).toBe(1)
        // With its answer it is over: the same again is another one.
        await page.goto(`${desk.origin}/wallet?do=withdraw`)
        await page.getByLabel('Amount').fill('4')
        await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        await send.click()
        await page.getByText('4.00 USDC are being withdrawn.').first().waitFor()
        expect((await call('GET', '/v1/wallet/withdrawals')).body.total).toBe(2)
      },
      STORY_MS,
    )
  })
}
