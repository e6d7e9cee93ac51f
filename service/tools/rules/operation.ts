import { retryAfterMs } from '../../kit/retry-after.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { upstreamError } from '../errors/call.ts'
import type { Operation } from '../model/call.ts'
import type { UpstreamAnswer, UpstreamRequest } from '../model/tool.ts'
import { isJson } from './request-body.ts'

/** Where an answer says how far its work is, and when to ask again. */
export interface Poll {
  request: UpstreamRequest
  /** The address without the credentials that go with each question. */
  at: string
  waitMs: number
}

/** What is asked later about work that goes on. */
export function operationOf({ request: { polls }, at, waitMs }: Poll): Pick<Operation, 'at' | 'polls' | 'waitMs'> {
  return { at, polls: polls ?? null, waitMs }
}

/** Null where the tool is now at another server: what was accepted there is not asked about with the keys for here. */
export function laterPoll({ at, polls }: Operation, { server, keys, staysHere }: LaterPoll): Poll | null {
  if (new URL(at).origin !== new URL(server).origin) return null
  const about = { ...(polls === null ? null : { polls }), ...(staysHere ? { staysHere: true as const } : null) }
  return { request: requestFor(at, about, keys), at, waitMs: 0 }
}

interface LaterPoll {
  server: string
  keys: Keys
  staysHere: boolean
}

/** An answer is stored as long as its request may be repeated, and work that goes on is asked about as long. */
export const ANSWER_KEPT_MS = 26 * 3_600_000

/**
 * Some tools accept the work and name an address that tells when it is done: by a header, or in the answer itself. Null
 * where there is nothing more to wait for. Throws when the work has failed.
 */
export function pollOf(answer: UpstreamAnswer, asked: UpstreamRequest, keys: Keys, now: Date): Poll | null {
  const { status, follow = null } = answer
  if (status < 200 || status > 299) return null
  const body = bodyOf(answer)
  const isOperation = typeof body['name'] === 'string' && OPERATION.test(body['name'])
  const state = isOperation ? stateOfOperation(body) : wordOf(body['status'] ?? body['state'])
  if (FAILED.has(state) && (isOperation || asked.polls !== undefined))
    throw upstreamError('The tool took the work and failed.', { status, message: messageIn(body) ?? state })
  // A caller who reads a thing whose state is "running" wants to know just that.
  const isBegun = asked.polls === undefined && asked.method !== 'GET'
  const isUnderWay =
    status === 202 ||
    (isBegun && follow?.operation != null) ||
    (RUNNING.has(state) && (isBegun || asked.polls !== undefined))
  if (!isUnderWay) return DONE.has(state) ? resultOf(body, asked, keys) : null
  const named =
    follow?.operation ??
    (status === 202 ? follow?.location : null) ??
    (isOperation ? operationAt(body['name'], asked.url) : addressIn(body))
  const url = asked.polls !== undefined && named == null ? asked.polls.at : sameOrigin(named ?? null, asked.url)
  if (url === null) return null
  const polls = { at: url, result: asked.polls?.result ?? resultAt(answer, asked) }
  const wait = retryAfterMs(follow?.retryAfter, { now: now.getTime(), maxMs: WAIT_MAX_MS })
  return { request: requestFor(url, { ...asked, polls }, keys), at: url, waitMs: wait ?? WAIT_MS }
}

/** `operations/…`, alone or below what it belongs to, as Google's servers name the work that they accepted. */
const OPERATION = /^(?:[^/?#\s]{1,200}\/){0,10}operations\/[^/?#\s]{1,500}$/

function stateOfOperation(body: Record<string, unknown>): string {
  if (body['done'] !== true) return 'running'
  return isRecord(body['error']) ? 'failed' : 'done'
}

/** Below the version of the API: `/v1/operations/…` for a request to `/v1/documents:convert`. */
function operationAt(name: unknown, asked: string): string {
  const segments = new URL(asked).pathname.split('/').slice(1)
  const version = segments.findIndex((segment) => /^v\d{1,3}[a-z0-9]{0,20}$/i.test(segment))
  return `/${[...segments.slice(0, version + 1), String(name)].join('/')}`
}

/** Where the result is once an address for the state says that the work is done: Azure's servers name both. */
function resultAt({ follow }: UpstreamAnswer, { url, method }: UpstreamRequest): string | null {
  if (follow?.operation == null) return null
  return follow.location ?? (method === 'PUT' || method === 'PATCH' ? url : null)
}

/** The work is done and its result is elsewhere. */
function resultOf(body: Record<string, unknown>, asked: UpstreamRequest, keys: Keys): Poll | null {
  const { polls, ...about } = asked
  if (polls === undefined) return null
  const named = typeof body['resourceLocation'] === 'string' ? body['resourceLocation'] : polls.result
  const url = sameOrigin(named, asked.url)
  return url === null ? null : { request: requestFor(url, about, keys), at: url, waitMs: 0 }
}

function messageIn({ error }: Record<string, unknown>): string | null {
  const message = isRecord(error) ? error['message'] : null
  return typeof message === 'string' && message !== '' ? message.slice(0, MESSAGE_MAX) : null
}

/** What goes with each question: the credentials, and no input of the caller. */
interface Keys {
  headers: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
}

function requestFor(url: string, { staysHere, polls }: About, { headers, query }: Keys): UpstreamRequest {
  const to = new URL(url)
  for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value)
  const about = {
    url: to.href,
    method: 'GET',
    headers: { accept: 'application/json', ...headers },
    body: null,
  } as const
  return { ...about, ...(polls && { polls }), ...(staysHere === undefined ? null : { staysHere }) }
}

type About = Pick<UpstreamRequest, 'staysHere' | 'polls'>

/** The credentials go to the tool's own server only. */
function sameOrigin(named: string | null, asked: string): string | null {
  if (named === null || named.length > ADDRESS_MAX || !URL.canParse(named, asked)) return null
  const url = new URL(named, asked)
  return url.origin === new URL(asked).origin ? url.href : null
}

function bodyOf({ contentType, body }: UpstreamAnswer): Record<string, unknown> {
  if (contentType === null || !isJson(contentType.split(';')[0]?.trim().toLowerCase() ?? '')) return {}
  // A state is short: an answer that is long is a result.
  if (body.length > STATE_BYTES_MAX) return {}
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function addressIn(body: Record<string, unknown>): string | null {
  const inner = isRecord(body['urls']) ? body['urls']['get'] : null
  const found = [inner, body['status_url'], body['statusUrl'], body['polling_url'], body['pollingUrl']]
  return found.find((one): one is string => typeof one === 'string') ?? null
}

function wordOf(value: unknown): string {
  return typeof value === 'string'
    ? value
        .slice(0, 40)
        .toLowerCase()
        .replaceAll(/[^a-z]/g, '')
    : ''
}

const RUNNING: ReadonlySet<string> = new Set(
  'accepted created inprogress notstarted pending processing queued running scheduled starting submitted waiting'.split(
    ' ',
  ),
)
const FAILED: ReadonlySet<string> = new Set([
  'aborted',
  'canceled',
  'cancelled',
  'error',
  'expired',
  'failed',
  'failure',
])
const DONE: ReadonlySet<string> = new Set(['completed', 'done', 'finished', 'succeeded', 'success'])
const MESSAGE_MAX = 300
const ADDRESS_MAX = 2_048
const STATE_BYTES_MAX = 65_536
const WAIT_MS = 1_000
const WAIT_MAX_MS = 10_000
