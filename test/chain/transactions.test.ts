import { privateKeyToAccount } from 'viem/accounts'
import { keccak256, toHex } from 'viem'
import type { Call, Fees, SignedTransaction } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { startRelay, type Relay } from './relay.ts'
import { openWorld, until, type World } from './world.ts'

const GWEI = 1_000_000_000n
const FEES: Fees = { maxFeePerGas: 4n * GWEI, maxPriorityFeePerGas: GWEI }

describe('a transaction', () => {
  let world: World
  let seller: TestAccount

  beforeAll(async () => {
    world = await openWorld()
    seller = await world.local.payer(1n)
  })
  afterAll(() => world.stop())

  async function transfer(): Promise<Call> {
    const payer = await world.local.payer(1_000_000n)
    return world.chain.encodeTransfer(await payer.authorize(world.local.network, seller.address), false)
  }

  function sign(call: Call, nonce: number, from = world.sponsor, fees = FEES): SignedTransaction {
    return world.chain.signTransaction({ key: from.privateKey, nonce, gas: 200_000n, fees, ...call })
  }

  describe('signing', () => {
    it('returns the same bytes as viem, for every nonce and length', async () => {
      for (const nonce of [0, 1, 127, 128, 70_000]) {
        const call = await transfer()
        const { raw, hash } = sign(call, nonce)
        const theirs = await privateKeyToAccount(world.sponsor.privateKey).signTransaction({
          type: 'eip1559',
          chainId: 84532,
          nonce,
          gas: 200_000n,
          ...FEES,
          ...call,
        })
        expect(raw).toBe(theirs)
        expect(hash).toBe(keccak256(theirs))
      }
    })

    it('derives the address of a key', () => {
      expect(world.chain.addressOf(world.sponsor.privateKey)).toBe(world.sponsor.address)
    })
  })

  describe('broadcasting', () => {
    it('reports a transaction as sent once, then as known, pending or mined', async () => {
      const quiet = await openWorld({ mining: 'manual' })
      const signed = sign(await transfer(), 0)
      expect(await quiet.chain.isKnown(signed.hash)).toBe(false)
      expect(await quiet.chain.broadcast(signed.raw)).toBe('sent')
      expect(await quiet.chain.broadcast(signed.raw)).toBe('known')
      expect(await quiet.chain.isKnown(signed.hash)).toBe(true)
      expect(await quiet.chain.receipt(signed.hash)).toBeNull()
      expect(await quiet.chain.nonceOf(world.sponsor.address, 'latest')).toBe(0)
      expect(await quiet.chain.nonceOf(world.sponsor.address, 'pending')).toBe(1)
      await quiet.local.mine()
      expect(await quiet.chain.broadcast(signed.raw)).toBe('known')
      expect(await quiet.chain.nonceOf(world.sponsor.address, 'latest')).toBe(1)
      await quiet.stop()
    })

    it('names the reason why a transaction was refused', async () => {
      const quiet = await openWorld({ mining: 'manual' })
      const [first, second, third] = [sign(await transfer(), 0), sign(await transfer(), 0), sign(await transfer(), 0)]
      await quiet.chain.broadcast(first.raw)
      await expect(quiet.chain.broadcast(second.raw)).rejects.toMatchObject({
        kind: 'failed',
        code: 'replacement_underpriced',
      })
      await quiet.local.mine()
      await expect(quiet.chain.broadcast(third.raw)).rejects.toMatchObject({ code: 'nonce_too_low' })
      const poor = await quiet.local.payer(0n)
      await expect(quiet.chain.broadcast(sign(await transfer(), 0, poor).raw)).rejects.toMatchObject({
        code: 'insufficient_funds',
      })
      await expect(quiet.chain.broadcast('0x02c0')).rejects.toMatchObject({
        code: 'transaction_refused',
        fields: { reason: expect.any(String) as string },
      })
      await quiet.stop()
    })

    // As geth, reth, Nethermind, Besu, Erigon and anvil put it.
    it.each([
      ['already known', 'known'],
      ['transaction already imported', 'known'],
      ['AlreadyKnown', 'known'],
      ['Known transaction', 'known'],
      ['nonce too low: next nonce 5, tx nonce 4', 'nonce_too_low'],
      ['OldNonce', 'nonce_too_low'],
      ['replacement transaction underpriced', 'replacement_underpriced'],
      ['could not replace existing tx', 'replacement_underpriced'],
      ['transaction underpriced: gas tip cap 1, minimum needed 1000000', 'fee_too_low'],
      ['max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1', 'fee_too_low'],
      ['FeeTooLow, MaxFeePerGas too low', 'fee_too_low'],
      ['insufficient funds for gas * price + value: have 1 want 2', 'insufficient_funds'],
      ['Upfront cost exceeds account balance', 'insufficient_funds'],
      ['exceeds block gas limit', 'transaction_refused'],
    ])('reads "%s" as %s', async (message, outcome) => {
      const relay = await answering({ code: -32000, message })
      const chain = world.adapter({ urls: [relay.url] })
      const sent = chain.broadcast(sign(await transfer(), 900).raw)
      if (outcome === 'known') expect(await sent).toBe('known')
      else await expect(sent).rejects.toMatchObject({ code: outcome, fields: { reason: message } })
      await relay.stop()
    })

    it('is rpc_unavailable when no answer comes', async () => {
      const relay = await startRelay(world.local.url, () => 'hang')
      const chain = world.adapter({ urls: [relay.url], timeoutMs: 100 })
      await expect(chain.broadcast(sign(await transfer(), 901).raw)).rejects.toMatchObject({ code: 'rpc_unavailable' })
      await relay.stop()
    })
  })

  describe('its gas price', () => {
    it('is offered with room for the base fee to double, and read once per block', async () => {
      const relay = await startRelay(world.local.url)
      const chain = world.adapter({ urls: [relay.url] })
      const { baseFeePerGas } = await chain.head()
      const fees = await Promise.all([chain.fees(), chain.fees(), chain.fees()])
      const offered = { maxFeePerGas: 2n * baseFeePerGas + GWEI, maxPriorityFeePerGas: GWEI }
      expect(fees).toEqual([offered, offered, offered])
      expect(relay.requests.flat().filter((method) => method === 'eth_maxPriorityFeePerGas')).toHaveLength(1)
      await relay.stop()
    })

    it('stays under the cap, and is refused where the base fee is above it', async () => {
      const { baseFeePerGas } = await world.chain.head()
      const cap = baseFeePerGas + 5n
      expect(await world.adapter({ maxFeePerGasCap: cap }).fees()).toEqual({
        maxFeePerGas: cap,
        maxPriorityFeePerGas: 5n,
      })
      const poor = world.adapter({ maxFeePerGasCap: baseFeePerGas - 1n })
      await expect(poor.fees()).rejects.toMatchObject({ kind: 'unavailable', code: 'gas_too_dear' })
    })

    it('is estimated, or refused with the reason why the call would revert', async () => {
      const call = await transfer()
      const from = world.sponsor.address
      expect(await world.chain.estimateGas({ from, ...call })).toBeGreaterThan(60_000n)
      await world.send(call)
      await expect(world.chain.estimateGas({ from, ...call })).rejects.toMatchObject({
        code: 'call_reverts',
        fields: { reason: 'FiatTokenV2: authorization is used or canceled' },
      })
    })
  })

  describe('the newest block', () => {
    it('is read once for concurrent calls, until it may be outdated', async () => {
      const relay = await startRelay(world.local.url)
      const chain = world.adapter({ urls: [relay.url], headMaxAgeMs: 1_000 })
      const [first, again] = await Promise.all([chain.head(), chain.head()])
      await world.local.mine()
      expect(await chain.head()).toEqual(first)
      expect(again).toEqual(first)
      expect(relay.requests).toEqual([['eth_getBlockByNumber']])
      world.clock.forward(1_000)
      expect((await chain.head()).number).toBe(first.number + 1n)
      await relay.stop()
    })
  })

  it('reads balances', async () => {
    const someone = await world.local.payer(42n)
    expect(await world.chain.balanceOf(someone.address)).toBe(42n)
    expect(await world.chain.nativeBalance(someone.address)).toBe(0n)
    expect(await world.chain.nativeBalance(world.local.accounts[1]!.address)).toBe(10n ** 22n)
  })

  describe('a receipt', () => {
    it('is null before the block, and then has the transfers, used nonces and cost', async () => {
      expect(await world.chain.receipt(toHex(1, { size: 32 }))).toBeNull()
      const payer = await world.local.payer(1_000_000n)
      const item = await payer.authorize(world.local.network, seller.address, { value: 250_000n })
      const before = await world.chain.nativeBalance(world.sponsor.address)
      const receipt = await world.send(world.chain.encodeTransfer(item, false))
      expect(receipt).toMatchObject({
        status: 'success',
        transfers: [{ from: payer.address, to: seller.address, value: 250_000n }],
        used: [{ authorizer: payer.address, nonce: item.nonce }],
        cancelled: [],
      })
      expect(receipt.cost).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
      expect(before - (await world.chain.nativeBalance(world.sponsor.address))).toBe(receipt.cost)
      expect(await until(async () => ((await world.chain.head()).hash === receipt.blockHash ? receipt : null))).toBe(
        receipt,
      )
    })

    it("includes the network's fee for data on L1", async () => {
      const mined = await world.send(await transfer())
      const raw = (await world.local.call('eth_getTransactionReceipt', mined.hash)) as object
      const relay = await startRelay(world.local.url, ([question]) => ({
        status: 200,
        body: { jsonrpc: '2.0', id: question!.id, result: { ...raw, l1Fee: '0x3e8' } },
      }))
      const receipt = await world.adapter({ urls: [relay.url] }).receipt(mined.hash)
      expect(receipt).toEqual({ ...mined, cost: mined.cost + 1_000n })
      await relay.stop()
    })
  })

  async function answering(error: { code: number; message: string }): Promise<Relay> {
    return startRelay(world.local.url, ([question]) =>
      question?.method === 'eth_sendRawTransaction'
        ? { status: 200, body: { jsonrpc: '2.0', id: question.id, error } }
        : { pass: [question!] },
    )
  }
})
