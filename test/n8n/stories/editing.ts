import { randomUUID } from 'node:crypto'
import { openEditor, type Editor } from '../editor.ts'
import { imported } from '../examples.ts'
import type { World } from '../world.ts'

/** The trigger in n8n's editor, as a workflow's author sees it. */
export function editingStory(world: () => World, version: string): void {
  describe('the editor', () => {
    let editor: Editor
    beforeAll(async () => {
      editor = await openEditor(world().n8n, version)
    })
    afterAll(() => editor.close())

    it.each([
      ['coinslot', ['Coinslot', 'Coinslot Pay-to-Run Trigger']],
      ['marketplace', ['Coinslot']],
      ['wallet', ['Coinslot']],
      ['paywall', ['Coinslot Pay-to-Run Trigger']],
    ])('finds the nodes by the word %s', async (word, names) => {
      const { id } = await world().importWorkflow({
        name: 'Empty',
        nodes: [node('Start', 'n8n-nodes-base.manualTrigger', 0)],
        connections: {},
      })
      expect(await editor.search(id, word)).toEqual(expect.arrayContaining(names))
    })

    it.each(ROUNDS)('leads from an empty canvas to a first payment within a minute, stopwatch %i', async (round) => {
      const seconds = await editor.start(round)
      process.stdout.write(
        `From an empty canvas to a first payment in n8n ${version}, ${round}: ${seconds.toFixed(1)} s\n`,
      )
      expect(seconds).toBeLessThan(60)
    })

    it('listens, pays and shows the payment', async () => {
      const workflow = await world().makeWorkflow(SHOWN)
      await editor.walk(workflow)
      expect(await workflow.runs(1)).toMatchObject([
        { mode: 'manual', data: { input: { your_website: expect.any(String) } } },
      ])
    })

    it('offers assets to choose from, a field for each input, and what every resource needs', async () => {
      const { id } = await world().importWorkflow({
        name: 'An outline',
        nodes: [
          { ...node('Start', 'n8n-nodes-base.manualTrigger', 0), parameters: {} },
          { ...node('Coinslot', 'n8n-nodes-coinslot.coinslot', 260), credentials: { coinslotApi: world().credential } },
        ],
        connections: { Start: { main: [[{ node: 'Coinslot', type: 'main', index: 0 }]] } },
      })
      await editor.fillIn(id)
    })

    it.each(['paid-seo-audit', 'agent-with-a-budget'])('shows the example %s', async (name) => {
      const { id } = await world().importWorkflow(imported(name, { coinslotApi: world().credential }))
      await editor.show(id, name)
    })
  })
}

/** `STOPWATCHES=10` takes the time ten times. */
const ROUNDS = Array.from({ length: Number(process.env['STOPWATCHES'] ?? 1) }, (_, place) => place + 1)

function node(name: string, type: string, at: number) {
  return { id: randomUUID(), name, type, typeVersion: 1, position: [at, 0], parameters: {} }
}

/** The values that the pictures show. */
const SHOWN = {
  productName: 'SEO audit of your website',
  productDescription: 'Send us your address and read the report ten minutes later.',
  price: 5,
  customerFields: {
    fields: [
      { label: 'Your website', type: 'url', required: true, placeholder: 'https://example.com' },
      { label: 'Your e-mail', type: 'email', required: true },
    ],
  },
}
