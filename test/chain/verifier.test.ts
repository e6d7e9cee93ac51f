import type { SignedAuthorization } from '../../service/chain/model.ts'
import type { Chains } from '../../service/wiring/chains.ts'
import { chainVerifierOf } from '../../service/wiring/chain-verifier.ts'
import { hiding, honest, startRelay, type Behaviour, type Question } from './relay.ts'
import { cancelCall, openWorld, type World } from './world.ts'

/** What becomes of a payment that another facilitator settles. */
describe('the state of an authorization', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    await world.local.mine()
  })
  afterAll(() => world.stop())

  const now = async () => (await world.chain.head()).timestamp
  const at = (seconds: bigint) =>
    world.local.call('evm_setNextBlockTimestamp', Number(seconds)).then(() => world.local.mine())

  /** As a service with these nodes sees it. */
  async function stateOf(item: SignedAuthorization, urls: readonly string[] = [world.local.url]) {
    const chain = world.adapter({ urls, headMaxAgeMs: 0 })
    const chains = { byNetwork: new Map([[chain.network.name, chain]]) } as unknown as Chains
    const evidence = await chainVerifierOf(chains)!.look(chain.network, item)
    return evidence?.state ?? 'unknown'
  }

  async function signed() {
    const payer = await world.local.payer(1_000_000n)
    const validBefore = (await now()) + 60n
    return { payer, item: await payer.authorize(world.local.network, world.sponsor.address, { validBefore }) }
  }

  it('is over two minutes after its time, not before', async () => {
    const { item } = await signed()
    expect(await stateOf(item)).toBe('unused')
    await at(item.validBefore + 119n)
    expect(await stateOf(item)).toBe('unused')
    await at(item.validBefore + 122n)
    expect(await stateOf(item)).toBe('over')
  })

  it('is unknown after its time where one node hides the payment', async () => {
    const { item } = await signed()
    const { number } = await world.chain.head()
    await world.send(world.chain.encodeTransfer(item, false))
    await at(item.validBefore + 300n)
    const relay = await startRelay(world.local.url, hiding(number))
    expect(await stateOf(item, [relay.url, world.local.url])).toBe('unknown')
    expect(await stateOf(item)).toBe('used')
    await relay.stop()
  })

  it('is taken where it was used, and its nodes do not say or agree what for', async () => {
    const { item } = await signed()
    await world.send(world.chain.encodeTransfer(item, false))
    const relay = await startRelay(world.local.url, hidingUses)
    expect(await stateOf(item, [relay.url])).toBe('taken')
    relay.behave((asked, isBatch) => (asksForLogs(asked) ? { status: 429, body: {} } : honest(asked, isBatch)))
    expect(await stateOf(item, [relay.url])).toBe('taken')
    const { payer, item: cancelled } = await signed()
    const { number } = await world.chain.head()
    const { network } = world.local
    await world.send(cancelCall(network, cancelled, await payer.cancel(network, cancelled.nonce)))
    relay.behave(hiding(number))
    expect(await stateOf(cancelled, [world.local.url, relay.url])).toBe('taken')
    relay.behave(() => ({ status: 502, body: {} }))
    expect(await stateOf(cancelled, [relay.url])).toBe('unknown')
    await relay.stop()
  })

  it('is spent where its payer took it back', async () => {
    const { payer, item } = await signed()
    const { network } = world.local
    await world.send(cancelCall(network, item, await payer.cancel(network, item.nonce)))
    expect(await stateOf(item)).toBe('spent')
  })
})

const asksForLogs = (asked: readonly Question[]) => asked.some(({ method }) => method === 'eth_getLogs')

/** A node with the newest state that has no events yet. */
const hidingUses: Behaviour = (asked, isBatch) =>
  asksForLogs(asked)
    ? { pass: asked.map((one) => (one.method === 'eth_getLogs' ? { ...one, params: [NO_LOGS] } : one)) }
    : honest(asked, isBatch)

const NO_LOGS = { fromBlock: '0x0', toBlock: '0x0' }
