import { createHmac } from 'node:crypto'
import { claim, type ClaimTime } from '../../nodes/PayToRunTrigger/claim.ts'
import { PAY_TO_RUN } from '../../nodes/PayToRunTrigger/checkout.ts'
import { receive } from '../../nodes/PayToRunTrigger/delivery.ts'
import { SECRET, webhook, type ServiceAnswer } from './n8n.ts'

const NOW = Date.parse('2027-01-15T08:00:00Z')
const LOST = new Error('socket hang up')
const BROKEN: ServiceAnswer = { status: 502, body: '<html>' }
const CLAIMED: ServiceAnswer = { status: 200, body: { claimed: true } }
const REFUSED: ServiceAnswer = { status: 429, body: { error: 'x', code: 'rate_limited' } }

describe('the claim of a delivery', () => {
  it.each<[string, ServiceAnswer[], number]>([
    ['until its answer arrives', [LOST, BROKEN, CLAIMED], 3],
    ['three times, and not more', [LOST, LOST, LOST, CLAIMED], 3],
    ['and not again after a refusal', [REFUSED, CLAIMED], 1],
    ['and not again after a refusal of a later attempt', [LOST, REFUSED, CLAIMED], 2],
  ])('is sent under one key: %s', async (_, answers, attempts) => {
    const { calls } = await claimed([...answers])
    expect(calls).toHaveLength(attempts)
    expect(new Set(calls.map(({ headers }) => headers?.['idempotency-key'] as string)).size).toBe(1)
  })

  it('is not sent again where the service would not read the answer any more', async () => {
    const { calls } = await claimed([LOST, CLAIMED], { untilMs: NOW + 1_499 })
    expect(calls).toHaveLength(1)
  })

  it('is sent again after a pause, which does not begin where it would end too late', async () => {
    const { calls } = await claimed([LOST, CLAIMED], { pausesMs: [20_000] })
    expect(calls).toHaveLength(1)
  })

  it('ends before the service stops to wait', async () => {
    const { calls } = await claimed([LOST, CLAIMED], { untilMs: NOW + 1_500 })
    expect(calls.map(({ timeout }) => timeout)).toEqual([1_500, 1_000])
    const { calls: unhurried } = await claimed([CLAIMED])
    expect(unhurried[0]?.timeout).toBe(5_000)
  })
})

describe('a delivery whose answer would come too late', () => {
  it('is not claimed, so that it is tried again', async () => {
    const kept = { checkoutId: 'chk_1', secret: SECRET, formUrl: 'https://pay.example/p/chk_1', lifetime: 'persistent' }
    const { headers, body } = signed()
    const sent = webhook({ headers, body }, { memory: { ...kept, fingerprint: 'x' }, service: () => CLAIMED })
    const result = await receive(sent.context, PAY_TO_RUN, { untilMs: NOW + 999, now: () => NOW })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(sent.response).toMatchObject({ status: 503, body: { code: 'too_late' } })
    expect(sent.calls).toEqual([])
  })
})

function signed() {
  const body = JSON.stringify({
    payment: { txHash: '0xabc', amount: 5, currency: 'USDC', payer: '0x1', network: 'base', timestamp: 1_800_000_000 },
    input: {},
    metadata: { checkoutId: 'chk_1', receivedAt: '2027-01-15T08:00:00.000Z' },
  })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`dlv_1.${timestamp}.${body}`).digest('base64')
  return { body, headers: { 'webhook-id': 'dlv_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` } }
}

async function claimed(answers: ServiceAnswer[], time: Partial<ClaimTime> = {}) {
  let now = NOW
  const service = (): ServiceAnswer => {
    now += 500
    return answers.shift() ?? LOST
  }
  const sent = webhook({}, { service })
  await claim(sent.context, 'dlv_1', { untilMs: NOW + 13_000, pausesMs: [0, 0], now: () => now, ...time })
  return sent
}
