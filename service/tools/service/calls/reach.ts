import type { Credentials } from '../../../connections/model.ts'
import { scrub, scrubText } from '../../../connections/service/credentials.ts'
import type { ChosenConnection } from '../../../connections/service/use.ts'
import type { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import { orAborted } from '../../../kit/under-way.ts'
import { providerResting, upstreamError, upstreamTimeout } from '../../errors/call.ts'
import type { CallId, Failure, Fault, Operation, Output, Progress, Reached } from '../../model/call.ts'
import type { Tool, UpstreamAnswer, UpstreamRequest } from '../../model/tool.ts'
import type { LargePlace } from '../../ports/calls.ts'
import { blames, largeOf, outputOf } from '../../rules/answer.ts'
import { laterPoll, operationOf, pollOf } from '../../rules/operation.ts'
import { requestOf } from '../../rules/request.ts'
import { createFiles } from './files.ts'
import type { CallDeps } from './order.ts'
import { createPace, keyName } from './pace.ts'
import { createWork, type Begun } from './work.ts'

/** Calls the server behind a tool. Throws the server's failure as an upstream error, or as a timeout. */
export function createReach(deps: CallDeps) {
  const { catalogue, connections, upstreams, timeoutMs, answerBytesMax, plainHttp, clock, log } = deps
  const withFiles = createFiles(deps)
  const pace = createPace(deps)
  const work = createWork(deps)

  async function ask(about: ReachInput): Promise<Reached> {
    const { callId, caller, tool, input, connection, departure, onProgress, large } = about
    const { upstream } = tool
    return await inTime({ signal: departure.signal, timeoutMs }, async (until, hide) => {
      switch (upstream.kind) {
        case 'http': {
          if (await catalogue.isSimulated(tool)) {
            departure.leave()
            return { ...outputOf(catalogue.simulate(tool, input), tool.output !== null), simulated: true }
          }
          const keys = await keysFor(tool, connection)
          hide(keys)
          const whole = await withFiles(upstream, input, until)
          let [credentials] = keys
          const requestWith = (key: Credentials): UpstreamRequest => {
            const request = named(requestOf(upstream, whole, key), callId)
            return connection === null ? request : { ...request, staysHere: true }
          }
          const answer = await pace.ask(tool, keys, {
            signal: until,
            send(key) {
              credentials = key
              departure.leave()
              return upstreams.http(requestWith(key), until, large)
            },
          })
          const poll = pollOf(answer, requestWith(credentials), credentials, clock.now())
          const waiting = { credentials, until, waitMs: timeoutMs * WAITED, onProgress, large }
          return finished(about, await work.untilDone({ answer, poll }, waiting), keys, credentials)
        }
        case 'mcp': {
          const keys = await keysFor(tool, connection)
          const [{ headers, secrets }] = keys
          hide(keys)
          departure.leave()
          const tell = (progress: Progress): void => {
            const { message } = progress
            onProgress(message === null ? progress : { ...progress, message: scrubText(message, secrets) })
          }
          const answer = upstreams.mcp({ upstream, caller, input, headers, onProgress: tell }, until)
          return scrubOutput(await (connection === null ? answer : noted(answer, connection)), secrets)
        }
        case 'rda':
          throw new Error('a creator’s tool is run, not reached')
      }
    })
  }

  /** Asks about work that went on after its call, with the key that started it. Null where it can no longer be asked. */
  async function resume(about: ResumeInput): Promise<Reached | null> {
    const { tool, connection, operation, waitMs, large } = about
    const { upstream } = tool
    if (upstream.kind !== 'http') return null
    return await inTime({ signal: about.signal, timeoutMs }, async (until, hide) => {
      const keys = await keysFor(tool, connection)
      hide(keys)
      const credentials = keys.find((key) => keyName(tool, key) === operation.key) ?? keys[0]
      const { server } = upstream
      const poll = laterPoll(operation, { server, keys: credentials, staysHere: connection !== null })
      if (poll === null) return null
      const waiting = { credentials, until, waitMs: Math.min(waitMs, timeoutMs * WAITED), onProgress: silent, large }
      return finished(about, await work.untilDone({ answer: null, poll }, waiting), keys, credentials)
    })
  }

  /** The answer without secrets, and where the work goes on, how to ask about it. */
  function finished({ tool, connection }: Whose, { answer, poll }: Begun, keys: KeyRing, used: Credentials): Reached {
    if (answer === null) throw providerResting(tool.provider, Math.ceil((poll?.waitMs ?? 0) / 1_000))
    if (connection !== null) note(connection, answer.status)
    const clean = { ...answer, ...scrubbed(answer, secretsOf(keys)) }
    const wantsJson = tool.output !== null
    if (clean.body.length > answerBytesMax) return { kind: 'large', value: largeOf(clean, wantsJson) }
    const output = outputOf(clean, wantsJson)
    if (poll === null) return output
    const connectionId = connection?.connection.id ?? null
    return { ...output, operation: { ...operationOf(poll), key: keyName(tool, used), connectionId } }
  }

  /** The caller's own, else the provider's. A caller's own never travels in plain text. */
  async function keysFor(tool: Tool, connection: ChosenConnection | null) {
    if (connection === null) return await catalogue.credentials(tool)
    const { origin } = connection.access
    if (!origin.startsWith('https:') && !plainHttp(new URL(origin))) throw upstreamError('The tool is not on https.')
    return [await connections.credentials(connection)] as const
  }

  /** The same answer of an MCP server, whose status is in its failure. */
  async function noted(answer: Promise<Output>, connection: ChosenConnection): Promise<Output> {
    const output = await answer.catch((error: unknown) => {
      if (statusOf(error) === 401) note(connection, 401)
      throw error
    })
    note(connection, 200)
    return output
  }

  /** The call does not wait for it. */
  function note(connection: ChosenConnection, status: number): void {
    connections.answered(connection, status).catch((error: unknown) => {
      log.warn({ connectionId: connection.connection.id, err: error }, 'the answer to a connection was not noted')
    })
  }

  return { ask, resume }
}

/** Ends when the time is over or the caller leaves. What it throws has none of the secrets. */
async function inTime<T>(
  { signal, timeoutMs }: Within,
  act: (until: AbortSignal, hide: Hide) => Promise<T>,
): Promise<T> {
  // Not `AbortSignal.any`: the caller's signal, which can live as long as the process, would keep a reference to it.
  const either = new AbortController()
  const leave = (): void => either.abort(signal.reason)
  const late = setTimeout(() => either.abort(LATE), timeoutMs)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  let secrets: readonly string[] = []
  const hide: Hide = (keys) => (secrets = secretsOf(keys))
  try {
    return await orAborted(act(either.signal, hide), either.signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (either.signal.reason === LATE) throw upstreamTimeout()
    throw scrubError(toUpstream(error), secrets)
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', leave)
  }
}

interface Within {
  signal: AbortSignal
  timeoutMs: number
}

export type Reach = ReturnType<typeof createReach>

/** For a call without a place for a large answer, whose server therefore gave none. */
export function ordinary(reached: Reached): Output {
  if (reached.kind === 'large') throw upstreamError('The tool returned a response that is too large.')
  return reached
}

export interface ReachInput {
  callId: CallId
  /** The account or the paying wallet. Servers that remember something between calls remember it for this one alone. */
  caller: string
  tool: Tool
  input: Readonly<Record<string, unknown>>
  connection: ChosenConnection | null
  /** Knows whether the tool's server has been asked. After that the caller can no longer take the call back. */
  departure: Departure
  onProgress: (progress: Progress) => void
  /** Absent where a large answer is a failure: for calls without an account, and for pages that are put together. */
  large?: LargePlace | undefined
}

/** As `ReachInput`, for what a call has left at the tool. */
export interface ResumeInput extends Whose {
  operation: Operation
  waitMs: number
  signal: AbortSignal
  large: LargePlace
}

type Whose = Pick<ReachInput, 'tool' | 'connection'>
type KeyRing = readonly [Credentials, ...Credentials[]]
type Hide = (keys: KeyRing) => void

function secretsOf(keys: KeyRing): readonly string[] {
  return keys.flatMap(({ secrets }) => secrets)
}

function silent(): void {
  // Nobody is told how far it is before the answer.
}

/** The part of a call's time in which unfinished work is waited for. */
const WAITED = 0.9

/** A provider may repeat what it was sent: its secrets reach no answer, error or log. */
function scrubbed({ body, contentType, link = null }: UpstreamAnswer, secrets: readonly string[]) {
  const text = (given: string | null): string | null => (given === null ? null : scrubText(given, secrets))
  return { body: scrub(body, secrets), contentType: text(contentType), link: text(link) }
}

function scrubOutput(output: Output, secrets: readonly string[]): Output {
  return secrets.length === 0 ? output : (JSON.parse(scrubText(JSON.stringify(output), secrets)) as Output)
}

function scrubError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof DomainError) || secrets.length === 0) return error
  const { kind, code, message, fields } = error
  const clean = JSON.parse(scrubText(JSON.stringify(fields), secrets)) as typeof fields
  return new DomainError(kind, code, scrubText(message, secrets), clean).causedBy(causeOf(error, secrets))
}

