import type { CheckoutView } from '../../../service/checkouts/views.ts'
import { openWorld, until, type World } from '../../checkouts/world.ts'
import { usdcOf } from '../../facilitator/world.ts'
import { escrowBody, escrowed, payEscrow, seller, type EscrowTerms } from '../../harness/escrow.ts'

/** A buyer who has the facilitator hold the money for a key of its own, and buys with it at the same moment. */
describe('money in the escrow that two requests claim at once', () => {
  const PRICE = 500_000n
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })
  afterAll(() => world.close())

  it.each(['the purchase first', 'the hold first', 'both at once'] as const)(
    'pays the seller for the work, or buys none: %s',
    async (order) => {
      const { id } = await world.sell({ capture: 'escrow', responseMode: 'lastNode', price: 0.5 })
      const [payer, thief] = [await world.chain.payer(PRICE), world.chain.accounts[2]!]
      const { body: view }: { body: CheckoutView } = await world.call('GET', `/p/${id}`)
      const terms = view.paymentRequirements!.v2 as unknown as EscrowTerms
      const now = Math.floor(world.service.clock.now().getTime() / 1_000)
      const signed = await payEscrow(world.chain, payer, terms, { now, boundTo: thief.address })
      const claimed = { ...terms, extra: { ...terms.extra, receiverAuthorizer: thief.address } }
      const { paymentPayload } = signed.body
      const settle = (payload: Record<string, unknown>) =>
        world.call('POST', '/facilitator/settle', { body: escrowBody(claimed, payload) })
      const hold = () => settle(paymentPayload.payload)
      const buy = () => world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
      const before = await usdcOf(world.chain, world.recipient)
      if (order === 'the purchase first') await buy().then(hold)
      else if (order === 'the hold first') await hold().then(buy)
      else await Promise.all([buy(), hold()])

      const by = seller(world.chain, thief, terms.extra.captureAuthorizer)
      const all = { capturable: PRICE, refundable: 0n }
      const runs = () => world.workflow.deliveries.filter(({ json }) => json.metadata.checkoutId === id).length
      await until(async () => {
        await settle(await by.void(signed))
        await settle(await by.capture(signed, 100n, all, { voids: true }))
        return (await escrowed(world.chain, signed.info)).capturable === 0n
      })
      const received = (await usdcOf(world.chain, world.recipient)) - before
      expect([runs(), received]).toEqual(received === 0n ? [0, 0n] : [1, PRICE])
      expect(await usdcOf(world.chain, payer.address)).toBe(PRICE - received)
      expect(await world.service.ledger.differences()).toEqual([])
    },
  )
})
