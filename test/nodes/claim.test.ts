import { claim, type ClaimTime } from '../../nodes/PayToRunTrigger/claim.ts'
import { webhook, type ServiceAnswer } from './n8n.ts'

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
    const { calls } = await claimed([LOST, CLAIMED], { untilMs: Date.now() + 900 })
    expect(calls).toHaveLength(1)
  })

  it('is sent again after a pause, which does not begin where it would end too late', async () => {
    const { calls } = await claimed([LOST, CLAIMED], { pausesMs: [20_000] })
    expect(calls).toHaveLength(1)
  })

  it('ends before the service stops to wait', async () => {
    const { calls } = await claimed([LOST, CLAIMED], { untilMs: Date.now() + 3_000 })
    expect(calls[0]?.timeout).toBe(5_000)
    expect(calls[1]?.timeout).toBeLessThanOrEqual(3_000)
  })
})

async function claimed(answers: ServiceAnswer[], time: Partial<ClaimTime> = {}) {
  const sent = webhook({}, { service: () => answers.shift() ?? LOST })
  await claim(sent.context, 'dlv_1', { untilMs: Date.now() + 13_000, pausesMs: [0, 0], ...time })
  return sent
}
