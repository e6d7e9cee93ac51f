import { newToken } from '../../token.ts'
import { useOf, usesOf } from '../evidence.ts'
import type { Act } from '../journal.ts'
import type { Robbery, TheftRequest } from './book.ts'

interface Payload {
  payload: { signature: string; authorization: { nonce: string } }
}

/** Reads an honest payment on chain and sends it everywhere, with everything else that can be read or guessed. */
export async function replay({ world, book, chance, acts }: Robbery): Promise<void> {
  const used = await usesOf(world.chain).catch(() => null)
  if (used === null) return
  const paidActs = acts.filter(
    ({ request }) => request.nonce !== null && used.has(useOf(request.address ?? '', request.nonce)),
  )
  // The newest payments are those whose responses are still available.
  const victims = paidActs.slice(-8)
  if (victims.length === 0) return
  const victim = chance.of(victims)
  const payload = payloadOf(victim)
  if (payload === null) return
  const requests = [...atItsOwnDoor(victim, payload), ...atOtherDoors(payload)]
  const chosen = Array.from({ length: 5 }, () => chance.of(requests))
  // All at once, so that they race with each other and with the buyer.
  await Promise.all(chosen.map((request) => book.send(book.begin('replay', book.nextName('replay'), null), request)))

  function atItsOwnDoor({ request: sent, replies, name }: Act, stolen: Payload): TheftRequest[] {
    const { method, path, body } = sent
    const shown = sent.headers['payment-signature'] === undefined ? {} : { 'payment-signature': encoded(stolen) }
    const plain = withoutToken(body)
    const ids: unknown[] = replies.map(
      ({ body: answer, headers }) =>
        (answer?.payment?.id ?? answer?.paymentId ?? answer?.callId ?? headers['x-payment-id']) as unknown,
    )
    const id = ids.find((one): one is string => typeof one === 'string')
    const { nonce } = stolen.payload.authorization
    const own = JSON.parse(JSON.stringify(plain).replaceAll(name, book.nextName('replay'))) as unknown
    const request = (headers: Record<string, string>, body: unknown = plain): TheftRequest => ({
      ...{ method, path, headers: { ...shown, ...headers } },
      ...(body === null ? {} : { body }),
    })
    return [
      request({}),
      request({}, own),
      request({ 'x-payment-token': newToken() }),
      request({ 'idempotency-key': name }),
      request({ 'x-payment-id': nonce }),
      ...(id === undefined ? [] : [request({ 'x-payment-id': id }), statusOf(path, id)]),
      ...(shown['payment-signature'] === undefined
        ? []
        : [{ ...request({}), headers: { 'payment-signature': encoded(forged(stolen)) } }]),
    ]
  }

  function atOtherDoors(stolen: Payload): TheftRequest[] {
    const header = { 'payment-signature': encoded(stolen) }
    const { gate, checkout, tool } = world.goods
    const name = book.nextName('replay')
    const { accepted } = stolen as unknown as { accepted: unknown }
    return [
      { method: 'GET', path: `/gate/${gate}/exact?act=${name}`, headers: header },
      { method: 'GET', path: `/gate/${gate}/metered?act=${name}`, headers: header },
      { method: 'POST', path: `/tools/pay/${tool}`, headers: header, body: { act: name } },
      { method: 'POST', path: `/p/${checkout}/pay`, body: { input: { act: name }, paymentPayload: stolen } },
      {
        ...{ method: 'POST', path: '/facilitator/settle' },
        body: { x402Version: 2, paymentPayload: stolen, paymentRequirements: accepted },
      },
    ]
  }
}

/** The payment's status, which every caller with its id can read from the checkout. */
function statusOf(path: string, id: string): TheftRequest {
  return { method: 'GET', path: path.endsWith('/pay') ? `${path.slice(0, -4)}/payments/${id}` : `/receipts/${id}` }
}

function payloadOf({ request }: Act): Payload | null {
  const header = request.headers['payment-signature']
  if (header !== undefined) return JSON.parse(Buffer.from(header, 'base64').toString()) as Payload
  return (request.body as { paymentPayload?: Payload } | null)?.paymentPayload ?? null
}

/** The buyer's token is not on chain. */
function withoutToken(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'token'))
}

function forged(payload: Payload): Payload {
  const { signature } = payload.payload
  const other = signature.slice(0, -2) + (signature.endsWith('1b') ? '1c' : '1b')
  return { ...payload, payload: { ...payload.payload, signature: other } }
}

function encoded(payload: unknown): string {
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}
