import type { Hex, SignedAuthorization, Simulation } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { honest, startRelay, type Behaviour, type Relay } from './relay.ts'
import { cancelCall, openWorld, type World } from './world.ts'
const past = BigInt(Math.floor(Date.now() / 1000) - 100)
const future = BigInt(Math.floor(Date.now() / 1000) + 1000)

describe('a simulation', () => {
  let world: World
  let payer: TestAccount
  let seller: Hex
  let relay: Relay

  beforeAll(async () => {
    world = await openWorld()
    payer = await world.local.payer(5_000_000n)
    seller = (await world.local.payer(1n)).address
    relay = await startRelay(world.local.url)
  })
  afterAll(async () => {
    await relay.stop()
    await world.stop()
  })

  const authorize = (terms: Parameters<TestAccount['authorize']>[2] = {}) =>
    payer.authorize(world.local.network, seller, terms)

  async function judged(item: SignedAuthorization, chain = world.chain): Promise<Simulation> {
    return (await chain.simulate([item]))[0]!
  }

  /** The contract's own result for the exact call that a settlement would make. */
  async function directly(item: SignedAuthorization): Promise<string | null> {
    const payerHasCode = (await judged(item)).payerCode !== 'none'
    const call = { from: world.sponsor.address, ...world.chain.encodeTransfer(item, payerHasCode) }
    return world.chain.estimateGas(call).then(
      () => null,
      (error: unknown) => (error as { fields: { reason: string } }).fields.reason,
    )
  }

  describe('the verdict on one authorization', () => {
    const cases: [string, () => Promise<SignedAuthorization>, string | null][] = [
      ['a good one', () => authorize(), null],
      ['one that has expired', () => authorize({ validBefore: past }), 'FiatTokenV2: authorization is expired'],
      ['one of tomorrow', () => authorize({ validAfter: future }), 'FiatTokenV2: authorization is not yet valid'],
      ['too much', () => authorize({ value: 5_000_001n }), 'ERC20: transfer amount exceeds balance'],
      ['everything', () => authorize({ value: 5_000_000n }), null],
      ['nothing', () => authorize({ value: 0n }), null],
      [
        'a signature of other terms',
        async () => ({ ...(await authorize()), value: 2n }),
        'FiatTokenV2: invalid signature',
      ],
      [
        'a v that counts from 0',
        async () => {
          const item = await authorize()
          const v = Number.parseInt(item.signature.slice(130), 16) - 27
          return { ...item, signature: `${item.signature.slice(0, 130)}0${String(v)}` as Hex }
        },
        null,
      ],
      [
        'a v of 29',
        async () => ({ ...(await authorize()), signature: `0x${'11'.repeat(64)}1d` }),
        "ECRecover: invalid signature 'v' value",
      ],
      [
        'an s in the upper half',
        async () => ({ ...(await authorize()), signature: `0x${'11'.repeat(32)}${'f0'.repeat(32)}1b` }),
        "ECRecover: invalid signature 's' value",
      ],
      [
        'an invalid curve point',
        async () => ({ ...(await authorize()), signature: `0x${'00'.repeat(64)}1b` }),
        'ECRecover: invalid signature',
      ],
      [
        'a packed signature of 64 bytes',
        async () => ({ ...(await authorize()), signature: `0x${'11'.repeat(64)}` }),
        'ECRecover: invalid signature length',
      ],
      [
        'no signature',
        async () => ({ ...(await authorize()), signature: '0x' }),
        'ECRecover: invalid signature length',
      ],
    ]

    it.each(cases)("equals the contract's own result for %s", async (_name, make, reason) => {
      const item = await make()
      const { outcome, used, balance, payerCode, paused } = await judged(item)
      expect(outcome).toEqual(
        reason === null ? { succeeds: true, gas: expect.any(BigInt) as bigint } : { succeeds: false, reason },
      )
      expect(await directly(item)).toBe(reason)
      expect({ used, balance, payerCode, paused }).toEqual({
        used: false,
        balance: 5_000_000n,
        payerCode: 'none',
        paused: false,
      })
    })

    it('detects a used nonce and a cancelled one', async () => {
      const { network } = world.local
      const spent = await authorize({ value: 1n })
      await world.local.fund(payer.address, 5_000_001n)
      await world.send(world.chain.encodeTransfer(spent, false))
      const unused = await authorize()
      await world.send(cancelCall(network, unused, await payer.cancel(network, unused.nonce)))
      for (const item of [spent, unused]) {
        const simulation = await judged(item)
        expect(simulation.used).toBe(true)
        expect(simulation.outcome).toEqual({
          succeeds: false,
          reason: 'FiatTokenV2: authorization is used or canceled',
        })
      }
    })

    it('detects the blacklist, on either side, and a pause', async () => {
      const item = await authorize()
      await world.local.setBlacklisted(payer.address, true)
      expect(await judged(item)).toMatchObject({
        payerBlacklisted: true,
        payeeBlacklisted: false,
        balance: 5_000_000n,
        outcome: { reason: 'Blacklistable: account is blacklisted' },
      })
      await world.local.setBlacklisted(payer.address, false)
      await world.local.setBlacklisted(seller, true)
      expect(await judged(item)).toMatchObject({ payerBlacklisted: false, payeeBlacklisted: true })
      await world.local.setBlacklisted(seller, false)
      await world.local.setPaused(true)
      expect(await judged(item)).toMatchObject({ paused: true, outcome: { reason: 'Pausable: paused' } })
      await world.local.setPaused(false)
      expect(await judged(item)).toMatchObject({ paused: false, outcome: { succeeds: true } })
    })
  })

  describe('payers with code', () => {
    const from = async (address: Hex, key = payer) => key.authorize(world.local.network, seller, { from: address })

    it('lets a wallet pay if it accepts the signature, and not if it refuses it', async () => {
      const owned = await world.local.wallet('owned', { owner: payer.address, usdc: 3_000_000n })
      const refusing = await world.local.wallet('refusing', { usdc: 3_000_000n })
      const good = await from(owned)
      expect(await judged(good)).toMatchObject({
        payerCode: 'contract',
        balance: 3_000_000n,
        outcome: { succeeds: true },
      })
      expect((await world.send(world.chain.encodeTransfer(good, true))).transfers).toHaveLength(1)

      const stranger = await world.local.payer(0n)
      const reason = 'FiatTokenV2: invalid signature'
      expect(await judged(await from(owned, stranger))).toMatchObject({ outcome: { succeeds: false, reason } })
      expect(await judged(await from(refusing))).toMatchObject({ payerCode: 'contract', outcome: { reason } })
    })

    it('passes a wallet its signature unchanged, whatever its last byte is', async () => {
      const owned = await world.local.wallet('owned', { owner: payer.address, usdc: 3_000_000n })
      const good = await from(owned)
      const v = Number.parseInt(good.signature.slice(130), 16) - 27
      const respelled = { ...good, signature: `${good.signature.slice(0, 130)}0${String(v)}` as Hex }
      expect((await judged(respelled)).outcome).toEqual({ succeeds: false, reason: 'FiatTokenV2: invalid signature' })
      expect(await directly(respelled)).toBe('FiatTokenV2: invalid signature')
    })

    it('asks the code of a delegated account (EIP-7702), not its key', async () => {
      const delegated = await world.local.payer(2_000_000n)
      const item = await delegated.authorize(world.local.network, seller)
      await world.local.delegate(delegated.address)
      expect(await judged(item)).toMatchObject({ payerCode: 'delegation', outcome: { succeeds: true } })
      await world.local.delegate(delegated.address, 'refusing')
      expect(await judged(item)).toMatchObject({
        payerCode: 'delegation',
        outcome: { succeeds: false, reason: 'FiatTokenV2: invalid signature' },
      })
    })

    it('detects a wallet that burns gas, and still judges the others', async () => {
      const burning = await world.local.wallet('burning', { usdc: 1_000_000n })
      const burn = await from(burning)
      const calldata = world.chain.encodeTransfer(burn, true)
      // A simulation with a gas price of zero, as is usual, lets it pass.
      await world.local.call('eth_call', { ...calldata, from: world.sponsor.address }, 'latest')
      // So many that the gas of one call is not enough: the last ones need another request.
      const burns = Array<SignedAuthorization>(90).fill(burn)
      const dear = await authorize({ value: 9_000_000n })
      const simulations = await world.chain.simulate([await authorize(), ...burns, dear, dear])
      expect(simulations[0]!.outcome.succeeds).toBe(true)
      const burnt = { succeeds: false, reason: 'FiatTokenV2: invalid signature' }
      expect(simulations.slice(1, 91).map(({ outcome }) => outcome)).toEqual(Array(90).fill(burnt))
      const refused = { succeeds: false, reason: 'ERC20: transfer amount exceeds balance' }
      expect(simulations.slice(91).map(({ outcome }) => outcome)).toEqual([refused, refused])
    })
  })

  describe('many at once', () => {
    it('judges each payment alone, also two of one payer that cannot pay both', async () => {
      const items = [await authorize({ value: 4_000_000n }), await authorize({ value: 4_000_000n })]
      const simulations = await world.chain.simulate([...items, items[0]!])
      expect(simulations.map(({ outcome, balance }) => [outcome.succeeds, balance])).toEqual(
        Array(3).fill([true, 5_000_000n]),
      )
      expect(await world.chain.balanceOf(payer.address)).toBe(5_000_000n)
    })

    it('returns each its own result, in a few calls', async () => {
      const chain = world.adapter({ urls: [relay.url], headMaxAgeMs: 60_000 })
      await chain.head()
      relay.requests.length = 0
      const values = Array.from({ length: 120 }, (_, place) => BigInt(place) * 100_000n)
      const items = await Promise.all(values.map((value) => authorize({ value })))
      const simulations = await Promise.all(items.map((item) => judged(item, chain)))
      expect(simulations.map(({ outcome }) => outcome.succeeds)).toEqual(values.map((value) => value <= 5_000_000n))
      expect(relay.requests.flat()).toEqual(Array(relay.requests.length).fill('eth_call'))
      expect(relay.requests.length).toBeLessThanOrEqual(4)
    })

    const withoutOverrides: [string, Behaviour][] = [
      [
        'ignores them',
        (questions) => ({ pass: questions.map((each) => ({ ...each, params: each.params.slice(0, 2) })) }),
      ],
      [
        'refuses them',
        (questions) => {
          if (!questions.some(({ params }) => params.length > 2)) return honest(questions, false)
          return {
            status: 200,
            body: { jsonrpc: '2.0', id: questions[0]!.id, error: { code: -32602, message: 'too many arguments' } },
          }
        },
      ],
    ]
    it.each(withoutOverrides)('works without state overrides where an RPC %s', async (_name, behaviour) => {
      relay.behave(behaviour)
      const chain = world.adapter({ urls: [relay.url] })
      const good = await authorize()
      const items = [...Array<SignedAuthorization>(49).fill(good), await authorize({ validBefore: past })]
      const simulations = await chain.simulate(items)
      expect(simulations.slice(0, 49)).toEqual(Array(49).fill(await judged(good)))
      expect(simulations[49]).toMatchObject({ outcome: { reason: 'FiatTokenV2: authorization is expired' } })
      relay.behave(honest)
    })

    it('is rpc_unavailable where the address has no USDC contract', async () => {
      const network = { ...world.local.network, usdc: { ...world.local.network.usdc, address: seller } }
      const chain = world.adapter({ network })
      const item = await authorize()
      await expect(chain.simulate([item])).rejects.toMatchObject({ kind: 'unavailable', code: 'rpc_unavailable' })
      await expect(chain.balanceOf(payer.address)).rejects.toMatchObject({ code: 'rpc_unavailable' })
    })
  })
})
