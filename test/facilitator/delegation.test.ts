import { createWalletClient, http, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { encodeTransfer } from '../../service/chain/calldata.ts'
import type { SignedAuthorization } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { openWorld, request, until, usdcOf, type World } from './world.ts'

const SIGNATURE = 'invalid_exact_evm_signature'
const NONE: Hex = '0x0000000000000000000000000000000000000000'

/** The delegations here are made by real transactions of type 4, not written into the chain's state. */
describe('an account that delegates to code (EIP-7702)', () => {
  let world: World
  let account: TestAccount
  beforeEach(async () => {
    account = await world.chain.payer(5_000_000n)
  })
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  /** Another account sends the transaction and pays for it, as a wallet's relay does. */
  async function delegate(to: Hex): Promise<void> {
    const { url: rpc, accounts } = world.chain
    const relay = createWalletClient({
      account: privateKeyToAccount(accounts[2]!.privateKey),
      chain: baseSepolia,
      transport: http(rpc),
    })
    const signer = privateKeyToAccount(account.privateKey)
    const authorization = await relay.signAuthorization({ account: signer, contractAddress: to })
    const sent = { authorizationList: [authorization], to: account.address, value: 0n, gas: 300_000n }
    const hash = await relay.sendTransaction(sent)
    // A write to the account's storage before the end of this block could be lost with it.
    await until(() => world.chain.call('eth_getTransactionReceipt', hash))
    const code = (await world.chain.call('eth_getCode', account.address, 'latest')) as Hex
    expect(code).toBe(to === NONE ? '0x' : `0xef0100${to.slice(2)}`)
  }

  const signedBy = async (by: TestAccount): Promise<SignedAuthorization> =>
    by.authorize(world.chain.network, world.seller, { from: account.address })

  async function both(signed: SignedAuthorization) {
    const body = request(world.chain, 2, signed)
    const { body: verified } = await world.service.post('/verify', body)
    const { body: settled } = await world.service.post('/settle', body)
    expect([verified.isValid, verified.invalidReason]).toEqual([settled.success, settled.errorReason])
    return settled as { success: boolean; errorReason: string | null }
  }

  /** What USDC itself says to this very transfer, sent by anyone. */
  async function byToken(signed: SignedAuthorization): Promise<boolean> {
    const { chain } = world
    const { to, data } = encodeTransfer(chain.network.usdc.address, signed, true)
    return await chain.call('eth_call', { from: chain.accounts[1]!.address, to, data }, 'latest').then(
      () => true,
      () => false,
    )
  }

  it('pays by its own key where its code accepts that', async () => {
    const before = await usdcOf(world.chain, world.seller)
    await delegate(await world.chain.wallet('delegate', { usdc: 0n }))
    const signed = await signedBy(account)
    expect(await byToken(signed)).toBe(true)
    expect(await both(signed)).toMatchObject({ success: true })
    const stranger = await signedBy(await world.chain.payer(0n))
    expect(await byToken(stranger)).toBe(false)
    expect(await both(stranger)).toMatchObject({ errorReason: SIGNATURE })
    expect(await usdcOf(world.chain, world.seller)).toBe(before + 1_000_000n)
  })

  it("pays by its code's signature, and not by its own key, until the delegation ends", async () => {
    const owner = await world.chain.payer(0n)
    const byKey = await signedBy(account)
    expect(await byToken(byKey)).toBe(true)

    await delegate(await world.chain.wallet('owned', { usdc: 0n }))
    // The code runs on the account's own storage.
    await world.chain.setOwner(account.address, owner.address)
    expect(await byToken(byKey)).toBe(false)
    expect(await both(byKey)).toMatchObject({ errorReason: SIGNATURE })
    const byCode = await signedBy(owner)
    expect(await byToken(byCode)).toBe(true)
    expect(await both(byCode)).toMatchObject({ success: true })

    await delegate(NONE)
    const late = await signedBy(owner)
    expect(await both(late)).toMatchObject({ errorReason: SIGNATURE })
    // The same bytes as before: a refusal is not remembered against the account.
    expect(await both(byKey)).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, account.address)).toBe(3_000_000n)
  })

  it('cannot pay while its code refuses everything', async () => {
    await delegate(await world.chain.wallet('refusing', { usdc: 0n }))
    expect(await both(await signedBy(account))).toMatchObject({ errorReason: SIGNATURE })
    await delegate(NONE)
    expect(await both(await signedBy(account))).toMatchObject({ success: true })
  })
})
