import { concat, padHex, type Hex } from 'viem'
import type { TestAccount } from '../harness/chain.ts'
import { sentBy, usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

/** What `isValidSignature` answers when it accepts (ERC-1271), as a word. */
const ACCEPTED = padHex('0x1626ba7e', { dir: 'right', size: 32 })
const FACTORY: Hex = '0xc0150070000000000000000000000000000000f1'
const SIGNATURE = 'invalid_exact_evm_signature'

describe('a payment by a contract wallet (ERC-1271)', () => {
  let world: World
  let owner: TestAccount
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_WAIT_MS: '2000', WALLET_FACTORIES: FACTORY } })
    owner = await world.chain.payer(0n)
  })
  afterAll(() => world.close())

  const wallet = (kind: Parameters<World['chain']['wallet']>[0]) =>
    world.chain.wallet(kind, { owner: owner.address, usdc: 5_000_000n })

  /** What the wallet's owner signs for this checkout, with another signature where a test wants one. */
  async function signedFor(checkout: string, from: Hex, { by = owner, signature = null as Hex | null } = {}) {
    const asWallet: TestAccount = {
      ...by,
      authorize: (network, to, terms) => by.authorize(network, to, { ...terms, from }),
    }
    const signed = (await world.sign(asWallet, checkout)) as { payload: { signature: Hex } }
    if (signature !== null) signed.payload.signature = signature
    return signed
  }

  const pay = (checkout: string, paymentPayload: unknown, token?: string) =>
    world.call('POST', `/p/${checkout}/pay`, { body: { input: {}, paymentPayload, token } })

  /** The payers of the payments at this checkout that its workflow was sent. */
  const deliveries = (checkout: string) =>
    world.workflow.deliveries
      .filter(({ json }) => json.metadata.checkoutId === checkout)
      .map(({ json }) => json.payment.payer as unknown)
  const deliveredTo = (checkout: string) => until(() => deliveries(checkout).length > 0 && deliveries(checkout))

  it('is settled, delivered and has its receipt, once', async () => {
    const { id } = await world.sell()
    const from = await wallet('owned')
    const before = await usdcOf(world.chain, world.recipient)
    const signed = await signedFor(id, from)
    const paid = await pay(id, signed)
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid', payer: from, testMode: false } } })
    const again = await pay(id, signed, String(paid.body.payment.token))
    expect(again.body.payment.id).toBe(paid.body.payment.id)
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
    expect(await usdcOf(world.chain, from)).toBe(4_000_000n)

    expect(await deliveredTo(id)).toEqual([from])
    const { pathname, search } = new URL(String(paid.body.payment.receiptUrl))
    const receipt = await world.call('GET', pathname + search)
    expect(receipt.status).toBe(200)
    expect(receipt.text).toContain(from)
  })

  it('deploys the wallet first where it has no code yet and its factory is listed (ERC-6492)', async () => {
    const { id } = await world.sell()
    const factory = await world.chain.factory('honest', FACTORY)
    const wallet = await world.chain.undeployed(factory, { owner: owner.address, usdc: 1_000_000n })
    const signed = await signedFor(id, wallet.address)
    const paid = await pay(id, {
      ...signed,
      payload: { ...signed.payload, signature: wallet.wrap(signed.payload.signature) },
    })
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid', payer: wallet.address } } })
    expect(await deliveredTo(id)).toEqual([wallet.address])
    expect(await usdcOf(world.chain, wallet.address)).toBe(0n)
  })

  it('is settled with a signature as long as allowed, for which the transaction has the gas', async () => {
    const { id } = await world.sell()
    const from = await wallet('echo')
    // Accepts whatever begins with the magic value. Each byte that is not 0 costs the transaction 16 gas.
    const signature = concat([ACCEPTED, `0x${'ff'.repeat(4_096 - 32)}`])
    const paid = await pay(id, await signedFor(id, from, { signature }))
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid', payer: from } } })
  })

  it.each<{ wrong: string; make(id: string): Promise<unknown> }>([
    {
      wrong: 'the signature of another key',
      make: async (id) => signedFor(id, await wallet('owned'), { by: await world.chain.payer(0n) }),
    },
    {
      wrong: 'the signature of an owner that was revoked since',
      async make(id) {
        const from = await wallet('owned')
        const signed = await signedFor(id, from)
        await world.chain.setOwner(from, (await world.chain.payer(0n)).address)
        return signed
      },
    },
    {
      wrong: 'a wallet that refuses',
      make: async (id) => signedFor(id, await wallet('refusing')),
    },
    {
      wrong: 'a wallet that reverts with a reason',
      make: async (id) => signedFor(id, await wallet('reverting')),
    },
    {
      wrong: 'a wallet that burns all gas',
      make: async (id) => signedFor(id, await wallet('burning')),
    },
    {
      wrong: 'a wallet that answers with a megabyte',
      make: async (id) => signedFor(id, await wallet('verbose')),
    },
    {
      wrong: 'a wallet that answers with four bytes',
      make: async (id) => signedFor(id, await wallet('echo'), { signature: '0x1626ba7e' }),
    },
    {
      wrong: 'a wallet that answers with the magic value at the wrong end',
      make: async (id) => signedFor(id, await wallet('echo'), { signature: padHex('0x1626ba7e', { size: 32 }) }),
    },
    {
      wrong: 'a wallet that answers with the magic value and more in the same word',
      make: async (id) =>
        signedFor(id, await wallet('echo'), { signature: concat(['0x1626ba7e', `0x${'00'.repeat(27)}01`]) }),
    },
    {
      wrong: 'a signature that is one byte too long, of a wallet that accepts it',
      make: async (id) =>
        signedFor(id, await wallet('echo'), { signature: concat([ACCEPTED, `0x${'ff'.repeat(4_096 - 31)}`]) }),
    },
    {
      wrong: 'a signature of 30 kB, of a wallet that accepts it',
      make: async (id) =>
        signedFor(id, await wallet('echo'), { signature: concat([ACCEPTED, `0x${'ff'.repeat(30_000)}`]) }),
    },
  ])('refuses $wrong', async ({ make }) => {
    const { id } = await world.sell()
    const paymentPayload = await make(id)
    const sent = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const refused = await pay(id, paymentPayload)
    expect(refused).toMatchObject({ status: 402, body: { code: 'payment_refused', reason: SIGNATURE } })
    // Nothing was claimed, nothing was sent, and the next buyer is served at once.
    expect(await sentBy(world.chain, world.chain.accounts[0]!.address)).toBe(sent)
    const next = await wallet('owned')
    expect(await pay(id, await signedFor(id, next))).toMatchObject({ status: 200 })
    expect(await deliveredTo(id)).toEqual([next])
  })

  it('refuses a signature of 40 kB by the size of its request', async () => {
    const { id } = await world.sell()
    const signature: Hex = `0x${'ff'.repeat(40_000)}`
    const refused = await pay(id, await signedFor(id, await wallet('echo'), { signature }))
    expect(refused).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
  })

  it('fails when the owner is revoked between the check and the block, and delivers nothing', async () => {
    const { id } = await world.sell()
    const from = await wallet('owned')
    const signed = await signedFor(id, from)
    await world.chain.call('evm_setAutomine', false)
    const paying = pay(id, signed)
    const states = () =>
      world.service.database.statements.run<{ state: string; reason: string | null }>(
        'SELECT state, reason FROM facilitator_settlement WHERE payer = $1',
        [Buffer.from(from.slice(2), 'hex')],
      )
    await until(async () => (await states())[0]?.state === 'broadcast')
    await world.chain.setOwner(from, world.chain.accounts[2]!.address)
    await until(async () => {
      await world.chain.mine()
      return (await states())[0]?.state === 'failed'
    })
    expect(await states()).toEqual([{ state: 'failed', reason: SIGNATURE }])
    await world.chain.call('evm_setAutomine', true)
    // Another branch may still move the money, so the buyer is told only once the failed transaction is deep.
    const first = await paying
    const ended = await until(async () => {
      await world.chain.mine()
      world.service.clock.forward(2_000)
      const again = first.status === 402 ? first : await pay(id, signed, String(first.body.payment.token))
      return again.body.payment?.status !== 'settling' && again
    })
    expect(ended.body.reason ?? ended.body.payment.reason.code).toBe(SIGNATURE)
    expect(await usdcOf(world.chain, from)).toBe(5_000_000n)
    expect(deliveries(id)).toEqual([])
  })
})
