import { startChain, type TestChain } from '../../harness/chain.ts'
import { randomAddress } from '../../refunds/own.ts'
import { addSale } from '../../refunds/sales.ts'
import { inBrowser, picture } from '../chromium.ts'
import { putWallet } from '../wallet.ts'
import { cutControls, findings, isTooWide, openDesk, STORY_MS, type Desk, type Seat } from './desk.ts'

inBrowser('the refund dialog', () => {
  let desk: Desk
  let chain: TestChain
  beforeAll(async () => {
    chain = await startChain()
    desk = await openDesk({ BASE_SEPOLIA_RPC_URLS: chain.url, SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey })
    desk.service.facilitator.start()
  })
  afterAll(async () => {
    await desk.close()
    await chain.stop()
  })

  /** On a desktop and on a telephone. */
  async function pictures({ page }: Pick<Seat, 'page'>, name: string) {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await picture(page, `refund-${name}-${String(width)}`)
      expect([await isTooWide(page), await cutControls(page)]).toEqual([false, []])
    }
    expect(await findings(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
  }

  it(
    'refunds one part from the balance and the other from the wallet that was paid',
    async () => {
      const seat = await desk.sit('/checkouts')
      const { page, context, call } = seat
      const wallet = await chain.payer(9_000_000n)
      const signer = await putWallet(context, chain, wallet)
      await chain.mine(1)
      const { body } = await call('POST', '/v1/checkouts', {
        body: {
          ...{ callbackUrl: 'https://8.8.8.8/hook', product: { name: 'SEO audit' }, price: 5 },
          ...{ network: 'base-sepolia', recipient: wallet.address, lifetime: 'persistent' },
        },
      })
      await call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
      const { id } = body.checkout as { id: string }
      const [owner] = await desk.service.database.statements.run<{ user_id: string }>(
        'SELECT user_id FROM checkout WHERE id = $1',
        [id],
      )
      const caller = { user: { id: owner!.user_id }, environment: 'sandbox' } as never
      const payer = randomAddress()
      const of = { subject: id, amount: 5_000_000, payer, recipient: wallet.address, details: { data: {} } }
      await addSale(desk.service, { caller }, of)
      await page.goto(`${desk.origin}/checkouts/${id}`)
      const open = page.getByRole('button', { name: 'Refund payment' })
      const dialog = page.getByRole('dialog')

      await open.click()
      await dialog.getByLabel('Amount').fill('2')
      await dialog.getByLabel('Reason').fill('Half of it was wrong')
      await pictures(seat, 'balance')
      await dialog.getByRole('button', { name: 'Refund payment' }).click()
      await page.getByText('Refund of 2.00 USDC requested.', { exact: true }).waitFor()

      await dialog.getByLabel('Pay from').selectOption('own')
      await dialog.getByLabel('Reason').fill('All of it was wrong')
      await pictures(seat, 'own')
      await dialog.getByRole('button', { name: 'Refund payment' }).click()
      const sign = dialog.getByRole('button', { name: 'Sign with Test Wallet' })
      await sign.waitFor()
      await pictures(seat, 'sign')
      signer.declines('eth_signTypedData_v4')
      await sign.click()
      await dialog.getByText('You declined in the wallet. Nothing was signed.').waitFor()
      signer.declines()
      await sign.click()
      await page.getByText('Refund signed. It is on its way.', { exact: true }).waitFor()
      const mining = setInterval(() => void chain.mine(1), 500)
      await dialog.getByText('confirmed').first().waitFor()
      await dialog.getByRole('link', { name: /^0x/ }).first().waitFor()
      clearInterval(mining)
      await pictures(seat, 'confirmed')
    },
    STORY_MS,
  )

  it('sends no request to another origin and causes no error', () => {
    expect(desk.problems()).toEqual([])
  })
})
