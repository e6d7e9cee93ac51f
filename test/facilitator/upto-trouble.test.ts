import type { Hex } from 'viem'
import { approval, invalidation, ownSale, payUpto, sendAs, settleCall, uptoTerms } from '../harness/upto.ts'
import { openWorld, until, usdcOf, type Instance, type World } from './world.ts'

const MOST = 1_000_000n

/** Claimed by a process that signs nothing; then something happens, and another process signs. */
describe('a permit that is claimed', () => {
  let world: World
  let facilitator: Hex
  beforeAll(async () => {
    world = await openWorld({ services: 0 })
    facilitator = world.chain.accounts[0]!.address
  })
  afterAll(() => world.close())

  async function claimed() {
    const { chain } = world
    const claiming = await world.add({ writes: false })
    const payer = await chain.payer(MOST)
    await sendAs(chain, payer.address, approval(chain))
    const terms = uptoTerms(chain, { facilitator, receiver: world.seller })
    const deadline = BigInt(Math.floor(world.clock.now().getTime() / 1_000) + 60)
    const paid = await payUpto(chain, payer, terms, { sponsored: false, deadline })
    expect(await settled(claiming, paid.body)).toMatchObject({ reason: 'settlement_pending' })
    await claiming.close()
    return { ...paid, payer }
  }
  const settled = ({ facilitator: own }: Instance, body: unknown) => ownSale(own).settle(body, 100)

  it('is settled by the transaction of another program with the same key', async () => {
    const { body, payload, payer } = await claimed()
    await sendAs(world.chain, facilitator, settleCall(payload, MOST))
    expect(await usdcOf(world.chain, payer.address)).toBe(0n)
    const service = await world.add()
    await until(async () => (await settled(service, body)).success)
    expect(await settled(service, body)).toMatchObject({ reason: 'permit2_invalid_nonce' })
    await service.close()
  })

  it('fails after its time where its payer took it back, and not before', async () => {
    const { body, nonce, payer } = await claimed()
    await sendAs(world.chain, payer.address, invalidation(nonce))
    const service = await world.add()
    const stateOf = async () => {
      const [row] = await world.database.statements.run<{ state: string; reason: string | null }>(
        'SELECT state::text, reason FROM facilitator_settlement WHERE payer = $1',
        [Buffer.from(payer.address.slice(2), 'hex')],
      )
      return row
    }
    await until(async () => (await stateOf())?.state === 'broadcast')
    expect(await settled(service, body)).toMatchObject({ reason: 'settlement_pending' })
    world.clock.forward(200_000)
    await world.chain.call('evm_increaseTime', 200)
    await world.chain.mine(4)
    await until(async () => {
      await service.facilitator.reconcile(world.clock.now())
      return (await stateOf())?.state === 'failed'
    })
    expect(await stateOf()).toEqual({ state: 'failed', reason: 'permit2_invalid_nonce' })
    expect(await usdcOf(world.chain, payer.address)).toBe(MOST)
    await service.close()
  })
})
