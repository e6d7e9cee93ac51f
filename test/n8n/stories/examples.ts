import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Model } from '../model.ts'
import { formOf, paymentAt, simulate } from '../payments.ts'
import { startPage } from '../pages.ts'
import { runFile, type NodeData, type WorkflowFile } from '../programs.ts'
import { until, type Credential, type World } from '../world.ts'
import { makeAgent } from './agent.ts'

/** Each workflow of docs/examples, as a user imports it: credentials chosen, nothing else changed. */
export function examplesStory(world: () => World): void {
  describe('the example', () => {
    it('paid SEO audit sells a report about a page, and shows it to the customer', async () => {
      const site = await startPage((response) => response.writeHead(200, { 'content-type': 'text/html' }).end(SITE))
      try {
        const report = await sell('paid-seo-audit', { page: site.url })
        expect(report).toEqual({
          page: site.url,
          title: { text: 'Tea for everybody', advice: 'Good.' },
          description: { text: 'All about tea', advice: 'Good.' },
          headings: { count: 2, advice: 'A page should have exactly one h1.' },
          keywords: expect.stringMatching('tea'),
        })
      } finally {
        await site.close()
      }
    })

    it('paid AI answer sells the output of a prompt', async () => {
      const answer = await sell('paid-ai-answer', { query: 'SELECT 1', database: 'SQLite' })
      // The sandbox's model repeats its prompt.
      expect(answer).toEqual({
        answer: expect.stringMatching(/Explain this SQLite query[^]*SELECT 1/),
        costOfTheModel: expect.any(Number),
      })
    })

    it('agent with a budget works with what its key may spend', async () => {
      const model = await new Model({ text: 'Put a coin in.' }, 2, 'Text_statistics').listen()
      try {
        const { credential } = await makeAgent(world(), { perDay: 0.007 })
        const openAiApi = await world().n8n.ask<Credential>('POST', '/rest/credentials', {
          name: 'Stand-in',
          type: 'openAiApi',
          data: { apiKey: 'none', url: model.url, header: false },
        })
        const ran = await runFile(world(), imported('agent-with-a-budget', { coinslotApi: credential, openAiApi }))
        expect(ran.error('AI Agent')).toBeUndefined()
        expect(model.tools.map(({ name }) => name).sort()).toEqual(['Search_RDAs', 'Text_statistics'])
        expect(model.told).toEqual([
          expect.stringMatching('words'),
          expect.stringMatching('A spending limit of the agent stops this'),
        ])
      } finally {
        await model.close()
      }
    })

    /** Publishes it, buys it in test mode, and returns what the customer is shown. */
    async function sell(name: string, input: Record<string, unknown>): Promise<unknown> {
      const workflow = await world().importWorkflow(imported(name, { coinslotApi: world().credential }))
      await workflow.publish()
      const payment = await simulate(await formOf(workflow), input)
      await until(async () => ((await paymentAt(payment)).delivery?.answer ?? null) !== null)
      const { delivery } = await paymentAt(payment)
      await workflow.unpublish()
      return JSON.parse(delivery?.answer ?? '') as unknown
    }
  })
}

/** What n8n's editor makes of a file: each node that needs a credential gets the one of its type. */
export function imported(name: string, credentials: Record<string, Credential>): WorkflowFile {
  const file = path.join(import.meta.dirname, `../../../docs/examples/${name}.json`)
  const { nodes, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as WorkflowFile
  return {
    ...rest,
    nodes: nodes.map((node): NodeData => {
      const kind = node.type.startsWith('n8n-nodes-coinslot')
        ? 'coinslotApi'
        : node.type.endsWith('OpenAi')
          ? 'openAiApi'
          : undefined
      const chosen = kind === undefined ? undefined : credentials[kind]
      return {
        ...node,
        ...(node.type.endsWith('Trigger') && { webhookId: randomUUID() }),
        ...(kind !== undefined &&
          chosen !== undefined && { credentials: { [kind]: { id: chosen.id, name: chosen.name } } }),
      }
    }),
  }
}

const SITE =
  '<html><head><title>Tea for everybody</title><meta name="description" content="All about tea"></head><body><h1>Tea</h1><h1>More tea</h1><p>Green tea, black tea, white tea.</p></body></html>'
