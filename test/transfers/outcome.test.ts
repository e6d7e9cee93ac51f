import type { SignedAuthorization } from '../../service/chain/model.ts'
import { blockBeforeSigning } from '../../service/chain/networks.ts'
import { outcomeOf } from '../../service/transfers/service/outcome.ts'
import { hiding, honest, startRelay, type Relay } from '../chain/relay.ts'
import { cancelCall, openWorld, type World } from '../chain/world.ts'

/** One judge for every transfer that this service has signed, or whose payment it waits for. */
describe('what became of a signed transfer', () => {
  let world: World
  let relay: Relay
  beforeAll(async () => {
    world = await openWorld()
    await world.local.mine(3)
    relay = await startRelay(world.local.url)
  })
  afterEach(() => {
    relay.behave(honest)
  })
  afterAll(async () => {
    await relay.stop()
    await world.stop()
  })

  const now = async () => (await world.chain.head()).timestamp
  const at = async (seconds: bigint) => {
    await world.local.call('evm_setNextBlockTimestamp', Number(seconds))
    await world.local.mine()
  }
  const fails = () => {
    relay.behave(() => ({ status: 502, body: {} }))
  }
  const send = (item: SignedAuthorization) => world.send(world.chain.encodeTransfer(item, false))

  async function signed() {
    const payer = await world.local.payer(2_000_000n)
    const terms = { value: 1_000_000n, validBefore: (await now()) + 60n }
    const item = await payer.authorize(world.local.network, world.sponsor.address, terms)
    return { payer, item, terms, before: (await world.chain.head()).number }
  }

  /** As a service with two nodes sees it: the first is the relay. */
  async function outcome(item: SignedAuthorization, urls = [relay.url, world.local.url]) {
    const chain = world.adapter({ urls, headMaxAgeMs: 0 })
    const found = await outcomeOf(chain, { ...item, pays: item, seenBlock: null }, 3)
    return found.state === 'used' ? (found.final ? 'final' : 'used') : found.state
  }

  it('is over two minutes after its time, as two nodes agree, or one of them ten minutes later', async () => {
    const { item } = await signed()
    expect(await outcome(item)).toBe('open')
    await at(item.validBefore + 1n)
    expect(await outcome(item)).toBe('ending')
    await at(item.validBefore + 120n)
    expect(await outcome(item)).toBe('ending')
    await at(item.validBefore + 122n)
    expect(await outcome(item)).toBe('over')
    fails()
    expect(await outcome(item)).toBe('unclear')
    await at(item.validBefore + 800n)
    expect(await outcome(item)).toBe('over')
  })

  it('is not over where one node hides that it was used', async () => {
    const { item, before } = await signed()
    await send(item)
    await at(item.validBefore + 300n)
    relay.behave(hiding(before))
    expect(await outcome(item)).toBe('unclear')
    expect(await outcome(item, [world.local.url])).toBe('used')
  })

  it('is used, and final once it is deep', async () => {
    const { item } = await signed()
    await send(item)
    expect(await outcome(item)).toBe('used')
    await world.local.mine(2)
    expect(await outcome(item)).toBe('final')
    await at(item.validBefore + 900n)
    expect(await outcome(item)).toBe('final')
  })

  it('is searched from a block before it was signed, however late one looks', () => {
    const [validBefore, signedAt, number] = [1_000_000n, 999_000n, 50_000_000n]
    for (const late of [0n, 600n, 86_400n, 30n * 86_400n]) {
      const timestamp = validBefore + late
      // With a block each second as many were made since.
      expect(blockBeforeSigning({ number, timestamp }, validBefore)).toBeLessThan(number - (timestamp - signedAt))
    }
    expect(blockBeforeSigning({ number: 5n, timestamp: validBefore }, validBefore)).toBe(0n)
  })

  it.each(['its payer took it back', 'its nonce paid somebody else'])(
    'is spent where %s, as two nodes agree',
    async (how) => {
      const { payer, item, terms } = await signed()
      const { network, accounts } = world.local
      const theirs = { ...terms, nonce: item.nonce }
      if (how === 'its payer took it back')
        await world.send(cancelCall(network, item, await payer.cancel(network, item.nonce)))
      else await send(await payer.authorize(network, accounts[3]!.address, theirs))
      expect(await outcome(item)).toBe('unclear')
      await world.local.mine(2)
      expect(await outcome(item)).toBe('spent')
      fails()
      expect(await outcome(item)).toBe('unclear')
    },
  )
})
