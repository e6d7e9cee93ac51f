import { privateKeyToAccount } from 'viem/accounts'
import { looks, PASSWORD, STORY_MS, type Desk } from './desk.ts'

export function signIn(opened: () => Desk): void {
  describe('the way into the dashboard', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'leads whoever is not signed in to the sign-in, and from there to the page that they came for',
      async () => {
        const { page } = await desk.visit('/wallet')
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        expect(new URL(page.url()).search).toBe('?next=%2Fwallet')
        await page.getByText('With an Ethereum wallet').waitFor()
        await looks(page, 'sign-in')

        await page.getByRole('button', { name: 'Create an account' }).click()
        await page.getByRole('button', { name: 'Create account' }).click()
        expect(await page.getByText('Is required').count()).toBe(3)
        await page.getByLabel('Name').fill('Grace Hopper')
        await page.getByLabel('E-mail').fill('grace@example.com')
        await page.getByLabel('Password').fill('short')
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByText('Password too short').waitFor()
        await looks(page, 'sign-up')
        // What was typed is still there.
        expect(await page.getByLabel('Name').inputValue()).toBe('Grace Hopper')
        expect(await page.getByLabel('E-mail').inputValue()).toBe('grace@example.com')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByRole('heading', { name: 'Wallet' }).waitFor()

        await page.getByRole('button', { name: 'Account of Grace Hopper' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        await page.getByLabel('E-mail').fill('grace@example.com')
        await page.getByLabel('Password').fill('not her password')
        await page.getByRole('button', { name: 'Sign in' }).first().click()
        await page.getByText('Invalid email or password').waitFor()
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByLabel('Password').press('Enter')
        await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      },
      STORY_MS,
    )

    it(
      'never leads on to another site',
      async () => {
        const { page } = await desk.sit('/sign-in?next=//example.com/')
        await page.waitForURL(`${desk.origin}/`)
      },
      STORY_MS,
    )

    it(
      'takes a wallet that signs the message, and says so when its owner declines',
      async () => {
        const signer = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
        const { page } = await desk.visit('/healthz')
        let declines = true
        await page.exposeFunction('__wallet', async (method: string, params: string[]) => {
          if (method === 'eth_requestAccounts') return [signer.address]
          if (declines) return { declined: true }
          return await signer.signMessage({ message: { raw: params[0] as `0x${string}` } })
        })
        await page.addInitScript(`window.ethereum = { async request({ method, params }) {
      const answer = await window.__wallet(method, params ?? [])
      if (answer.declined) throw Object.assign(new Error('User rejected'), { code: 4001 })
      return answer
    } }`)
        await page.goto(`${desk.origin}/wallet`)
        const enter = page.getByRole('button', { name: 'Sign in with Browser wallet' })
        await enter.click()
        await page.getByText('You declined in the wallet.').waitFor()
        declines = false
        await enter.click()
        await page.getByRole('heading', { name: 'Wallet' }).waitFor()
        await page.getByRole('button', { name: /Account of 0x7099/ }).waitFor()
      },
      STORY_MS,
    )
  })
}
