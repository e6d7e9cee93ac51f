import { readFile } from 'node:fs/promises'
import { inBrowser } from '../chromium.ts'
import { looks, openDesk, STORY_MS, type Desk } from './desk.ts'

inBrowser('the wallet', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk()
  })
  afterAll(() => desk.close())

  it(
    'adds play money, pays it out, and tells of every movement',
    async () => {
      const { page, call } = await desk.sit('/wallet')
      await page.getByText('Nothing has moved yet').waitFor()
      await page.getByRole('button', { name: 'Add funds' }).first().click()
      await page.getByLabel('Amount').fill('0.1234567')
      await page.getByRole('button', { name: 'Add play money' }).click()
      await page.getByText(/at most 6 decimals/i).waitFor()
      expect(await page.getByLabel('Amount').inputValue()).toBe('0.1234567')
      await page.getByLabel('Amount').fill('40')
      await looks(page, 'wallet-add')
      await page.getByRole('button', { name: 'Add play money' }).click()
      await page.getByText('You have 40.00 USDC now.').first().waitFor()

      await page.getByRole('button', { name: 'Withdraw' }).click()
      await page.getByLabel('Amount').fill('12.5')
      await page.getByLabel('To').fill('0x123')
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
      await page.getByText(/must be an address/i).waitFor()
      await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
      await looks(page, 'wallet-withdraw')
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
      await page.getByText('12.50 USDC are on their way.').first().waitFor()
      await page.getByText('confirmed').waitFor({ timeout: 60_000 })
      const { wallet } = (await call('GET', '/v1/wallet/balance')).body
      expect(wallet.balance).toBe(27.5)
      await looks(page, 'wallet')

      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: 'CSV' }).first().click()
      const file = await readFile(await (await saving).path(), 'utf8')
      expect(file.split('\r\n')[0]).toBe('\uFEFFType,For,When,Amount,Balance after')
      expect(file).toMatch(/^deposit,.*,40,40$/m)
    },
    STORY_MS,
  )

  it(
    'takes money out once, however often it is asked for without an answer',
    async () => {
      const { page, call } = await desk.sit('/wallet')
      await call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
      await page.goto(`${desk.origin}/wallet?do=withdraw`)
      await page.getByLabel('Amount').fill('4')
      await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
      let lost = 0
      await page.route('**/v1/wallet/withdraw', async (route) => {
        await route.fetch()
        lost += 1
        await route.abort()
      })
      const send = page.getByRole('dialog').getByRole('button', { name: 'Withdraw' })
      await send.click()
      await page.getByText('No answer came.').waitFor()
      await page.unroute('**/v1/wallet/withdraw')
      await send.click()
      await page.getByText('4.00 USDC are on their way.').first().waitFor()
      expect(lost).toBe(1)
      expect((await call('GET', '/v1/wallet/withdrawals')).body.total).toBe(1)
    },
    STORY_MS,
  )

  it('was never seen by anybody else: no request left the service, and nothing broke', () => {
    expect(desk.amiss()).toEqual([])
  })
})
