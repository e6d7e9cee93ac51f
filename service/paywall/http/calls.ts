import { Readable } from 'node:stream'
import { DomainError } from '../../kit/errors.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Sold } from '../../sales/service/deps.ts'
import type { GateRequest, HeaderList, Outcome } from '../model.ts'
import { headerIn } from '../rules/headers.ts'
import type { RouteRequest } from '../rules/tool.ts'
import type { Paywalls } from '../service/paywalls.ts'
import { UpstreamRefused } from '../service/product.ts'
import type { OpenedRoute, RouteAnswer } from '../service/tools.ts'
import { callUpstream, type Relay } from './gate.ts'

/** Calls of routes by clients that send no HTTP request to the gate. */
export function createRouteCalls(paywalls: Paywalls, relay: Relay, tokens: Tokens) {
  return async (owner: Owner, tool: string, input: Raw, gone: AbortSignal): Promise<OpenedRoute> => {
    const { slug, request, price } = await paywalls.routeCall(owner, tool, input)
    const opened = await paywalls.gateOf(slug)
    const { gate } = opened
    const headers = headersOf(request)
    const asked = toGateRequest(request, headers, gone)
    const ask = callUpstream(opened, relay, { headers, asked })
    const { method, body } = request
    return {
      url: gate.address + request.path + request.query,
      method,
      headers: body === null ? {} : { 'content-type': 'application/json' },
      body: body === null ? null : body.toString('utf8'),
      price,
      pass: async () => await toAnswer(await paywalls.serve(gate, asked, ask, 0)),
      counter() {
        const counter = paywalls.counter(gate, asked, ask)
        return {
          ...counter,
          buy: (purchase) => refusing(tokens, async () => await read(await counter.buy(purchase))),
          buyFromAccount: (purchase, accountFor) =>
            refusing(tokens, async () => {
              const sold = await counter.buyFromAccount(purchase, accountFor)
              return sold === null ? null : await read(sold)
            }),
          toBody: () => ({}),
        }
      },
    }
  }
}

export type RouteCalls = ReturnType<typeof createRouteCalls>

interface Tokens {
  of(sale: string): string
}

function headersOf({ body }: RouteRequest): [string, string][] {
  const content: [string, string][] =
    body === null
      ? []
      : [
          ['content-type', 'application/json'],
          ['content-length', String(body.length)],
        ]
  // A result has no encoding, so the upstream must not choose one.
  return [['accept', '*/*'], ['accept-encoding', 'identity'], ...content]
}

function toGateRequest(
  { method, path, query, body }: RouteRequest,
  headers: HeaderList,
  gone: AbortSignal,
): GateRequest {
  const named = new Map(headers)
  return {
    method,
    path,
    query,
    header: (name) => named.get(name),
    body: body === null ? null : Readable.from([body], { objectMode: false }),
    upgrade: false,
    // A message of MCP may have come over a connection that others share.
    clientAddress: 'unknown',
    gone,
  }
}

async function toAnswer({ status, headers, body, whenSent }: Outcome): Promise<RouteAnswer> {
  const read =
    body === null || Buffer.isBuffer(body) ? { body: body ?? Buffer.alloc(0), whole: true } : await readStart(body)
  // No client confirms that a result arrived, so its buyer can fetch it again as long as it is stored.
  await whenSent?.(false)
  const encoding = headerIn(headers, 'content-encoding')
  const type = encoding === undefined ? headerIn(headers, 'content-type') : undefined
  return { status, type: type ?? 'application/octet-stream', ...read }
}

/** The beginning of a stream, which may have no end. */
async function readStart(body: Readable): Promise<{ body: Buffer; whole: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(new Error('the answer takes too long')), ANSWER_MS)
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer)
      bytes += (chunk as Buffer).length
      if (bytes > ANSWER_BYTES) break
    }
  } catch {
    return { body: Buffer.concat(chunks), whole: false }
  } finally {
    clearTimeout(timer)
  }
  return { body: Buffer.concat(chunks).subarray(0, ANSWER_BYTES), whole: bytes <= ANSWER_BYTES }
}

async function read(sold: Sold<Outcome>): Promise<Sold<RouteAnswer>> {
  return { ...sold, value: sold.value === null ? null : await toAnswer(sold.value) }
}

async function refusing<Bought>(tokens: Tokens, buy: () => Promise<Bought>): Promise<Bought> {
  try {
    return await buy()
  } catch (error) {
    throw error instanceof UpstreamRefused ? await refusedBy(error, tokens) : error
  }
}

async function refusedBy({ outcome, sale }: UpstreamRefused, tokens: Tokens): Promise<DomainError> {
  const { status, body } = await toAnswer(outcome)
  const paid = sale.state === 'paid'
  const proof = paid ? { paid, paymentId: sale.id, paymentToken: tokens.of(sale.id) } : {}
  const next = paid ? 'The payment has arrived: call again with its token.' : 'Nothing was charged.'
  const message = body.subarray(0, MESSAGE_BYTES).toString('utf8')
  return new DomainError('upstream', 'upstream_error', `The API answered with status ${String(status)}. ${next}`, {
    ...proof,
    upstream: { status, message: message === '' ? null : message },
  })
}

const ANSWER_BYTES = 1_048_576
const ANSWER_MS = 30_000
const MESSAGE_BYTES = 2_000
