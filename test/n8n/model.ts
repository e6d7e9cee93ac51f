import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message that a model has received, in the format of OpenAI's chat interface. */
interface Message {
  role: string
  content: unknown
}

/**
 * Stands in for the models behind OpenAI's interface. The one for language calls one tool, one call per response, until
 * a tool's result tells it to stop or it has called often enough; then it repeats the last result. Without tools it
 * repeats what it was asked. Embeddings count words, and every image is the same.
 */
export class Model {
  /** The tools' results, in the order in which the model got them. */
  toolResults: string[] = []
  /** The tools that it was offered last. */
  tools: { name: string; description: string; parameters: unknown }[] = []
  /** The messages that it got last. */
  messages: Message[] = []
  /** The prompts of its images. */
  prompts: string[] = []
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
        const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as ModelRequest
        const answer = this.respond(request.url ?? '', body)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
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

  private respond(url: string, body: ModelRequest): unknown {
    if (url.endsWith('/embeddings')) return embeddings(body)
    if (!url.endsWith('/images/generations')) return this.answer(body.messages ?? [], body.tools ?? [])
    this.prompts.push(body.prompt ?? '')
    return { created: 1_790_000_000, data: [{ b64_json: PICTURE.toString('base64') }] }
  }

  private answer(messages: Message[], tools: Offered[]): unknown {
    this.messages = messages
    this.tools = tools.map(({ function: offered }) => offered)
    this.toolResults = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content))
    const last = this.toolResults.at(-1)
    const tool = this.tools.find(({ name }) => name === (this.toolName ?? name))
    if (tools.length === 0) return completion({ role: 'assistant', content: messages.at(-1)?.content })
    const goesOn = this.toolResults.length < this.callsMax && last?.includes('Do not retry') !== true
    if (tool === undefined || !goesOn)
      return completion({ role: 'assistant', content: `I was told: ${last ?? 'nothing'}` })
    return completion({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call_${String(this.toolResults.length)}`,
          type: 'function',
          function: { name: tool.name, arguments: JSON.stringify(this.words) },
        },
      ],
    })
  }
}

/** A request in the format of any of the interfaces. */
interface ModelRequest {
  messages?: Message[]
  tools?: Offered[]
  prompt?: string
  input?: string | string[]
  encoding_format?: string
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

/** The picture that it always makes: one pixel. */
export const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function embeddings({ input = [], encoding_format: format }: ModelRequest): unknown {
  const vectors = [input].flat().map((text) => {
    const counts = new Float32Array(64)
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
      const place = Buffer.from(word).reduce((sum, letter) => (sum * 31 + letter) % 64, 7)
      counts[place] = (counts[place] ?? 0) + 1
    }
    return counts
  })
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector],
  }))
  return { object: 'list', model: 'stand-in', data, usage: { prompt_tokens: 1, total_tokens: 1 } }
}
