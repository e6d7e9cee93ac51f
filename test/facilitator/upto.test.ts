import type { Hex } from 'viem'
import type { TestAccount } from '../harness/chain.ts'
import { approval, invalidation, ownSale, payUpto, sendAs, uptoBody, uptoTerms } from '../harness/upto.ts'
import { openWorld, sentBy, usdcOf, type World } from './world.ts'

const MOST = 1_000_000n

describe('the scheme upto', () => {
  let world: World
  let facilitator: Hex
  beforeAll(async () => {
    world = await openWorld({ services: 2 })
    facilitator = world.chain.accounts[0]!.address
  })
  afterAll(() => world.close())

  const termsOf = (other: { most?: bigint; facilitator?: Hex } = {}) =>
    uptoTerms(world.chain, { facilitator, receiver: world.seller, ...other })
  type Signing = Parameters<typeof payUpto>[3]
  const pay = async (signing: Signing = {}, payer: TestAccount = world.payer, terms = termsOf()) => {
    const paid = await payUpto(world.chain, payer, terms, signing)
    return { ...paid, take: (taken: bigint) => uptoBody(terms, paid.payload, paid.extensions, taken) }
  }
  const settle = (body: unknown, place = 0) => ownSale(world.services[place]!.facilitator).settle(body)
  const verify = (body: unknown) => ownSale(world.service.facilitator).verify(body)
  const sent = () => sentBy(world.chain, facilitator)
  const refused = (reason: string) => ({ success: false, txHash: null, reason })

  it('is for own sales: a buyer who could settle here would take less than was used', async () => {
    const payer = await world.chain.payer(MOST)
    const { body, take } = await pay({}, payer)
    const { body: offered } = await world.service.get('/supported')
    expect(offered).toMatchObject({ kinds: expect.not.arrayContaining([expect.objectContaining({ scheme: 'upto' })]) })
    const reason = 'unsupported_scheme'
    expect((await world.service.post('/verify', body)).body).toMatchObject({ isValid: false, invalidReason: reason })
    for (const own of [take(1_000n), take(0n), body])
      expect((await world.service.post('/settle', own)).body).toMatchObject({ success: false, errorReason: reason })
    expect(await settle(take(340_000n))).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, payer.address)).toBe(MOST - 340_000n)
  })

  it('takes what was used from a payer without gas, who approved nothing before', async () => {
    const payer = await world.chain.payer(5_000_000n)
    const before = await usdcOf(world.chain, world.seller)
    const start = await sent()
    const { body, take } = await pay({}, payer)
    expect(await verify(body)).toMatchObject({
      refusal: null,
      payer: expect.stringMatching(new RegExp(payer.address, 'i')),
    })
    expect(await settle(take(340_000n))).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, payer.address)).toBe(4_660_000n)
    expect((await usdcOf(world.chain, world.seller)) - before).toBe(340_000n)
    expect(await sent()).toBe(start + 1)
  })

  it('takes all of it where the payer has approved Permit2', async () => {
    const payer = await world.chain.payer(MOST)
    const unapproved = await pay({ sponsored: false }, payer)
    expect(await verify(unapproved.body)).toMatchObject({ refusal: 'permit2_allowance_required' })
    await sendAs(world.chain, payer.address, approval(world.chain))
    expect(await settle(unapproved.body)).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, payer.address)).toBe(0n)
  })

  it('is settled once for fifty concurrent callers, and one of them gets the success', async () => {
    const { take } = await pay()
    const start = await sent()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, place) => settle(take(250_000n), place % 2)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    for (const answer of answers)
      if (!answer.success) expect(answer.reason).toMatch(/permit2_invalid_nonce|settlement_pending/)
    expect(await sent()).toBe(start + 1)
  })

  it('takes one amount, whatever is asked for later', async () => {
    const { take, body } = await pay()
    expect(await settle(take(100_000n))).toMatchObject({ success: true })
    for (const again of [take(100_000n), take(200_000n), body, take(1_000n)])
      expect(await settle(again)).toMatchObject({ success: false, reason: 'permit2_invalid_nonce' })
    expect(await verify(body)).toMatchObject({ refusal: 'permit2_invalid_nonce' })
  })

  it('needs no transaction where nothing was used', async () => {
    const start = await sent()
    const { take } = await pay()
    expect(await settle(take(0n))).toMatchObject({ success: true, txHash: null })
    expect(await sent()).toBe(start)
  })

  it('takes from a contract wallet what its owner has signed for', async () => {
    const owner = await world.chain.payer(0n)
    const wallet = await world.chain.wallet('owned', { owner: owner.address, usdc: MOST })
    await sendAs(world.chain, wallet, approval(world.chain))
    const { take } = await pay({ from: wallet, sponsored: false }, owner)
    expect(await settle(take(600_000n))).toMatchObject({ success: true })
    const stranger = await pay({ from: wallet, sponsored: false }, await world.chain.payer(0n))
    expect(await settle(stranger.body)).toMatchObject(refused('invalid_permit2_signature'))
  })

  it('fails where the payer takes the permit back before the block', async () => {
    const payer = await world.chain.payer(MOST)
    await sendAs(world.chain, payer.address, approval(world.chain))
    const { nonce, body } = await pay({ sponsored: false }, payer)
    await sendAs(world.chain, payer.address, invalidation(nonce))
    expect(await settle(body)).toMatchObject(refused('permit2_invalid_nonce'))
    expect(await usdcOf(world.chain, payer.address)).toBe(MOST)
  })

  test.each<[string, Signing, string]>([
    ['another spender', { spender: '0x402085c248eea27d92e8b30b2c58ed07f9e20001' }, 'invalid_permit2_spender'],
    ['another recipient', { to: '0x00000000000000000000000000000000000000aa' }, 'invalid_permit2_recipient_mismatch'],
    ['another facilitator', { facilitator: '0x00000000000000000000000000000000000000aa' }, 'upto_facilitator_mismatch'],
    ['another token', { token: '0x00000000000000000000000000000000000000aa' }, 'permit2_token_mismatch'],
    ['less than the most', { amount: MOST - 1n }, 'permit2_amount_mismatch'],
    ['a time that is over', { deadline: 1_000n }, 'permit2_deadline_expired'],
    ['a time that has not begun', { validAfter: 99_999_999_999n }, 'permit2_not_yet_valid'],
    ['a permission for less', { sponsored: { value: 5n } }, 'permit2_2612_amount_mismatch'],
    [
      'a permission for somebody else',
      { sponsored: { spender: '0x00000000000000000000000000000000000000aa' } },
      'eip2612_spender_not_permit2',
    ],
    ['a permission that somebody else signed', { sponsored: { signedBy: 'another' } }, 'permit2_allowance_required'],
    ['a permission that is over', { sponsored: { deadline: 1_000n } }, 'eip2612_deadline_expired'],
  ])('refuses a permit with %s', async (_, signing, refusal) => {
    expect(await verify((await pay(signing)).body)).toMatchObject({ refusal })
  })

  it('refuses what is not signed by the payer, too much, and what the payer does not have', async () => {
    const { body, take } = await pay()
    expect(await settle(take(MOST + 1n))).toMatchObject(refused('invalid_upto_evm_payload_settlement_exceeds_amount'))
    const forged = structuredClone(body)
    forged.paymentPayload.payload = {
      ...(forged.paymentPayload.payload as object),
      signature: (await pay()).payload.signature,
    }
    expect(await settle(forged)).toMatchObject(refused('invalid_permit2_signature'))
    const poor = await pay({}, await world.chain.payer(MOST - 1n))
    expect(await verify(poor.body)).toMatchObject({ refusal: 'permit2_insufficient_balance' })
    const exact = { ...body, paymentRequirements: { ...body.paymentRequirements, scheme: 'exact' } }
    expect(await settle(exact)).toMatchObject(refused('invalid_exact_evm_scheme'))
  })
})
