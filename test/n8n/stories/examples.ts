import { order } from '../examples.ts'
import { Model } from '../model.ts'
import { startPage } from '../pages.ts'
import type { Credential, World } from '../world.ts'
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

    it('paid lookup sells rows of its data, at the price of the choice', async () => {
      expect(await sell('paid-lookup', { scope: 'One country', country: 'Spain' }, 0.05)).toEqual([
        { country: 'Spain', standard: 21, reduced: '10' },
      ])
    })

    it('document to data sells the clean rows of a file', async () => {
      const file = 'name,city\nAda,London\nAda,London\nAlan,Wilmslow\n'
      const site = await startPage((response) => response.writeHead(200, { 'content-type': 'text/csv' }).end(file))
      try {
        expect(await sell('document-to-data', { file: `${site.url}/list.csv` })).toEqual([
          { name: 'Ada', city: 'London' },
          { name: 'Alan', city: 'Wilmslow' },
        ])
      } finally {
        await site.close()
      }
    })

    it('scraping job sells the links of a page, and charges nothing where it cannot be read', async () => {
      const page = '<a href="/tea">Tea</a> <a href="/salt">Salt</a>'
      const site = await startPage((response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
      try {
        expect(await sell('scraping-job', { page: site.url })).toEqual([{ link: '/tea' }, { link: '/salt' }])
      } finally {
        await site.close()
      }
      const { payment } = await order(world(), 'scraping-job', { page: site.url })
      expect(payment.reason?.sentence).toMatch('This page could not be read.')
    })

    it('notes to minutes sells a file', async () => {
      const answer = await sell('notes-to-minutes', { notes: 'We decided to sell tea.\nTODO Ada: buy tea' })
      expect(answer).toEqual({
        fileName: 'minutes.md',
        contentType: 'text/plain',
        base64: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      })
    })

    it("agent with a budget sells what its model answers, and stops at its key's limit", async () => {
      const model = await new Model({ text: 'Put a coin in.' }, 2, 'Text_statistics').listen()
      try {
        const { credential: agent } = await makeAgent(world(), { perDay: 0.007 })
        const openAiApi = await world().n8n.request<Credential>('POST', '/rest/credentials', {
          name: 'Stand-in',
          type: 'openAiApi',
          data: { apiKey: 'none', url: model.url, header: false },
        })
        const input = { question: 'How many words?', text: 'Put a coin in.' }
        const { payment, delivery } = await order(world(), 'agent-with-a-budget', input, { agent, openAiApi })
        expect(payment).toMatchObject({ status: 'paid', amount: 0.25 })
        // The stand-in repeats what its tool said last.
        expect(delivery?.answer).toMatch('A spending limit of the agent stops this')
        expect(model.tools.map(({ name }) => name).sort()).toEqual(['Search_marketplace_assets', 'Text_statistics'])
        expect(model.toolResults).toEqual([
          expect.stringMatching('words'),
          expect.stringMatching('A spending limit of the agent stops this'),
        ])
      } finally {
        await model.close()
      }
    })

    /** What the customer is shown for it. */
    async function sell(name: string, input: Record<string, unknown>, amount?: number): Promise<unknown> {
      const { payment, delivery } = await order(world(), name, input)
      if (amount !== undefined) expect(payment.amount).toBe(amount)
      return JSON.parse(delivery?.answer ?? '') as unknown
    }
  })
}

const SITE =
  '<html><head><title>Tea for everybody</title><meta name="description" content="All about tea"></head><body><h1>Tea</h1><h1>More tea</h1><p>Green tea, black tea, white tea.</p></body></html>'
