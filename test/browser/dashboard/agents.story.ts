import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function agents(opened: () => Desk): void {
  describe('agents', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'limits an agent, approves its request, and stops it',
      async () => {
        const { page, call } = await desk.sit('/agents/new')
        await page.getByLabel('Name').fill('Research assistant')
        await page.getByLabel('Per day', { exact: true }).fill('-3')
        await page.getByRole('button', { name: 'Create agent' }).click()
        await page
          .getByText(/must (be|not)/i)
          .first()
          .waitFor()
        expect(await page.getByLabel('Name').inputValue()).toBe('Research assistant')
        await page.getByLabel('Per day', { exact: true }).fill('0.2')
        await page.getByLabel('Approval above').fill('0.06')
        await checkLook(page, 'agent-new')
        await page.getByRole('button', { name: 'Create agent' }).click()
        await page.getByText('Agent created.').first().waitFor()
        const [agent] = (await call('GET', '/v1/agents')).body.agents
        expect(agent.limits).toMatchObject({ perCall: 1, perDay: 0.2, lifetime: null })
        expect(agent.approvalAbove).toBe(0.06)

        await page.getByRole('link', { name: 'Create key' }).click()
        // Also where the list of agents is not there yet.
        await page.reload()
        await page.getByLabel('Name').fill('For the assistant')
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
        const key = (await page.getByRole('dialog').locator('code').textContent())!
        const { keys } = (await call('GET', '/v1/keys')).body as { keys: { name: string; agentId: string | null }[] }
        expect(keys.find(({ name }) => name === 'For the assistant')?.agentId).toBe(agent.id)
        await call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
        for (const [slug, amount] of [
          ['cheap', 0.05],
          ['dear', 0.1],
        ] as const) {
          await call('POST', '/v1/rda', {
            body: {
              slug,
              type: 'prompt',
              name: slug,
              description: 'Says it.',
              inputSchema: [{ name: 'text', label: 'Text', type: 'text', required: true }],
              promptConfig: { promptTemplate: '{{text}}' },
              pricing: { model: 'per-run', amount, currency: 'USDC' },
            },
          })
        }
        const run = (slug: string) =>
          desk.service.call('POST', '/v1/run', { key, body: { rdaSlug: slug, inputs: { text: 'hello' } } })
        expect((await run('cheap')).status).toBe(200)
        const held = await run('dear')
        expect(held.status).toBe(202)

        await page.goto(`${desk.origin}/agents`)
        await page.getByRole('heading', { name: 'Approvals' }).waitFor()
        await checkLook(page, 'agents')
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.getByText('Approved for one call.').first().waitFor()
        expect((await run('dear')).status).toBe(200)
        await page.getByRole('link', { name: 'Research assistant' }).click()
        await page.getByRole('meter', { name: 'Spent: Per day' }).waitFor()
        await page.getByRole('figure').waitFor()
        await page.getByRole('cell', { name: 'dear' }).first().waitFor()
        expect(await page.getByRole('meter', { name: 'Spent: Per day' }).getAttribute('aria-valuenow')).toBe('0.15')
        await checkLook(page, 'agent')

        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByText('Agent paused.').first().waitFor()
        expect((await run('cheap')).status).toBe(403)
        await page.getByRole('button', { name: 'Resume' }).click()
        await page.getByText('Agent resumed.').first().waitFor()
        expect((await run('cheap')).status).toBe(200)
      },
      STORY_MS,
    )
  })
}
