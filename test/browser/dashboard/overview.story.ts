import { startReceiver, status, type Receiver } from '../../deliveries/receiver.ts'
import { looks, STORY_MS, type Desk } from './desk.ts'

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
      'ticks each step off by itself as it is done, up to the paid workflow',
      async () => {
        const { page, call } = await desk.sit('/')
        await page.getByText('1 of 5 steps are done.').waitFor()
        await looks(page, 'overview-new')
        await page.getByRole('link', { name: 'Continue setup' }).click()
        await page.getByText('npm pack').waitFor()
        await page.getByRole('link', { name: 'inbox' }).waitFor()
        const ticks = page.getByText('(done)')
        expect(await ticks.count()).toBe(1)
        await looks(page, 'start')

        // Neither a call with the key nor a checkout of another program says that anything is installed in n8n.
        await call('GET', '/v1/me')
        const body = { callbackUrl: receiver.url, product: { name: 'By a program' }, price: 5, testMode: true }
        expect((await call('POST', '/v1/checkouts', { body: { ...body, network: 'base-sepolia' } })).status).toBe(201)
        await page.reload()
        await page.getByText('(done)').waitFor()
        expect(await ticks.count()).toBe(1)
        const made = await call('POST', '/v1/checkouts', {
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
        const paid = await desk.service.call('POST', `/p/${made.body.checkout.id}/pay`, {
          body: { input: {}, simulate: true },
        })
        expect(paid.status).toBe(200)
        await page.getByText('Your workflow has been paid for.').waitFor()
        expect(await ticks.count()).toBe(5)
        await looks(page, 'start-done')
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
        await receiver.came(1)
        await page.reload()
        await page.getByRole('link', { name: /1 webhook endpoint is failing/ }).waitFor()
        await page.getByRole('link', { name: 'echo' }).waitFor()
        await page.getByText('+25.00').waitFor()
        await looks(page, 'overview')
      },
      STORY_MS,
    )
  })
}
