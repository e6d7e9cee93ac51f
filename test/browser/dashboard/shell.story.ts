import { findings, isTooWide, checkLook, PASSWORD, STORY_MS, type Desk } from './desk.ts'

/** As it came over the wire. */
const LOADED = `performance.getEntriesByType('resource').map(({ name, encodedBodySize: bytes }) => ({ name, bytes }))`

export function shell(opened: () => Desk): void {
  describe('every page of the dashboard', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'has a strict content security policy, and immutable static files below 300 KB of script',
      async () => {
        const page = await desk.service.call('GET', '/wallet', { headers: { accept: 'text/html' } })
        const policy = page.headers.get('content-security-policy')!
        expect(policy).not.toContain('unsafe')
        expect(policy).toContain("default-src 'none'")
        expect(policy).toContain("frame-ancestors 'none'")
        expect(page.headers.get('cache-control')).toBe('no-store')
        const [, nonce] = /'nonce-([^']+)'/.exec(policy)!
        const again = await desk.service.call('GET', '/wallet', { headers: { accept: 'text/html' } })
        expect(again.headers.get('content-security-policy')).not.toContain(nonce)
        const files = [...page.text.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path!)
        let bytes = 0
        for (const path of files) {
          const { status, headers } = await fetch(desk.origin + path, { headers: { 'accept-encoding': 'gzip' } })
          expect(status).toBe(200)
          expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
          if (path.endsWith('.js')) bytes += Number(headers.get('content-length'))
        }
        expect(bytes).toBeGreaterThan(10_000)
        expect(bytes).toBeLessThan(300_000)
      },
      STORY_MS,
    )

    it(
      "is not served to programs, at unknown addresses or over the API's routes",
      async () => {
        expect((await desk.service.call('GET', '/wallet')).status).toBe(404)
        expect((await desk.service.call('GET', '/nothing', { headers: { accept: 'text/html' } })).status).toBe(404)
        expect((await desk.service.call('GET', '/static/main-none.js')).status).toBe(404)
        expect((await desk.service.call('GET', '/v1/rdas')).status).toBe(200)
        expect((await desk.service.call('GET', '/p/chk_none', { headers: { accept: 'text/html' } })).status).toBe(404)
      },
      STORY_MS,
    )

    it(
      'loads less than 300 KB of script',
      async () => {
        const { page } = await desk.sit('/')
        await page.getByText('1 of 5 steps are done.').waitFor()
        await page.getByRole('figure').first().waitFor()
        const files = await page.evaluate<{ name: string; bytes: number }[]>(LOADED)
        const script = files.filter(({ name }) => name.endsWith('.js')).reduce((sum, { bytes }) => sum + bytes, 0)
        expect(script).toBeGreaterThan(50_000)
        expect(script).toBeLessThan(300_000)
      },
      STORY_MS,
    )

    it(
      'loads less than 120 KB of script before the sign-in, and the rest after it',
      async () => {
        const { page } = await desk.visit('/')
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        const load = async (): Promise<number> => {
          const files = await page.evaluate<{ name: string; bytes: number }[]>(LOADED)
          return files.filter(({ name }) => name.endsWith('.js')).reduce((sum, { bytes }) => sum + bytes, 0)
        }
        const before = await load()
        expect(before).toBeGreaterThan(50_000)
        expect(before).toBeLessThan(120_000)
        await page.getByRole('button', { name: 'Create an account' }).click()
        await page.getByLabel('Name').fill('Ada Lovelace')
        await page.getByLabel('E-mail').fill('script@example.com')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByRole('heading', { name: 'Overview' }).waitFor()
        expect(await load()).toBeGreaterThan(before)
        // What was loaded for somebody who was signed in is loaded at once the next time, and not after the sign-out.
        await page.reload()
        await page.getByRole('heading', { name: 'Overview' }).waitFor()
        await page.getByRole('button', { name: 'Account of Ada Lovelace' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        await page.reload()
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        expect(await load()).toBe(before)
      },
      STORY_MS,
    )

    it(
      'finds pages and actions by keyboard alone',
      async () => {
        const { page } = await desk.sit('/keys')
        await page.getByRole('button', { name: 'Create key' }).waitFor()
        await page.keyboard.press('Control+k')
        const input = page.getByPlaceholder(/Go to a page/)
        await input.waitFor()
        await checkLook(page, 'palette')
        await input.fill('withdraw')
        await page.keyboard.press('Enter')
        await page.getByRole('dialog', { name: 'Withdraw' }).waitFor()
        await page.keyboard.press('Escape')
        await page.keyboard.press('Control+k')
        await input.fill('run_00000000000000000000000000')
        await page.keyboard.press('Enter')
        await page.getByText('Not found').waitFor()
        expect(await findings(page)).toEqual([])
      },
      STORY_MS,
    )

    it(
      'is reachable through the menu on a phone',
      async () => {
        const { page } = await desk.sit('/keys', { viewport: { width: 360, height: 740 } })
        await page.getByRole('button', { name: 'Menu' }).click()
        await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Wallet' }).click()
        await page.getByRole('heading', { name: 'Wallet' }).waitFor()
        expect(await page.getByRole('dialog').count()).toBe(0)
        expect(await isTooWide(page)).toBe(false)
      },
      STORY_MS,
    )

    it(
      'keeps the chosen theme from the first paint on',
      async () => {
        const { page } = await desk.sit('/keys')
        await page.getByRole('button', { name: /Account of/ }).click()
        await page.getByRole('menuitemradio', { name: 'Dark' }).click()
        await page.reload({ waitUntil: 'commit' })
        await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
      },
      STORY_MS,
    )

    it(
      'disables the production environment on a sandbox server',
      async () => {
        const { page } = await desk.sit('/keys')
        await page.getByRole('button', { name: 'Environment: Sandbox' }).click()
        expect(await page.getByRole('menuitemradio', { name: /Production/ }).getAttribute('aria-disabled')).toBe('true')
      },
      STORY_MS,
    )

    it(
      'reports a lost connection, and recovers by itself',
      async () => {
        const { page } = await desk.sit('/keys')
        await page.getByText('test', { exact: true }).waitFor()
        await page.route('**/trpc/**', (route) => route.abort())
        await page.getByRole('link', { name: 'Wallet' }).click()
        await page.getByText('No connection to the service.').waitFor()
        await page.getByText('The service cannot be reached').waitFor()
        await checkLook(page, 'state-lost')
        await page.unroute('**/trpc/**')
        await page.getByRole('button', { name: 'Add funds' }).first().waitFor()
        await page.getByText('No connection to the service.').waitFor({ state: 'detached' })
      },
      STORY_MS,
    )

    it(
      'shows a server error with its request id, and retries on “Try again”',
      async () => {
        const { page } = await desk.sit('/keys')
        await page.route(/trpc\/[^?]*wallet\.balance/, (route) =>
          route.fulfill({
            status: 500,
            contentType: 'application/json',
            body: JSON.stringify(
              Array.from({ length: 4 }, () => ({
                error: {
                  message: 'Something went wrong on our side.',
                  code: -32603,
                  data: { httpStatus: 500, reason: 'internal_server_error', fields: {}, requestId: 'req_0123456789' },
                },
              })),
            ),
          }),
        )
        await page.getByRole('link', { name: 'Wallet' }).click()
        await page.getByText('req_0123456789').waitFor()
        await checkLook(page, 'state-500')
        await page.unroute(/trpc\/[^?]*wallet\.balance/)
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByRole('button', { name: 'Add funds' }).first().waitFor()
      },
      STORY_MS,
    )

    it(
      "asks to sign in again when the session has ended, and keeps the form's input",
      async () => {
        const { page, context, email } = await desk.sit('/keys?new=1')
        await page.getByLabel('Name', { exact: true }).fill('Typed before')
        await context.clearCookies()
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
        const again = page.getByRole('dialog', { name: 'Your session has ended' })
        await again.waitFor()
        await checkLook(page, 'state-session')
        expect(await again.getByLabel('E-mail').inputValue()).toBe(email)
        await again.getByLabel('Password').fill(PASSWORD)
        await again.getByLabel('Password').press('Enter')
        await again.waitFor({ state: 'detached' })
        expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed before')
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
        await page.getByText('I have saved it').waitFor()
      },
      STORY_MS,
    )
  })
}