/** The log gets the cause, whose text may repeat the answer. */
function causeOf({ cause }: DomainError, secrets: readonly string[]): unknown {
  if (!(cause instanceof Error)) return undefined
  return cause instanceof DomainError ? scrubError(cause, secrets) : new Error(scrubText(cause.message, secrets))
}

/** A failed call's error and the party at fault, for its row. */
export function failureOf(error: unknown): { failure: Failure; fault: Fault } {
  const known = error instanceof DomainError ? error : null
  const sentence = (known?.message ?? 'An internal error.').slice(0, 500)
  return { failure: { code: known?.code ?? 'internal', sentence }, fault: faultOf(error) }
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof DomainError)) return 'ours'
  if (error.code === 'upstream_timeout') return 'upstream'
  if (error.code !== 'upstream_error') return error.kind === 'invalid' ? 'caller' : 'ours'
  const status = statusOf(error)
  return status === undefined ? 'upstream' : blames(status)
}

/** With which the tool's server answered, as far as it did. */
function statusOf(error: unknown): number | undefined {
  const { upstream } = (error instanceof DomainError ? error.fields : {}) as { upstream?: { status?: number } }
  return upstream?.status
}

/** Sends the call's id, so that a server that supports it recognises a call that is repeated after a crash. */
function named(request: UpstreamRequest, callId: CallId): UpstreamRequest {
  if (request.method === 'GET') return request
  return { ...request, headers: { 'idempotency-key': callId, ...request.headers } }
}

const LATE = new Error('the tool timed out')

/** Without the host and the request, which only concern the provider. */
function toUpstream(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  if (error.code === 'upstream_error' || error.code === 'tool_broken') return error
  switch (error.kind) {
    case 'late':
      return upstreamTimeout(error)
    case 'upstream':
      return upstreamError(SENTENCES[error.code] ?? 'The tool cannot be reached.', undefined, error)
    case 'invalid':
      // An error about the input names the field. An error about the address must not reach the caller.
      return 'details' in error.fields ? error : upstreamError('The tool cannot be reached.', undefined, error)
    default:
      return error
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  response_too_large: 'The tool returned a response that is too large.',
  response_undecodable: 'The tool returned an unsupported encoding.',
  response_invalid: 'The tool did not return valid HTTP.',
  redirect_refused: 'The tool answered with a redirect that is not followed.',
}
