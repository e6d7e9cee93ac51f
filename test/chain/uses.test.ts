import type { SignedAuthorization } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { honest, lagging, startRelay } from './relay.ts'
import { cancelCall, openWorld, until, type World } from './world.ts'

describe('the use of a nonce', () => {
  let world: World
  let payer: TestAccount
  let seller: TestAccount

  beforeAll(async () => {
    world = await openWorld()
    payer = await world.local.payer(100_000_000n)
    seller = await world.local.payer(1n)
    await world.local.mine()
  })
  afterAll(() => world.stop())

  const authorize = (value = 1_000_000n, from = payer) => from.authorize(world.local.network, seller.address, { value })
  const useOf = (item: SignedAuthorization, from = 0n) => world.chain.findUse(item.from, item.nonce, from)

  it('finds nothing where nothing was used', async () => {
    const item = await authorize()
    expect(await useOf(item)).toBeNull()
    expect(await world.chain.authorization(item.from, item.nonce)).toEqual({ used: false })
  })

  it('finds a use and the transfer that belongs to it', async () => {
    const item = await authorize(7n)
    const receipt = await world.send(world.chain.encodeTransfer(item, false))
    const { hash, blockNumber, blockHash, transfers } = receipt
    expect(await useOf(item)).toEqual({ hash, blockNumber, blockHash, cancelled: false, transfer: transfers[0] })
    expect(await useOf(item, blockNumber)).not.toBeNull()
    expect(await useOf(item, blockNumber + 1n)).toBeNull()
    expect(await world.chain.authorization(item.from, item.nonce)).toEqual({ used: true })
  })

  it('is found among the others of a batch', async () => {
    const items = await Promise.all([3n, 4n, 5n].map((value) => authorize(value)))
    const receipt = await world.send(world.chain.encodeBatch(items))
    for (const [place, item] of items.entries()) {
      expect(await useOf(item)).toMatchObject({ hash: receipt.hash, transfer: receipt.transfers[place] })
      expect(receipt.transfers[place]).toMatchObject({ to: seller.address, value: item.value })
    }
  })

  it('finds the transaction of another sender that came first; the rest of the batch is paid', async () => {
    const items = await Promise.all([11n, 12n, 13n].map((value) => authorize(value)))
    const stranger = world.local.accounts[3]!
    const theirs = await world.send(world.chain.encodeTransfer(items[1]!, false), stranger)
    const ours = await world.send(world.chain.encodeBatch(items))
    expect(ours.status).toBe('success')
    expect(ours.used.map(({ nonce }) => nonce)).toEqual([items[0]!.nonce, items[2]!.nonce])
    expect(await useOf(items[1]!)).toMatchObject({ hash: theirs.hash, transfer: { to: seller.address, value: 12n } })
  })

  it('shows when other terms were settled under the same nonce', async () => {
    const item = await authorize(1_000_000n)
    const other = await payer.authorize(world.local.network, world.sponsor.address, { nonce: item.nonce, value: 2n })
    await world.send(world.chain.encodeTransfer(other, false))
    expect(await useOf(item)).toMatchObject({ transfer: { to: world.sponsor.address, value: 2n } })
  })

  it('distinguishes a cancellation from a payment, also in one transaction with a payment', async () => {
    const { network } = world.local
    const item = await authorize()
    const receipt = await world.send(cancelCall(network, item, await payer.cancel(network, item.nonce)))
    expect(receipt).toMatchObject({ transfers: [], used: [], cancelled: [{ nonce: item.nonce }] })
    expect(await useOf(item)).toMatchObject({ hash: receipt.hash, cancelled: true, transfer: null })
    expect(await world.chain.authorization(item.from, item.nonce)).toEqual({ used: true })
  })

  it('is no longer found after a reorganisation removed its block', async () => {
    const item = await authorize(9n)
    const receipt = await world.send(world.chain.encodeTransfer(item, false))
    await world.local.reorg(1)
    expect(await world.chain.receipt(receipt.hash)).toBeNull()
    expect(await useOf(item)).toBeNull()
    expect(await world.chain.authorization(item.from, item.nonce)).toEqual({ used: false })
    expect((await world.chain.simulate([item]))[0]!.outcome.succeeds).toBe(true)
  })

  it("is null when the event's receipt has disappeared", async () => {
    const item = await authorize(9n)
    await world.send(world.chain.encodeTransfer(item, false))
    const relay = await startRelay(world.local.url, (questions) =>
      questions[0]!.method === 'eth_getTransactionReceipt'
        ? { status: 200, body: { jsonrpc: '2.0', id: questions[0]!.id, result: null } }
        : honest(questions, false),
    )
    expect(await world.adapter({ urls: [relay.url] }).findUse(item.from, item.nonce, 0n)).toBeNull()
    await relay.stop()
  })

  describe('the agreement of several nodes', () => {
    const search = ({ from: payerOf, nonce }: SignedAuthorization, past: bigint | null) => ({
      ...{ payer: payerOf, nonce, from: 0n, past },
    })

    it('is unknown while one lags behind the use, and the use once both have it', async () => {
      const { number, timestamp } = await world.chain.head()
      const relay = await startRelay(world.local.url, lagging(number))
      const both = world.adapter({ urls: [relay.url, world.local.url] })
      const alone = world.adapter({ urls: [relay.url] })
      const item = await authorize(21n)
      const { hash } = await world.send(world.chain.encodeTransfer(item, false))
      const past = timestamp + 5n
      await world.local.call('evm_setNextBlockTimestamp', Number(past))
      await world.local.mine()
      expect(await both.agreedUse(search(item, past))).toEqual({ known: false })
      // Its newest block is older than the end of the authorization, so finding no use there proves nothing.
      expect(await alone.agreedUse(search(item, past))).toEqual({ known: false })
      // One address with two nodes behind it: the newest block comes from one, the state from the other.
      relay.behave(lagging(number, ['eth_getBlockByNumber']))
      expect(await alone.agreedUse(search(item, past))).toEqual({ known: false })
      relay.behave(honest)
      expect(await both.agreedUse(search(item, past))).toMatchObject({ known: true, used: true, use: { hash } })
      await relay.stop()
    })

    it('is that it was never used; by one node alone only long after its end', async () => {
      const item = await authorize(22n)
      const past = (await world.chain.head()).timestamp + 5n
      await world.local.call('evm_setNextBlockTimestamp', Number(past))
      await world.local.mine()
      expect(await world.chain.agreedUse(search(item, past))).toEqual({ known: true, used: false, use: null })
      const relay = await startRelay(world.local.url, () => ({ status: 502, body: {} }))
      const both = world.adapter({ urls: [relay.url, world.local.url] })
      expect(await both.agreedUse(search(item, past))).toEqual({ known: false })
      await world.local.call('evm_setNextBlockTimestamp', Number(past + 600n))
      await world.local.mine()
      expect(await both.agreedUse(search(item, past))).toEqual({ known: true, used: false, use: null })
      await relay.stop()
    })
  })

  describe('a long search', () => {
    it('is split into ranges as narrow as the RPC requires', async () => {
      const item = await authorize(9n)
      const { hash } = await world.send(world.chain.encodeTransfer(item, false))
      await world.local.mine(60)
      const newest = Number((await world.chain.head()).number)
      const answered: [number, string][] = []
      const relay = await startRelay(world.local.url, (questions) => {
        const { id, method, params } = questions[0]!
        if (method !== 'eth_getLogs') return honest(questions, false)
        const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
        if ((toBlock === 'latest' ? newest : Number(toBlock)) - Number(fromBlock) >= 10) {
          return {
            status: 200,
            body: { jsonrpc: '2.0', id, error: { code: -32602, message: 'block range is too wide' } },
          }
        }
        answered.push([Number(fromBlock), toBlock])
        return honest(questions, false)
      })
      const chain = world.adapter({ urls: [relay.url] })
      expect(await chain.findUse(item.from, item.nonce, 0n)).toMatchObject({ hash })
      answered.length = 0
      expect(await chain.findUse(item.from, `0x${'77'.repeat(32)}`, 0n)).toBeNull()
      expect(answered.at(-1)![1]).toBe('latest')
      // Each part begins where the one before ended.
      for (const [place, [from]] of answered.entries()) {
        expect(from).toBe(place === 0 ? 0 : Number(answered[place - 1]![1]) + 1)
      }
      await relay.stop()
    })

    it('is split where the RPC takes too long for so many blocks, and says so as an outage', async () => {
      const item = await authorize(9n)
      const { hash } = await world.send(world.chain.encodeTransfer(item, false))
      await world.local.mine(3_000)
      const newest = Number((await world.chain.head()).number)
      const relay = await startRelay(world.local.url, (questions) => {
        const { id, method, params } = questions[0]!
        if (method !== 'eth_getLogs') return honest(questions, false)
        const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
        if ((toBlock === 'latest' ? newest : Number(toBlock)) - Number(fromBlock) < 1_000)
          return honest(questions, false)
        return { status: 200, body: { jsonrpc: '2.0', id, error: { code: -32005, message: 'query timeout exceeded' } } }
      })
      const chain = world.adapter({ urls: [relay.url] })
      expect(await chain.findUse(item.from, item.nonce, 0n)).toMatchObject({ hash })
      expect(await chain.findUse(item.from, `0x${'78'.repeat(32)}`, 0n)).toBeNull()
      await relay.stop()
    })

    it('is "unavailable" where an RPC refuses even the smallest range', async () => {
      const relay = await startRelay(world.local.url, (questions) =>
        questions[0]!.method === 'eth_getLogs'
          ? {
              status: 200,
              body: { jsonrpc: '2.0', id: questions[0]!.id, error: { code: -32602, message: 'no range' } },
            }
          : honest(questions, false),
      )
      const search = world.adapter({ urls: [relay.url] }).findUse(payer.address, `0x${'77'.repeat(32)}`, 0n)
      await expect(search).rejects.toMatchObject({ kind: 'unavailable', code: 'rpc_unavailable' })
      await relay.stop()
    })
  })

  it('is found in a block newer than the cached head', async () => {
    const item = await authorize(9n)
    const chain = world.adapter({ headMaxAgeMs: 60_000 })
    const stale = (await chain.head()).number
    await world.local.mine(3)
    const { hash } = await world.send(world.chain.encodeTransfer(item, false))
    expect(await until(() => chain.findUse(item.from, item.nonce, stale + 1n))).toMatchObject({ hash })
  })
})
