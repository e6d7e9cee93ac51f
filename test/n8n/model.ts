import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message that a model has received, in the format of OpenAI's chat interface. */
interface Message {
  role: string
  content: unknown
}

/**
 * Stands in for a language model behind OpenAI's interface. It calls one tool, one call per response, until a tool's
 * result tells it to stop or it has called often enough; then it repeats the last result.
 */
export class Model {
  /** The tools' results, in the order in which the model got them. */
  told: string[] = []
  /** The tools that it was offered last. */
  tools: { name: string; description: string; parameters: unknown }[] = []
  private readonly server: Server

  constructor(
    private readonly words: Record<string, unknown>,
    private readonly callsMax: number,
    /** The tool to call; the first one offered if absent. */
    private readonly toolName?: string,
  ) {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const asked = JSON.parse(Buffer.concat(chunks).toString() || '{}') as {
          messages?: Message[]
          tools?: Offered[]
        }
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(this.answer(asked.messages ?? [], asked.tools ?? [])))
      })
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/v1`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private answer(messages: Message[], tools: Offered[]): unknown {
    this.tools = tools.map(({ function: offered }) => offered)
    this.told = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content))
    const last = this.told.at(-1)
    const tool = this.tools.find(({ name }) => name === (this.toolName ?? name))
    const goesOn = this.told.length < this.callsMax && last?.includes('Do not retry') !== true
    if (tool === undefined || !goesOn)
      return completion({ role: 'assistant', content: `I was told: ${last ?? 'nothing'}` })
    return completion({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call_${String(this.told.length)}`,
          type: 'function',
          function: { name: tool.name, arguments: JSON.stringify(this.words) },
        },
      ],
    })
  }
}

interface Offered {
  function: { name: string; description: string; parameters: unknown }
}

function completion(message: { tool_calls?: unknown } & Record<string, unknown>): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'stand-in',
    choices: [{ index: 0, message, finish_reason: message.tool_calls === undefined ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
