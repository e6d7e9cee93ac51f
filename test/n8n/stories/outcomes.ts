import type { CheckoutView, PaymentView } from '../../../service/checkouts/views.ts'
import type { TestAccount } from '../../harness/chain.ts'
import { formOf, paymentAt, published } from '../payments.ts'
import { asJson, until, type LastNode, type World } from '../world.ts'

/** A trigger that charges only if the workflow succeeds, and one that refunds: whatever happens, nobody loses money. */
export function outcomesStory(world: () => World): void {
  describe('a workflow that is charged only if it succeeds', () => {
    it('is charged once for a success, and its answer is shown then', async () => {
      const { state, left } = await order()
      expect(state).toMatchObject({ payment: { status: 'paid', txHash: expect.stringMatching(/^0x/) } })
      expect(JSON.parse(state.delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
      expect(left).toBe(START - PRICE)
    })

    it.each<[string, LastNode, string]>([
      ['fails', node('stopAndError', 1, { errorMessage: 'The site is down.' }), 'workflow_failed'],
      ['hangs', node('wait', 1.1, { amount: 40, unit: 'seconds' }), 'workflow_timeout'],
    ])('charges nothing when it %s', async (_, last, code) => {
      const { state, left } = await order(last)
      expect(state.payment).toMatchObject({ status: 'failed', txHash: null, reason: { code } })
      expect(state.delivery?.answer).toBeNull()
      expect(left).toBe(START)
    })

    it.each(['succeeded', 'failed'])('ends as the workflow reports: %s', async (status) => {
      const { credential } = world()
      const parameters = { resource: 'payment', operation: 'outcome', status, answer: 'All links work.' }
      const reported = {
        type: 'n8n-nodes-coinslot.coinslot',
        typeVersion: 1,
        parameters,
        credentials: { coinslotApi: credential },
      }
      const { state, left } = await order(reported, undefined, { respond: 'onReceived' })
      const isPaid = status === 'succeeded'
      expect(state.payment.status).toBe(isPaid ? 'paid' : 'failed')
      expect(isPaid ? state.delivery?.answer : state.payment.reason?.sentence).toContain('All links work.')
      expect(left).toBe(isPaid ? START - PRICE : START)
    })

    it('answers the payer after a wait, and out of a sub-workflow', async () => {
      const { credential } = world()
      const parameters = { resource: 'payment', operation: 'answer', answerWith: 'item' }
      const answer = { ...node('x', 1, parameters), type: 'n8n-nodes-coinslot.coinslot' }
      const inside = [
        ['When called', node('executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' })],
        ['Wait', node('wait', 1.1, { amount: 1, unit: 'seconds' })],
        ['Made', node('set', 3.4, { mode: 'raw', jsonOutput: '{ "report": "All links work." }' })],
        ['Answer', { ...answer, credentials: { coinslotApi: credential } }],
      ] as const
      const called = {
        nodes: inside.map(([name, one], at) => ({ ...one, name, id: String(at), position: [at * 200, 0] })),
        connections: Object.fromEntries(
          inside.slice(1).map(([name], at) => [inside[at]![0], { main: [[{ node: name, type: 'main', index: 0 }]] }]),
        ),
      }
      const calling = { source: 'parameter', workflowJson: JSON.stringify(called), options: {} }
      const { state, left } = await order(node('executeWorkflow', 1.2, calling), undefined, { respond: 'onReceived' })
      expect(state.payment.status).toBe('paid')
      expect(JSON.parse(state.delivery?.answer ?? '')).toEqual({ report: 'All links work.' })
      expect(left).toBe(START - PRICE)
    })

    it('charges nothing when n8n is killed in the middle of it', async () => {
      const { state, left } = await order(node('wait', 1.1, { amount: 50, unit: 'seconds' }), async ({ payment }) => {
        await until(async () => (await paymentAt(payment)).delivery?.status === 'claimed')
        await world().n8n.crash()
      })
      expect(state.payment).toMatchObject({ status: 'failed', reason: { code: 'workflow_failed' } })
      expect(left).toBe(START)
    })
  })

  it('a workflow that is charged first and fails is refunded by itself', async () => {
    const { payment, payer } = await pay(node('stopAndError', 1, { errorMessage: 'The site is down.' }), {
      refundOnFailure: true,
      capture: 'onPayment',
    })
    const readPayment = (): Promise<unknown> => world().get(`/payments/${payment.id}`)
    await until(async () => {
      await world().chain.mine()
      return JSON.stringify(await readPayment()).includes('"confirmed"')
    })
    expect(await readPayment()).toMatchObject({ payment: { refunds: [{ amount: 0.25, state: 'confirmed' }] } })
    expect(await balanceOf(payer)).toBe(START)
  })

  async function order(last?: LastNode, meanwhile?: (state: PaymentView) => Promise<void>, terms: object = {}) {
    const { payment, payer } = await pay(last, { capture: 'onSuccess', runSeconds: 20, ...terms })
    await meanwhile?.(await paymentAt(payment))
    await until(async () => {
      await world().chain.mine()
      return ['paid', 'failed'].includes((await paymentAt(payment)).payment.status)
    })
    return { state: await paymentAt(payment), left: await balanceOf(payer) }
  }

  /** Publishes the workflow, and pays at its form with a new wallet. */
  async function pay(last: LastNode | undefined, terms: Record<string, unknown>) {
    const { network } = world().chain
    const workflow = await published(
      world(),
      { testMode: false, network: 'base-sepolia', price: 0.25, respond: 'lastNode', ...terms },
      last,
    )
    const form = await formOf(workflow)
    const payer = await world().chain.payer(START)
    const { v2 } = ((await asJson(form)).body as CheckoutView).paymentRequirements!
    const { signature, ...signed } = await payer.authorize(network, v2.payTo, { value: BigInt(v2.amount) })
    const authorization = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, String(value)]))
    const { body }: { body: PaymentView } = await asJson(`${form}/pay`, 'POST', {
      input: { website: 'https://example.com' },
      paymentPayload: { x402Version: 2, accepted: v2, payload: { signature, authorization } },
    })
    return { payment: body.payment, payer }
  }

  async function balanceOf({ address }: TestAccount): Promise<bigint> {
    const { network } = world().chain
    const read = { to: network.usdc.address, data: `0x70a08231${address.slice(2).padStart(64, '0')}` }
    return BigInt((await world().chain.call('eth_call', read, 'latest')) as string)
  }
}

const START = 1_000_000n
const PRICE = 250_000n

function node(name: string, typeVersion: number, parameters: Record<string, unknown>): LastNode {
  return { type: `n8n-nodes-base.${name}`, typeVersion, parameters }
}
