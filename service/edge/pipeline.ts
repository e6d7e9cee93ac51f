import type { Request, Response, Router } from 'express'
import type { Caller } from '../identity/model.ts'
import type { Clock } from '../kit/clock.ts'
import { DomainError } from '../kit/errors.ts'
import { newId, type Id } from '../kit/ids.ts'
import { decode } from './decode.ts'
import { answerError, isOurFault } from './errors.ts'
import type { Idempotency, Outcome } from './idempotency.ts'
import { readJson } from './json.ts'
import type { RateLimit } from './limits.ts'
import { contextOf } from './requests.ts'
import type { AnyRoute, Reply } from './route.ts'

export interface Pipeline {
  clock: Clock
  bodyBytesMax: number
  idempotency: Idempotency
  limit: RateLimit
  identify(request: Request): Promise<Caller>
}

/** Puts declared routes on a router, each behind the same steps in the same order. */
export function mount(router: Router, routes: readonly AnyRoute[], pipeline: Pipeline): void {
  for (const route of routes) {
    router[route.method](route.path, (request: Request, response: Response) =>
      serve(route, request, response, pipeline),
    )
  }
}

async function serve(route: AnyRoute, request: Request, response: Response, pipeline: Pipeline): Promise<void> {
  const context = contextOf(response)
  context.route = route.path
  const caller = await authenticate(route, request, pipeline)
  context.caller = caller
  const limited = await pipeline.limit(limitKey(caller, request))
  response.set(limited.headers)
  if (limited.refusal !== null) throw limited.refusal

  const body = route.body === undefined ? undefined : await readJson(request, pipeline.bodyBytesMax)
  const decoded = {
    caller,
    body: route.body === undefined ? undefined : decode(route.body, body, 'body'),
    query: route.query === undefined ? undefined : decode(route.query, request.query, 'query'),
    params: route.params === undefined ? undefined : decode(route.params, request.params, 'path'),
    address: addressOf(request),
  }
  const act = (operation: Id<'op'>): Promise<Reply> => route.handle({ ...decoded, operation })

  const key = request.get('idempotency-key')
  if (route.idempotent !== true || key === undefined || caller === null) {
    send(response, await act(newId('op', pipeline.clock.now())))
    return
  }
  const answer = await pipeline.idempotency.once(
    {
      key,
      account: `${caller.issuer} ${caller.subject}`,
      environment: caller.environment,
      method: route.method,
      path: request.baseUrl + request.path,
      body,
    },
    (operation) => outcome(() => act(operation), context.requestId),
  )
  if (answer.replayed) response.set('Idempotency-Replayed', 'true')
  send(response, answer)
}

/** Refusals are answers too and are kept; what may differ next time is not. */
async function outcome(act: () => Promise<Reply>, requestId: string): Promise<Outcome> {
  try {
    const done = await act()
    return { ...done, keep: done.status < 500 }
  } catch (error) {
    if (isOurFault(error) || !(error instanceof DomainError) || PASSING.has(error.kind)) throw error
    const { status, body } = answerError(error, requestId)
    return { status, body, keep: true }
  }
}

const PASSING: ReadonlySet<string> = new Set(['limited', 'unavailable', 'late', 'upstream'])

async function authenticate(route: AnyRoute, request: Request, pipeline: Pipeline): Promise<Caller | null> {
  if (route.auth === 'anyone') return null
  if (route.auth === 'optional' && !saysWho(request)) return null
  const caller = await identify(request, pipeline)
  if (route.auth === 'person' && caller.agentId !== null) {
    throw new DomainError('forbidden', 'agent_key_forbidden', "An agent's key may not do this.")
  }
  return caller
}

/** Wrong credentials count against the address they come from: guessing is limited like anything else. */
async function identify(request: Request, pipeline: Pipeline): Promise<Caller> {
  try {
    return await pipeline.identify(request)
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
    const { refusal } = await pipeline.limit(limitKey(null, request))
    throw refusal ?? error
  }
}

/** Another site's cookie says nothing of who is asking here. */
function saysWho(request: Request): boolean {
  return (
    request.headers.authorization !== undefined ||
    /(^|;\s*)(__Secure-)?coinslot\.session_token=/.test(request.headers.cookie ?? '')
  )
}

function limitKey(caller: Caller | null, request: Request): string {
  if (caller === null) return `address ${addressOf(request)}`
  return caller.keyId ?? `${caller.issuer} ${caller.subject}`
}

function addressOf(request: Request): string {
  return request.ip ?? 'unknown'
}

function send(response: Response, answer: Reply): void {
  if (answer.headers !== undefined) response.set(answer.headers)
  if (answer.body === undefined) response.status(answer.status).end()
  else response.status(answer.status).json(answer.body)
}
