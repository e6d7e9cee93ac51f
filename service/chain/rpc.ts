import type { Clock } from '../kit/clock.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'
import { assertNoTransaction } from '../kit/transaction.ts'
import { openEndpoint, type RpcOutcome, type Endpoint, type Question } from './endpoint.ts'
import type { RpcRefusal } from './refusal.ts'

/** Sends questions to one of the network's RPC addresses, and to the next one when it fails. */
export interface Rpc {
  /** Throws RpcRefusal when the call itself is at fault, DomainError `rpc_unavailable` when no address answers. */
  call<Result>(method: string, ...params: readonly unknown[]): Promise<Result>
  /**
   * The same, but what one address refuses for a reason that may be its own (`isOwn`) is offered to the next one. Throws
   * the first refusal when no address accepts it.
   */
  callAny<Result>(question: Question, isOwn: (refusal: RpcRefusal) => boolean): Promise<Result>
  /** For questions that no RPC has a reason to refuse. An RPC that refuses one is treated as unavailable. */
  read<Result>(method: string, ...params: readonly unknown[]): Promise<Result>
  /**
   * One node answers all questions, so that the answers fit together. A node that lacks something (`lacks` says what)
   * is skipped: behind a fail-over there may be a node that is some blocks behind.
   */
  together(questions: readonly Question[], lacks: (results: readonly unknown[]) => string | null): Promise<unknown[]>
  close(): Promise<void>
}

export interface RpcOptions {
  /** In the order of preference. */
  urls: readonly string[]
  clock: Clock
  log: Log
  timeoutMs?: number
}

export function createRpc(options: RpcOptions): Rpc {
  const { clock, log, timeoutMs = 5_000 } = options
  const nodes = options.urls.map((url): Node => ({ endpoint: openEndpoint(url), failures: 0, restUntil: 0 }))
  let waiting: Waiting[] = []

  /** Nodes that failed recently come last, so that calls do not wait for a dead node again and again. */
  function inOrder(): readonly Node[] {
    const now = clock.now().getTime()
    const rest = (node: Node): number => Math.max(0, node.restUntil - now)
    return [...nodes].sort((a, b) => rest(a) - rest(b))
  }

  async function ask(questions: readonly Question[]): Promise<readonly RpcOutcome[]> {
    const answers = new Array<RpcOutcome>(questions.length).fill({ outage: 'no address is configured' })
    let open = questions.map((question, place) => ({ question, place }))
    for (const node of inOrder()) {
      const given = await askNode(
        node,
        open.map(({ question }) => question),
      )
      given.forEach((answer, place) => {
        const asked = open[place]
        if (asked !== undefined) answers[asked.place] = answer
      })
      open = open.filter((_asked, place) => 'outage' in (given[place] ?? { outage: '' }))
      if (open.length === 0) break
    }
    return answers
  }

  async function askNode(node: Node, questions: readonly Question[]): Promise<readonly RpcOutcome[]> {
    let answers: readonly RpcOutcome[]
    try {
      answers = await node.endpoint.ask(questions, timeoutMs)
    } catch (error) {
      answers = questions.map(() => ({ outage: wordsOf(error) }))
    }
    const outage = answers.find((answer) => 'outage' in answer)
    if (outage === undefined) recovered(node)
    else failed(node, outage.outage)
    return answers
  }

  function failed(node: Node, outage: string): void {
    node.failures += 1
    node.restUntil = clock.now().getTime() + Math.min(REST_MS * node.failures, REST_MS_MAX)
    if (node.failures === 1) log.warn({ rpc: node.endpoint.name, outage }, 'an RPC fails or answers incorrectly')
  }

  function recovered(node: Node): void {
    if (node.failures > 0) log.info({ rpc: node.endpoint.name }, 'an RPC answers again')
    node.failures = 0
    node.restUntil = 0
  }

  function flush(): void {
    const due = waiting
    waiting = []
    for (let start = 0; start < due.length; start += BATCH_MAX) void travel(due.slice(start, start + BATCH_MAX))
  }

  async function travel(together: readonly Waiting[]): Promise<void> {
    const answers = await ask(together.map(({ question }) => question))
    together.forEach(({ settle }, place) => settle(answers[place] ?? { outage: 'no answer' }))
  }

  async function answerTo(question: Question): Promise<RpcOutcome> {
    assertNoTransaction('a chain')
    if (!SMALL.has(question.method)) return (await ask([question]))[0] ?? { outage: 'no answer' }
    return new Promise<RpcOutcome>((settle) => {
      if (waiting.push({ question, settle }) === 1) queueMicrotask(flush)
    })
  }

  return {
    async call<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
      const answer = await answerTo({ method, params })
      if ('outage' in answer) throw unavailable(method, answer.outage)
      if ('refusal' in answer) throw answer.refusal
      return answer.result as Result
    },

    callAny: async <Result>(question: Question, isOwn: (refusal: RpcRefusal) => boolean) =>
      (await firstAccepted(question, { nodes: inOrder(), askNode, isOwn })) as Result,

    async read<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
      const answer = await answerTo({ method, params })
      if ('result' in answer) return answer.result as Result
      throw unavailable(method, 'outage' in answer ? answer.outage : answer.refusal.message)
    },

    async together(questions, lacks) {
      assertNoTransaction('a chain')
      let why = 'no address is configured'
      for (const node of inOrder()) {
        const answers = await askNode(node, questions)
        const refused = answers.find((answer) => 'refusal' in answer)
        if (refused !== undefined) throw refused.refusal
        const outage = answers.find((answer) => 'outage' in answer)
        const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []))
        const lacking = outage?.outage ?? lacks(results)
        if (lacking === null) return results
        why = `${node.endpoint.name}: ${lacking}`
      }
      throw unavailable(questions[0]?.method ?? 'nothing', why)
    },

    async close() {
      await Promise.all(nodes.map((node) => node.endpoint.close()))
    },
  }
}

