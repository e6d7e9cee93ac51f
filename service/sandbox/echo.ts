import { timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Clock } from '../kit/clock.ts'
import { escapeHtml, sendCards, type Card, type Message, type MessageStore } from './page.ts'
import { DomainError } from '../kit/errors.ts'
import { isLocalHost } from '../kit/http.ts'

/**
 * A receiver of deliveries for people who have none yet. It does what every receiver should: it reads the bytes, checks
 * the signature over them, and answers 200. GET shows what came.
 */
export function echo({ store, clock, signatureOf }: EchoDeps): RequestHandler {
  return async (request, response) => {
    if (request.method === 'GET') {
      assertLocal(request)
      const deliveries = await store.newest<Delivery>('delivery')
      sendCards(response, {
        title: 'Deliveries to /demo/echo',
        empty:
          'Deliveries appear here. Create a checkout with this address as its callbackUrl and simulate a payment to get the first one.',
        cards: deliveries.map(toCard),
      })
      return
    }
    const body = await bytesOf(request)
    if (body === null) return void response.status(413).json({ error: 'The body is too large for the echo receiver.' })
    const text = body.toString('utf8').trim()
    // The question whether this receiver is there.
    if (text === '' || text === '{}') return void response.json({ message: 'Waiting for deliveries.' })
    const delivery = await received(request, text, signatureOf)
    await store.add('delivery', delivery, clock.now())
    answer(response, delivery)
  }
}

interface EchoDeps {
  store: MessageStore
  clock: Clock
  /** What a delivery of this id must be signed with; null where there is no such delivery. */
  signatureOf(id: string, timestampSeconds: number, body: string): Promise<string | null>
}

interface Delivery {
  id: string
  verified: boolean
  reason: string
  body: string
}

async function received(request: Request, body: string, signatureOf: EchoDeps['signatureOf']): Promise<Delivery> {
  const id = request.get('webhook-id') ?? ''
  const timestamp = request.get('webhook-timestamp') ?? ''
  const signature = request.get('webhook-signature')
  const judged = (verified: boolean, reason: string): Delivery => ({ id: id.slice(0, 64), verified, reason, body })
  if (signature === undefined) return judged(false, 'It has no webhook-signature.')
  if (!/^\d{1,12}$/.test(timestamp)) return judged(false, 'Its webhook-timestamp is not a time in seconds.')
  const expected = ID.test(id) ? await signatureOf(id, Number(timestamp), body) : null
  if (expected === null) return judged(false, 'This sandbox has no delivery with its webhook-id.')
  const given = signature.split(' ')
  const matches = expected.split(' ').some((one) => given.some((other) => isSame(one, other)))
  return judged(
    matches,
    matches ? 'Signed by this sandbox, over exactly these bytes.' : 'Its signature does not match.',
  )
}

function answer(response: Response, { verified, reason, body }: Delivery): void {
  if (!verified) return void response.status(401).json({ error: reason, code: 'signature_refused' })
  // A workflow that answers with its last node shows something of its own; this one shows what it was sent.
  response.json({ received: true, echo: JSON.parse(body) as unknown })
}

function toCard({ content: { id, verified, reason, body }, createdAt }: Message<Delivery>): Card {
  const mark = verified ? '<p class="good">Signature verified</p>' : '<p class="bad">Signature not verified</p>'
  return {
    title: id || 'Without an id',
    note: reason,
    at: createdAt,
    body: `${mark}<pre>${escapeHtml(pretty(body))}</pre>`,
  }
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

async function bytesOf(request: Request): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > BODY_BYTES_MAX) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const ID = /^[a-z]{3}_[0-9a-z]{1,40}$/i
const BODY_BYTES_MAX = 65_536

/**
 * A proxy on this machine would make every caller look local, so what says that it was passed on is refused. The
 * host's name must be this machine's too, or a page of another site could read by a name of its own that leads here.
 */
export function assertLocal(request: Request): void {
  const passedOn = PASSED_ON.some((name) => request.headers[name] !== undefined)
  const isLocal = LOCAL_ADDRESS.test(request.socket.remoteAddress ?? '') && isLocalHost(request.headers.host ?? '')
  if (passedOn || !isLocal) throw new DomainError('missing', 'not_found', 'Not found.')
}

const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']
const LOCAL_ADDRESS = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/
