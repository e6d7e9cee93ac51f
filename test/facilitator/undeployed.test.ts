import { encodeAbiParameters, concat, type Hex } from 'viem'
import type { SignedAuthorization } from '../../service/chain/model.ts'
import type { TestAccount, Undeployed } from '../harness/chain.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

const NOT_ALLOWED = 'eip6492_factory_not_allowed'
const NOT_DEPLOYED = 'smart_wallet_deployment_failed'
const SIGNATURE = 'invalid_exact_evm_signature'

describe('a payment by a wallet that is not deployed yet (ERC-6492)', () => {
  let world: World
  let owner: TestAccount
  let honest: Hex
  let hostile: Hex
  let strange: Hex
  beforeAll(async () => {
    world = await openWorld({ writes: false, environment: { SETTLE_WAIT_MS: '5000' } })
    const { chain } = world
    owner = await chain.payer(0n)
    ;[honest, hostile, strange] = [
      await chain.factory('honest'),
      await chain.factory('hostile'),
      await chain.factory('honest'),
    ]
    await world.add({
      environment: { SETTLE_WAIT_MS: '5000', WALLET_FACTORIES: `${honest},${hostile}` },
      writes: false,
    })
  })
  afterAll(() => world.close())

  const codeOf = async (address: Hex) => (await world.chain.call('eth_getCode', address, 'latest')) as Hex
  const at = (place: 'without' | 'with') => world.services[place === 'without' ? 0 : 1]!

  /** What the wallet's owner signs, in the envelope that this wallet's factory is named in. */
  async function signedBy(wallet: Undeployed, by = owner): Promise<SignedAuthorization> {
    const signed = await by.authorize(world.chain.network, world.seller, { from: wallet.address })
    return { ...signed, signature: wallet.wrap(signed.signature) }
  }

  async function rowOf({ address }: Undeployed) {
    const [row] = await world.database.statements.run<{ state: string; reason: string | null }>(
      'SELECT state, reason FROM facilitator_settlement WHERE payer = $1',
      [Buffer.from(address.slice(2), 'hex')],
    )
    return row
  }

  async function both(signed: SignedAuthorization, place: 'without' | 'with' = 'with') {
    const body = request(world.chain, 2, signed)
    const verified = await at(place).post('/verify', body)
    const settled = await at(place).post('/settle', body)
    return { verified: verified.body.invalidReason as unknown, settled: settled.body }
  }

  const wallet = (factory: Hex, salt = 0n) =>
    world.chain.undeployed(factory, { owner: owner.address, salt, usdc: 3_000_000n })

  // First, since this process signs nothing before it.
  it('is settled when another transaction deploys the wallet between the check and the block', async () => {
    const undeployed = await wallet(honest, 9n)
    const sponsor = world.chain.accounts[0]!.address
    const sent = await sentBy(world.chain, sponsor)
    const settling = at('with').post('/settle', request(world.chain, 2, await signedBy(undeployed)))
    await until(async () => (await rowOf(undeployed))?.state === 'claimed')
    const from = world.chain.accounts[1]!.address
    await world.chain.call('anvil_impersonateAccount', from)
    await world.chain.call('eth_sendTransaction', { from, to: honest, data: undeployed.data, gas: '0x7a120' })
    await until(async () => (await codeOf(undeployed.address)) !== '0x')
    // This factory fails for a wallet that exists, with all gas that it gets.
    at('with').facilitator.start()
    expect((await settling).body).toMatchObject({ success: true, payer: undeployed.address })
    expect(await sentBy(world.chain, sponsor)).toBe(sent + 2)
  })

  it('deploys the wallet and moves the money in one transaction, where the operator lists its factory', async () => {
    const undeployed = await wallet(honest)
    const before = await usdcOf(world.chain, world.seller)
    const sent = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const { verified, settled } = await both(await signedBy(undeployed))
    expect({ verified, settled }).toMatchObject({
      verified: null,
      settled: { success: true, payer: undeployed.address },
    })
    expect(await codeOf(undeployed.address)).not.toBe('0x')
    expect(await usdcOf(world.chain, world.seller)).toBe(before + 1_000_000n)
    expect(await sentBy(world.chain, world.chain.accounts[0]!.address)).toBe(sent + 1)

    // From then on it is a wallet like any other, whether it still sends the envelope or not.
    expect((await both(await signedBy(undeployed))).settled).toMatchObject({ success: true })
    const bare = await owner.authorize(world.chain.network, world.seller, { from: undeployed.address })
    expect((await both(bare)).settled).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, undeployed.address)).toBe(0n)
  })

  it.each<[string, () => Promise<SignedAuthorization>, string]>([
    ['a factory that is not listed', async () => signedBy(await wallet(strange)), NOT_ALLOWED],
    [
      'an invalid envelope',
      async () => {
        const signed = await signedBy(await wallet(honest, 1n))
        return { ...signed, signature: concat([signed.signature.slice(0, 66) as Hex, MAGIC]) }
      },
      NOT_ALLOWED,
    ],
    [
      'an envelope whose offsets lead outside',
      async () => {
        const signed = await signedBy(await wallet(honest, 2n))
        const words = encodeAbiParameters(
          [{ type: 'address' }, { type: 'uint256' }, { type: 'uint256' }],
          [honest, 9_999n, 64n],
        )
        return { ...signed, signature: concat([words, MAGIC]) }
      },
      NOT_ALLOWED,
    ],
    [
      'the signature of another key',
      async () => signedBy(await wallet(honest, 3n), await world.chain.payer(0n)),
      SIGNATURE,
    ],
    [
      'a wallet that this factory makes at another address',
      async () => {
        const [one, other] = [await wallet(honest, 4n), await wallet(honest, 5n)]
        return signedBy({ ...one, wrap: other.wrap })
      },
      NOT_DEPLOYED,
    ],
    ['a listed factory that burns all gas', async () => signedBy(await wallet(hostile, 1n)), NOT_DEPLOYED],
    ['a listed factory that makes nothing', async () => signedBy(await wallet(hostile, 2n)), NOT_DEPLOYED],
    ['a listed factory that reverts with a megabyte', async () => signedBy(await wallet(hostile, 3n)), NOT_DEPLOYED],
    [
      'too little money',
      async () => {
        const poor = await world.chain.undeployed(honest, { owner: owner.address, salt: 6n, usdc: 999_999n })
        return signedBy(poor)
      },
      'invalid_exact_evm_insufficient_balance',
    ],
  ])('refuses %s, and sends nothing', async (_wrong, make, reason) => {
    const signed = await make()
    const sent = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const { verified, settled } = await both(signed)
    expect({ verified, reason: settled.errorReason as unknown }).toEqual({ verified: reason, reason })
    expect(await sentBy(world.chain, world.chain.accounts[0]!.address)).toBe(sent)
    expect(await codeOf(signed.from)).toBe('0x')
  })

  it('refuses every factory where the operator lists none', async () => {
    const { verified, settled } = await both(await signedBy(await wallet(honest, 7n)), 'without')
    expect(verified).toBe(NOT_ALLOWED)
    expect(settled.errorReason).toBe(NOT_ALLOWED)
  })

  it('loses the gas of one transaction to a factory that passes the check and fails the settlement', async () => {
    const undeployed = await wallet(hostile, 4n)
    const signed = await signedBy(undeployed)
    const sent = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const body = request(world.chain, 2, signed)
    const settling = at('with').post('/settle', body)
    await until(async () => (await rowOf(undeployed))?.state === 'failed')
    expect(await rowOf(undeployed)).toMatchObject({ state: 'failed', reason: 'invalid_exact_evm_transaction_failed' })
    await world.chain.mine(4)
    world.clock.forward(5_000)
    expect((await settling).body).toMatchObject({ success: false })
    expect(await sentBy(world.chain, world.chain.accounts[0]!.address)).toBe(sent + 1)
    expect(await usdcOf(world.chain, undeployed.address)).toBe(3_000_000n)
    const [spent] = await world.database.statements.run<{ gas: bigint }>(
      'SELECT gas FROM facilitator_transaction ORDER BY id DESC LIMIT 1',
      [],
    )
    expect(spent!.gas).toBeLessThan(1_000_000n)
  })
})

const MAGIC: Hex = `0x${'6492'.repeat(16)}`
