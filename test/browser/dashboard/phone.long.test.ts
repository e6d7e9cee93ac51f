import type { Page } from 'playwright-core'
import { ROUTES } from '../../../service/dashboard/pages.ts'
import { furnish, type Furnished } from '../../trpc/account.ts'
import { inBrowser } from '../chromium.ts'
import { cutControls, isTooWide, openDesk, STORY_MS, type Desk } from './desk.ts'

inBrowser('every page of the dashboard', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ ALLOW_HOSTS: '127.0.0.1' })
  })
  afterAll(() => desk.close())

  it(
    'shows every page on a phone without overflow or cut text, also with long names',
    async () => {
      const seat = await desk.sit('/settings', { viewport: { width: 390, height: 844 } })
      const { page, call } = seat
      const caller = await desk.service.identity.identify({
        ...{ authorization: `Bearer ${seat.key}`, cookie: undefined, environmentHeader: undefined },
        now: desk.service.clock.now(),
      })
      if (caller.user === null) throw new Error('whoever has a seat has an account')
      const { ids } = await furnish(desk.service, { ...seat, caller: { ...caller, user: caller.user } })
      const long = 'W'.repeat(100)
      const renamed = [
        await call('PATCH', `/v1/rda/${ids.asset}`, { body: { name: long, description: long } }),
        await call('POST', `/v1/rda/${ids.asset}/publish`, { body: {} }),
        await call('PATCH', `/v1/paywalls/${ids.paywall}`, { body: { name: long } }),
        await call('PATCH', `/v1/agents/${ids.agent}`, { body: { name: long } }),
        await call('POST', '/v1/keys', { body: { name: long } }),
      ]
      expect(renamed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201])
      await page.getByLabel('Name', { exact: true }).fill(`${'Ada'.repeat(30)} King`)
      await page.getByRole('button', { name: 'Save name' }).click()
      await page.getByText('Name saved.').first().waitFor()

      const pages = phonePages(ids)
      const routes = ROUTES.map(([route]) => route)
      expect(routes.length).toBeGreaterThan(20)
      expect(routes.filter((route) => !pages.some(([of]) => of === route))).toEqual([])
      const problems: string[] = []
      for (const [, to] of pages) {
        await turnTo(page, desk.origin, to)
        await page.locator('.animate-wait.bg-sunk').first().waitFor({ state: 'detached' })
        if (await isTooWide(page)) problems.push(`${to} is wider than the screen`)
        problems.push(...(await cutControls(page)).map((control) => `${to} cuts ${control}`))
      }
      expect(problems).toEqual([])
    },
    STORY_MS,
  )
})

/** Each route of the dashboard, and an address of it with something to see; dialogs that an address opens besides. */
/** Follows a link, which takes half the time of a new load; dialogs that an address opens are loaded. */
async function turnTo(page: Page, origin: string, to: string): Promise<void> {
  if (to.includes('?')) await page.goto(origin + to)
  else
    await page.evaluate(
      `document.querySelectorAll('main h1').forEach((one) => { one.dataset.left = '' }), history.pushState(null, '', '${to}')`,
    )
  await page.locator('main h1:not([data-left]), [role=dialog] h2').first().waitFor()
}

function phonePages(ids: Furnished['ids']): readonly (readonly [route: string, address: string])[] {
  return [
    ...['/', '/start', '/assets', '/assets/new', '/checkouts', '/paywalls', '/paywalls/new', '/marketplace'],
    ...[
      '/catalogue',
      '/runs',
      '/connections',
      '/disputes',
      '/coupons',
      '/checkouts/new',
      '/wallet',
      '/payments',
      '/customers',
      '/agents',
      '/agents/new',
      '/webhooks',
      '/keys',
      '/settings',
    ],
  ]
    .map((to): readonly [string, string] => [to, to])
    .concat([
      ['/assets/:id', `/assets/${ids.asset}`],
      ['/assets/:id/edit', `/assets/${ids.asset}/edit`],
      ['/checkouts/:id', `/checkouts/${ids.checkout}`],
      ['/checkouts/:id/edit', `/checkouts/${ids.checkout}/edit`],
      ['/paywalls/:id', `/paywalls/${ids.paywall}`],
      ['/paywalls/:id/edit', `/paywalls/${ids.paywall}/edit`],
      ['/marketplace/:id', `/marketplace/${ids.asset}`],
      ['/catalogue/:slug', `/catalogue/${ids.tool}`],
      ['/runs/:id', `/runs/${ids.run}`],
      ['/payments/:id', `/payments/${ids.payment}`],
      ['/customers/:id', `/customers/0x${'0'.repeat(40)}`],
      ['/agents/:id', `/agents/${ids.agent}`],
      ['/agents/:id/edit', `/agents/${ids.agent}/edit`],
      ['/webhooks/:id', `/webhooks/${ids.endpoint}`],
      ['/settings/email', '/settings/email?token=none'],
      ['a key', '/keys?new=1'],
      ['a connection', '/connections?connect=acme'],
      ['/connections/callback', '/connections/callback?state=none'],
      ['a coupon', '/coupons?new=1'],
      ['an endpoint', '/webhooks?new=1'],
      ['an import', '/catalogue?import=1'],
      ['money in', '/wallet?do=add'],
      ['money out', '/wallet?do=withdraw'],
    ])
}
