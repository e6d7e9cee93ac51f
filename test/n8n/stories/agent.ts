import { Model } from '../model.ts'
import { runFile, type NodeData, type WorkflowFile } from '../programs.ts'
import type { Credential, World } from '../world.ts'

/** n8n's AI agent spends with the node as its tool, and no more than the key of the agent may. */
export function agentStory(world: () => World): void {
  describe('an AI agent', () => {
    it("calls the node as its tool up to its key's limit, and then gets the limit as text", async () => {
      const model = await new Model({ text: 'One two three.' }, 5).listen()
      try {
        const { credential } = await makeAgent(world(), { perDay: 0.012 })
        const ran = await runFile(world(), await agentWith(world(), model, counting(credential)))
        expect(ran.error('AI Agent')).toBeUndefined()
        // Half a cent each: two fit into the day.
        expect(model.toolResults).toHaveLength(3)
        expect(model.toolResults.slice(0, 2)).toEqual([expect.stringMatching('words'), expect.stringMatching('words')])
        expect(model.toolResults[2]).toMatch(
          /A spending limit of the agent stops this: .*limit for this day\. 0\.01 USDC of 0\.012 USDC is spent, and this would cost 0\.005 USDC\. Nothing was paid\. Do not retry before \d{4}-\d\d-\d\d 00:00 UTC/,
        )
        expect(ran.items('AI Agent')).toEqual([
          { output: expect.stringMatching('A spending limit of the agent stops this') },
        ])
      } finally {
        await model.close()
      }
    })
  })
}

/** A key of an agent with these limits, as a credential. */
export async function makeAgent(
  world: World,
  limits: Record<string, number>,
  more: Record<string, unknown> = {},
): Promise<{ credential: Credential; id: string }> {
  const { agent } = await world.call('POST', '/agents', { name: 'Shopper', limits, ...more })
  const { secret } = await world.call('POST', '/keys', { name: 'shopper', agentId: agent.id })
  return { credential: await world.makeCredential({ apiKey: secret }), id: agent.id as string }
}

function counting(credential: Credential): NodeData {
  return {
    name: 'Count words',
    type: 'n8n-nodes-coinslot.coinslotTool',
    typeVersion: 1,
    parameters: {
      descriptionType: 'manual',
      toolDescription: 'Counts the words of a text, for half a cent.',
      ...{ resource: 'rda', operation: 'run', rda: { __rl: true, mode: 'id', value: 'text-statistics' } },
      specifyInputs: 'json',
      inputsJson: "={{ { text: $fromAI('text', 'The text to count', 'string') } }}",
    },
    credentials: { coinslotApi: credential },
  }
}

/** A workflow of an AI agent with this model and this tool. */
export async function agentWith(world: World, model: Model, tool: NodeData): Promise<WorkflowFile> {
  const openAi = await world.n8n.request<Credential>('POST', '/rest/credentials', {
    name: 'Stand-in',
    type: 'openAiApi',
    data: { apiKey: 'none', url: model.url, header: false },
  })
  const nodes: NodeData[] = [
    { name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
    {
      name: 'AI Agent',
      type: '@n8n/n8n-nodes-langchain.agent',
      typeVersion: 3.1,
      parameters: { promptType: 'define', text: 'Do it.', options: {} },
    },
    {
      name: 'Model',
      type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
      typeVersion: 1.2,
      parameters: { model: { __rl: true, mode: 'id', value: 'stand-in' }, options: {} },
      credentials: { openAiApi: { id: openAi.id, name: openAi.name } },
    },
    tool,
  ]
  const connections = {
    Start: { main: [[{ node: 'AI Agent', type: 'main', index: 0 }]] },
    Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
    [tool.name]: { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
  }
  return { name: 'Agent with a budget', nodes, connections }
}
