import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { isId, timeOf, type Id } from '../../kit/ids.ts'
import { createSigner } from '../../kit/hash.ts'
import { faultOf, McpFault, type McpAsk, type McpDeps, type McpTask } from './parts.ts'
import type { Relay } from './relay.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'

/**
 * The protocol's tasks: a call that takes long is answered with the name of its operation, by which any process can read
 * its state and its result. The money's hold and then the call's row are the task, so nothing else is stored.
 */
export function createTasks({ log, address, service, relay, taskAfterMs, secret }: TaskDeps) {
  const signer = createSigner(secret, 'coinslot mcp tasks')

  /**
   * All guests are one caller, and others than the caller see the operation: in the payment's id, and in the link of its
   * page. So the name of a guest's task is signed, and a client that has it may read the task, at this address only.
   */
  const signedPart = ({ query }: McpAsk, operation: string): unknown => [operation, query]
  const nameOf = (ask: McpAsk): string =>
    ask.guest === null ? ask.operation : `${ask.operation}.${signer.sign(signedPart(ask, ask.operation))}`

  function operationIn(ask: McpAsk, taskId: string): Id<'op'> | null {
    const [operation = '', signature] = taskId.split('.')
    if (!isId('op', operation)) return null
    if (ask.guest === null) return signature === undefined ? operation : null
    return signer.isSigned(signedPart(ask, operation), signature ?? '') ? operation : null
  }

  /** Listens until the call has ended. */
  function onCancel({ caller, operation }: McpAsk, cancel: () => void, call: Promise<unknown>): void {
    const forget = relay.receive(cancelName(operation), (agentId) => {
      // An agent may not end a call of its owner or of another agent.
      if (agentId === null || agentId === caller.agentId) cancel()
    })
    call.then(forget, forget)
  }

  async function find(ask: McpAsk, taskId: string): Promise<{ operation: Id<'op'>; task: McpTask }> {
    const operation = operationIn(ask, taskId)
    const task = operation === null ? null : await service.task(ask, operation)
    if (task === null || operation === null) throw McpFault.params('taskId: There is no such task.')
    return { operation, task }
  }

  return {
    async get(ask: McpAsk, taskId: string): Promise<WireTask> {
      const { operation, task } = await find(ask, taskId)
      return wireOf({ taskId, operation }, task)
    },

    /** The result if it comes soon. Otherwise a task, from which on the call no longer ends with its request. */
    async run(ask: McpAsk, { gone, repeats }: Request, work: Work): Promise<CallToolResult | CreatedTask> {
      const { operation } = ask
      const createdTask = (task: McpTask): CreatedTask => {
        // The package wants content in each result of a call.
        return { resultType: 'task', content: [], ...wireOf({ taskId: nameOf(ask), operation }, task) }
      }
      // A call that was begun before goes on where it runs.
      const before = repeats ? await service.task(ask, operation) : null
      if (before?.status === 'working') return createdTask(before)
      const until = new AbortController()
      const leave = (): void => until.abort(gone.reason)
      gone.addEventListener('abort', leave, { once: true })
      if (gone.aborted) leave()
      const result = work(until.signal)
      for (let isHeard = false; ; isHeard = true) {
        const early = await settled(result, taskAfterMs)
        if (early !== null) return early
        // Nobody waits for a task any more.
        if (gone.aborted) return await result
        if (!isHeard) onCancel(ask, () => until.abort(), result)
        // While its state cannot be read the call is only waited for: it may be charged already.
        const task = await service.task(ask, operation).catch(() => null)
        if (task?.status !== 'working') continue
        gone.removeEventListener('abort', leave)
        result.catch((error: unknown) => faultOf(error, { log, address }))
        return createdTask(task)
      }
    },

    /** Asks the process that makes the call to end it. A call that was sent to its tool is not ended any more. */
    async cancel(ask: McpAsk, taskId: string): Promise<void> {
      const { operation, task } = await find(ask, taskId)
      if (task.status === 'working' && task.isFinal !== undefined) throw McpFault.params(`taskId: ${task.isFinal}`)
      await relay.send(cancelName(operation), ask.caller.agentId)
    },
  }
}

export type Tasks = ReturnType<typeof createTasks>

interface TaskDeps extends Pick<McpDeps, 'log' | 'address' | 'service' | 'taskAfterMs' | 'secret'> {
  relay: Relay
}

interface Request {
  gone: AbortSignal
  /** The call may have been begun before. */
  repeats: boolean
}

type Work = (signal: AbortSignal) => Promise<CallToolResult>

/** A task as clients know it. */
type WireTask = ReturnType<typeof wireOf>
type CreatedTask = WireTask & { resultType: 'task'; content: [] }

function wireOf({ taskId, operation }: { taskId: string; operation: Id<'op'> }, task: McpTask) {
  const createdAt = timeOf(operation).toISOString()
  const about = { taskId, status: task.status, createdAt, ttlMs: TTL_MS, pollIntervalMs: POLL_MS }
  switch (task.status) {
    case 'working':
      return { ...about, lastUpdatedAt: createdAt }
    case 'failed':
      return { ...about, lastUpdatedAt: createdAt, error: { code: -32_603, message: task.sentence } }
    case 'completed':
      return { ...about, lastUpdatedAt: task.endedAt.toISOString(), result: { ...task.result } }
    case 'cancelled':
      return { ...about, lastUpdatedAt: task.endedAt.toISOString() }
  }
}

function cancelName(operation: string): string {
  return `task:${operation}`
}

/** Null when the work is not done in time. */
async function settled<T>(work: Promise<T>, withinMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      resolve(null)
    }, withinMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Answers of paid calls are stored for a little longer. */
const TTL_MS = 24 * 3_600_000
const POLL_MS = 2_000
