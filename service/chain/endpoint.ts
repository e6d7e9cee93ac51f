import { Agent, request } from 'undici'
import { isOutage, RpcRefusal, type RpcFault } from './refusal.ts'

/** One RPC address of the operator's; it may be private, so the guarded client has nothing to guard here. */
export interface Endpoint {
  /** Scheme and host alone: the rest of an address often holds a key. */
  readonly name: string
  /** The answers in the order of the questions. Rejects when the node as a whole has failed. */
  ask(questions: readonly Question[], timeoutMs: number): Promise<readonly RpcOutcome[]>
  close(): Promise<void>
}

export interface Question {
  method: string
  params: readonly unknown[]
}

export type RpcOutcome = { result: unknown } | { refusal: RpcRefusal } | { outage: string }

export function openEndpoint(url: string): Endpoint {
  const agent = new Agent({ connections: 32, keepAliveTimeout: 30_000 })
  // Some providers answer a batch with one error for all. From then on each question is sent alone.
  let batches = true

  async function post(body: unknown, timeoutMs: number): Promise<unknown> {
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.body.text()
    try {
      return JSON.parse(text)
    } catch {
      throw new Error(`status ${String(response.statusCode)} without JSON`)
    }
  }

  async function askOne(question: Question, timeoutMs: number): Promise<RpcOutcome> {
    return answerOf(await post({ jsonrpc: '2.0', id: 1, ...question }, timeoutMs))
  }

  return {
    name: new URL(url).origin,
    async ask(questions, timeoutMs) {
      const [only] = questions
      if (questions.length === 1 && only !== undefined) return [await askOne(only, timeoutMs)]
      if (batches) {
        const answers = await post(
          questions.map((question, id) => ({ jsonrpc: '2.0', id, ...question })),
          timeoutMs,
        )
        if (Array.isArray(answers)) return inOrder(questions, answers)
        batches = false
      }
      return Promise.all(questions.map((question) => askOne(question, timeoutMs)))
    },
    close: () => agent.close(),
  }
}

function inOrder(questions: readonly Question[], answers: readonly unknown[]): readonly RpcOutcome[] {
  const byId = new Map(answers.map((answer) => [(answer as { id?: unknown } | null)?.id, answer]))
  return questions.map((_question, id) => answerOf(byId.get(id)))
}

function answerOf(answer: unknown): RpcOutcome {
  const { result, error } = (answer ?? {}) as { result?: unknown; error?: Partial<RpcFault> }
  if (error !== undefined) {
    const fault = { code: error.code ?? 0, message: error.message ?? 'no message', data: error.data }
    return isOutage(fault) ? { outage: `${String(fault.code)} ${fault.message}` } : { refusal: new RpcRefusal(fault) }
  }
  return result === undefined ? { outage: 'an answer without a result' } : { result }
}
