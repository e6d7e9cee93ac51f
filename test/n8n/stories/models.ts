import type { NodeData } from '../programs.ts'
import { runFile } from '../programs.ts'
import { Model } from '../model.ts'
import { formOf, published } from '../payments.ts'
import type { Credential, World } from '../world.ts'
import { agentWith } from './agent.ts'

/** n8n's own MCP client buys the run of a workflow, as a tool. */
export function modelsStory(world: () => World): void {
  describe('a paid workflow as a tool of MCP', () => {
    const SOLD = {
      ...{ respond: 'lastNode', testMode: false, network: 'base-sepolia', price: 0.25 },
      ...{ recipient: 'address', recipientAddress: `0x${'7e'.repeat(20)}` },
    }

    it.each(['with a key', 'by a link that has the key'])('is used %s: the account pays', async (way) => {
      const workflow = await published(world(), SOLD)
      const { secret } = await world().call('POST', '/keys', { name: 'buyer' })
      const tool =
        way === 'with a key'
          ? await withKey(`${await formOf(workflow)}/mcp`, secret as string)
          : client(`${await formOf(workflow)}/mcp?key=${String(secret)}`)
      const model = await new Model({ website: 'https://example.com' }, 1).listen()
      const mining = mineOn()
      try {
        const before = await spent()
        const ran = await runFile(world(), await agentWith(world(), model, tool))
        expect(ran.error('AI Agent')).toBeUndefined()
        expect(model.tools).toMatchObject([
          { description: expect.stringContaining('Costs 0.25 USDC a call.') as unknown },
        ])
        expect(model.toolResults).toEqual([expect.stringContaining('Audit of https://example.com')])
        expect((await workflow.runs(1)).map(({ mode }) => mode)).toEqual(['webhook'])
        expect((await spent()) - before).toBeCloseTo(0.25, 6)
      } finally {
        await mining.stop()
        await model.close()
      }
    })

    async function spent(): Promise<number> {
      const { wallet } = (await world().get('/wallet/balance')) as { wallet: { totalSpent: number } }
      return wallet.totalSpent
    }

    /** Nothing else happens on this chain, and a payment is final some blocks later. */
    function mineOn(): { stop(): Promise<void> } {
      let isOver = false
      const work = (async () => {
        while (!isOver) {
          await world().chain.mine()
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      })()
      return {
        async stop() {
          isOver = true
          await work
        },
      }
    }

    function client(endpointUrl: string, more: Partial<NodeData> = {}): NodeData {
      const parameters = { endpointUrl, serverTransport: 'httpStreamable', authentication: 'none', options: {} }
      const { parameters: own = {}, ...rest } = more
      return {
        name: 'MCP Client',
        type: '@n8n/n8n-nodes-langchain.mcpClientTool',
        typeVersion: 1.2,
        parameters: { ...parameters, ...own },
        ...rest,
      }
    }

    async function withKey(endpointUrl: string, token: string): Promise<NodeData> {
      const { id, name } = await world().n8n.request<Credential>('POST', '/rest/credentials', {
        name: 'Coinslot key',
        type: 'httpBearerAuth',
        data: { token },
      })
      const credentials = { httpBearerAuth: { id, name } }
      return client(endpointUrl, { parameters: { authentication: 'bearerAuth' }, credentials })
    }
  })
}
