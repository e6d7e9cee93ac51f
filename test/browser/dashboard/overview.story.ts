import { startReceiver, status, type Receiver } from '../../deliveries/receiver.ts'
import { addSale } from '../../refunds/sales.ts'
import { callerOf, checkLook, pictures, STORY_MS, type Desk } from './desk.ts'

export function overview(opened: () => Desk): void {
  describe('the overview and the first steps', () => {
    let desk: Desk
    let receiver: Receiver
    beforeAll(async () => {
      desk = opened()
      receiver = await startReceiver()
    })
    afterAll(() => receiver.close())

    it(
      'ticks each step off by itself, up to the paid workflow',
      async () => {
        const { page, call } = await desk.sit('/')
        await page.getByText('1 of 5 steps are done.').waitFor()
        await checkLook(page, 'overview-new')
        await page.getByRole('link', { name: 'Continue setup' }).click()
        await page.getByText('npm run pack').waitFor()
        await page.getByRole('link', { name: 'inbox' }).waitFor()
        const ticks = page.getByText('(done)')
        expect(await ticks.count()).toBe(1)
        await checkLook(page, 'start')

        // Neither a call with the key nor a checkout of another program says that anything is installed in n8n.
        await call('GET', '/v1/me')
        const body = { callbackUrl: receiver.url, product: { name: 'By a program' }, price: 5, testMode: true }
        expect((await call('POST', '/v1/checkouts', { body: { ...body, network: 'base-sepolia' } })).status).toBe(201)
        await page.reload()
        await page.getByText('(done)').waitFor()
        expect(await ticks.count()).toBe(1)
        const created = await call('POST', '/v1/checkouts', {
          body: {
            callbackUrl: receiver.url,
            product: { name: 'SEO audit' },
            price: 5,
            network: 'base-sepolia',
            testMode: true,
            lifetime: 'temporary',
            source: { instanceId: 'i', workflowId: 'w', nodeId: 'n' },
          },
        })
        await page.getByRole('link', { name: 'SEO audit' }).waitFor()
        const paid = await desk.service.call('POST', `/p/${created.body.checkout.id}/pay`, {
          body: { input: {}, simulate: true },
        })
        expect(paid.status).toBe(200)
        await page.getByText('Your workflow has been paid for.').waitFor()
        expect(await ticks.count()).toBe(5)
        await checkLook(page, 'start-done')
      },
      STORY_MS,
    )

    it(
      'shows what moved, and what needs a look',
      async () => {
        const { page, call } = await desk.sit('/')
        await call('POST', '/v1/wallet/deposit', { body: { amount: 25 } })
        await call('POST', '/v1/rda', {
          body: {
            slug: 'echo',
            type: 'prompt',
            name: 'Echo',
            description: 'Says it again.',
            inputSchema: [{ name: 'text', label: 'Text', type: 'text', required: true }],
            promptConfig: { promptTemplate: '{{text}}' },
          },
        })
        await call('POST', '/v1/run', { body: { rdaSlug: 'echo', inputs: { text: 'hello' } } })
        const endpoint = await call('POST', '/v1/webhook-endpoints', {
          body: { url: receiver.url, events: ['run.completed'] },
        })
        receiver.answers(status(500))
        await call('POST', `/v1/webhook-endpoints/${endpoint.body.webhookEndpoint.id}/test`)
        await receiver.waitForCalls(1)
        await page.reload()
        await page.getByRole('link', { name: /1 webhook endpoint is failing/ }).waitFor()
        await page.getByRole('link', { name: 'echo' }).waitFor()
        await page.getByText('+25.00').waitFor()
        await checkLook(page, 'overview')
      },
      STORY_MS,
    )

    it(
      "compares a period with the one before, with a page's conversion and the failures' reasons",
      async () => {
        const seat = await desk.sit('/')
        const { page, call } = seat
        const caller = await callerOf(desk, seat)
        const { clock } = desk.service
        const created = await call('POST', '/v1/checkouts', {
          body: {
            callbackUrl: receiver.url,
            product: { name: 'SEO audit' },
            price: 5,
            network: 'base-sepolia',
            testMode: true,
          },
        })
        const { url, id } = created.body.checkout as { url: string; id: string }
        const { page: visit, context: customer } = await desk.visit(new URL(url).pathname)
        await visit.reload()
        await visit.getByText('SEO audit').first().waitFor()
        await customer.close()
        await desk.service.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
        await desk.service.checkouts.openings.flush()
        const at = (back: number, email: string, over: object = {}) => {
          const details = { receipt: { email, language: 'en' } }
          const then = new Date(clock.now().getTime() - back * 86_400_000)
          return addSale({ database: desk.service.database, clock: { now: () => then } }, caller, { details, ...over })
        }
        await at(40, 'ada@example.com', { amount: 8_000_000 })
        for (const [back, email] of [
          [20, 'ada@example.com'],
          [12, 'grace@example.com'],
          [3, 'alan@example.com'],
        ] as const)
          await at(back, email, { amount: 4_000_000 })
        await at(2, 'eve@example.com', { state: 'failed' })
        await page.reload()
        const sales = page.getByRole('region', { name: 'Sales', exact: true })
        await sales.getByText('+113% from 8.00').waitFor()
        expect(await sales.getByText('1 of 1, 100%').count()).toBe(1)
        await sales.getByRole('region', { name: 'Why payments failed' }).getByText('1', { exact: true }).waitFor()
        await checkLook(page, 'overview-sales')
        await pictures(page, 'overview-sales')

        await page.getByLabel('Period').selectOption('7')
        await sales.getByText('9.00').first().waitFor()
        expect(new URL(page.url()).searchParams.get('period')).toBe('7')
        await page.getByLabel('Period').selectOption('last-month')
        await page.reload()
        expect(await page.getByLabel('Period').inputValue()).toBe('last-month')
        await page.getByLabel('Period').selectOption('days')
        const day = new Date(clock.now().getTime() - 40 * 86_400_000).toISOString().slice(0, 10)
        await page.getByLabel('First day').fill(day)
        await page.getByLabel('Last day').fill(day)
        await sales.getByText('8.00').first().waitFor()
        await checkLook(page, 'overview-days')
      },
      STORY_MS,
    )
  })
}