/** The result of the first node that accepts the question. */
async function firstAccepted(question: Question, { nodes, askNode, isOwn }: OfferedTo): Promise<unknown> {
  let why = 'no address is configured'
  let refusal: RpcRefusal | null = null
  for (const node of nodes) {
    const [answer = { outage: 'no answer' }] = await askNode(node, [question])
    if ('result' in answer) return answer.result
    if ('outage' in answer) why = answer.outage
    else if (!isOwn(answer.refusal)) throw answer.refusal
    else refusal ??= answer.refusal
  }
  throw refusal ?? unavailable(question.method, why)
}

interface OfferedTo {
  nodes: readonly Node[]
  askNode: (node: Node, questions: readonly Question[]) => Promise<readonly RpcOutcome[]>
  isOwn: (refusal: RpcRefusal) => boolean
}

export function unavailable(method: string, outage: string): DomainError {
  return new DomainError(
    'unavailable',
    'rpc_unavailable',
    'The network cannot be reached at the moment. Try again shortly.',
    { retryAfterSeconds: 5 },
  ).causedBy(new Error(`${method}: ${outage}`))
}

function wordsOf(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string }
  if (name === 'TimeoutError') return 'no answer in time'
  return [typeof code === 'string' ? code : '', message ?? ''].filter((word) => word !== '').join(' ')
}

interface Node {
  endpoint: Endpoint
  /** Consecutive failures. */
  failures: number
  restUntil: number
}

interface Waiting {
  question: Question
  settle(answer: RpcOutcome): void
}

/**
 * Methods that are quick and often called many times at once, so they may share a batch. The simulation is not among
 * them, because the rest of the batch would wait for it. Neither is a broadcast: when a batch times out, it is unknown
 * which transactions went out.
 */
const SMALL = new Set([
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getBalance',
])
/** How many small questions of the same moment go into one request. */
const BATCH_MAX = 20
const REST_MS = 2_000
const REST_MS_MAX = 30_000
