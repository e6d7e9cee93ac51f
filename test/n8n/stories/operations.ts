import { Seller } from '../../outgoing-payments/seller.ts'
import { startPage } from '../pages.ts'
import { act } from '../programs.ts'
import { until, type World } from '../world.ts'

/** Each operation of the Coinslot node, once, for real. */
export function operationsStory(world: () => World): void {
  describe('the Coinslot node', () => {
    it('runs an asset with mapped inputs, and hands on its output and its cost', async () => {
      const ran = await act(world(), {
        resource: 'rda',
        operation: 'run',
        rda: listed('text-statistics'),
        ...mapped({ text: 'One two. Three.' }),
      })
      expect(ran.error('Coinslot')).toBeUndefined()
      expect(ran.items('Coinslot')).toEqual([
        expect.objectContaining({
          success: true,
          runId: expect.stringMatching(/^run_/),
          cost: 0.005,
          output: expect.stringMatching('words'),
        }),
      ])
    })

    it('runs a prompt on a chosen model, once for each item, and links the items', async () => {
      const ran = await act(
        world(),
        {
          ...{ resource: 'rda', operation: 'run', rda: named('blog-outline'), model: named('sandbox/echo') },
          ...{ specifyInputs: 'json', inputsJson: '={{ { topic: $json.topic, audience: "beginners" } }}' },
        },
        { input: [{ topic: 'tea' }, { topic: 'coffee' }] },
      )
      expect(ran.error('Coinslot')).toBeUndefined()
      const items = ran.items('Coinslot')
      expect(items.map(({ output }) => String(output).includes('coffee'))).toEqual([false, true])
      expect(ran.runs('Coinslot')[0]?.data?.main?.[0]?.map(({ pairedItem }) => pairedItem)).toEqual([
        { item: 0 },
        { item: 1 },
      ])
    })

    it('gets and searches assets', async () => {
      const read = await act(world(), { resource: 'rda', operation: 'get', rda: named('blog-outline') })
      expect(read.items('Coinslot')).toEqual([expect.objectContaining({ slug: 'blog-outline', type: 'prompt' })])
      const found = await act(world(), {
        resource: 'rda',
        operation: 'search',
        search: 'keyword',
        returnAll: true,
        filters: { type: 'agent' },
      })
      expect(found.items('Coinslot').map(({ slug }) => slug as string)).toEqual(['keyword-research'])
    })

    it('starts a run, waits for it, gets it; and cancels none that has ended', async () => {
      const begun = await act(world(), {
        ...{ resource: 'rda', operation: 'run', rda: named('text-statistics'), ...mapped({ text: 'x' }) },
        options: { wait: false },
      })
      const { runId, status } = begun.items('Coinslot')[0]!
      expect(status).toBe('queued')
      const waited = await act(world(), { resource: 'run', operation: 'wait', runId, waitSeconds: 60 })
      expect(waited.items('Coinslot')).toEqual([
        expect.objectContaining({ id: runId, status: 'succeeded', cost: 0.005 }),
      ])
      const read = await act(world(), { resource: 'run', operation: 'get', runId })
      expect(read.items('Coinslot')).toEqual([expect.objectContaining({ id: runId, inputs: { text: 'x' } })])
      const ended = await act(world(), { resource: 'run', operation: 'cancel', runId })
      expect(ended.error('Coinslot')?.message).toMatch('ended already')
    })

    it('says that a run whose request has left continues', async () => {
      // A creator's agent that takes its time.
      let wasRequested = false
      const slow = await startPage(() => {
        wasRequested = true
      })
      try {
        await makeAgentRda(world(), 'slow-agent', slow.url)
        const begun = await act(world(), {
          ...{ resource: 'rda', operation: 'run', rda: named('slow-agent'), ...mapped({ text: 'x' }) },
          options: { wait: false },
        })
        const { runId } = begun.items('Coinslot')[0]!
        await until(() => Promise.resolve(wasRequested))
        const canceled = await act(world(), { resource: 'run', operation: 'cancel', runId })
        expect(canceled.items('Coinslot')).toEqual([
          expect.objectContaining({
            ...{ id: runId, status: 'running', cost: 0, canceled: false },
            message: expect.stringMatching('can no longer be canceled'),
          }),
        ])
      } finally {
        await slow.close()
      }
    })

    it('returns the balance and the transactions', async () => {
      const balance = await act(world(), { resource: 'wallet', operation: 'balance' })
      expect(balance.items('Coinslot')).toEqual([
        expect.objectContaining({
          balance: expect.any(Number),
          availableBalance: expect.any(Number),
          credits: expect.objectContaining({ balance: 5 }),
        }),
      ])
      const lines = await act(world(), { resource: 'wallet', operation: 'transactions', limit: 2 })
      expect(lines.items('Coinslot')).toHaveLength(2)
      expect(lines.items('Coinslot')[0]).toMatchObject({ id: expect.any(String), amount: expect.any(Number) })
    })

    it('pays an address that asks for money by x402, within the maximum and not above it', async () => {
      const seller = await new Seller(
        world().chain.network,
        `0x${'5e'.repeat(20)}`,
        () => world().facilitatorUrl,
      ).listen()
      try {
        const fetch = {
          resource: 'paidUrl',
          operation: 'fetch',
          url: seller.url('/v2/honest'),
          method: 'POST',
          sendBody: 'json',
          bodyJson: '{"q": 1}',
        }
        const purchase = await act(world(), { ...fetch, maxAmount: 0.3 })
        expect(purchase.error('Coinslot')).toBeUndefined()
        expect(purchase.items('Coinslot')).toEqual([
          expect.objectContaining({
            status: 200,
            body: { sold: true, method: 'POST', body: '{"q":1}' },
            payment: expect.objectContaining({ amount: 0.25, network: 'base-sepolia' }),
          }),
        ])
        const refused = await act(world(), { ...fetch, maxAmount: 0.2 })
        expect(refused.error('Coinslot')?.message).toMatch(
          'asks for 0.25 USDC, which is above the Maximum Amount of 0.2 USDC. Nothing was paid.',
        )
        await until(async () => seller.payments.get('/v2/honest')?.length === 1)
      } finally {
        await seller.close()
      }
    })
  })
}

/** A draft of the account's own, which it may run itself. */
async function makeAgentRda(world: World, slug: string, webhookUrl: string): Promise<void> {
  await world.call('POST', '/rda', {
    ...{ slug, type: 'agent', name: 'Slow', description: 'Takes its time' },
    inputSchema: [{ name: 'text', type: 'text' }],
    agentConfig: { webhookUrl, basePrice: 0.05, timeoutSeconds: 120 },
  })
}

function listed(value: string) {
  return { __rl: true, mode: 'list', value }
}

function named(value: string) {
  return { __rl: true, mode: 'id', value }
}

function mapped(value: Record<string, unknown>) {
  const schema = Object.keys(value).map((id) => ({
    id,
    displayName: id,
    type: 'string',
    required: true,
    display: true,
  }))
  return { specifyInputs: 'fields', inputs: { mappingMode: 'defineBelow', value, matchingColumns: [], schema } }
}
