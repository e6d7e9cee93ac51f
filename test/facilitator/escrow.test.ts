import { randomUUID } from 'node:crypto'
import { acceptedDeadline, captureDeadlineOf, escrowRequirementsOf } from '../../service/x402/escrow.ts'
import { presentedAs, readRequest } from '../../service/x402/payload.ts'
import { privateKeyToAccount } from 'viem/accounts'
import { zeroAddress, type Hex } from 'viem'
import type { TestAccount } from '../harness/chain.ts'
import {
  escrowBody,
  escrowed,
  escrowTerms,
  payEscrow,
  seller,
  type EscrowPaid,
  type EscrowTerms,
} from '../harness/escrow.ts'
import { PLACES } from '../chain/contracts/places.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

interface Settled {
  success: boolean
  errorReason: string | null
  amount?: string
}

const ALL = { capturable: 1_000_000n, refundable: 0n }
const refusal = (reason: string) => ({ success: false, errorReason: `invalid_auth_capture_evm_${reason}` })

describe('the scheme auth-capture', () => {
  let world: World
  let operator: Hex
  let signer: TestAccount
  beforeAll(async () => {
    world = await openWorld({ services: 2 })
    operator = world.chain.accounts[0]!.address
    signer = world.chain.accounts[2]!
  })
  afterAll(() => world.close())

  type Other = Parameters<typeof escrowTerms>[2]
  const termsOf = (other: Other = {}): EscrowTerms =>
    escrowTerms(world.chain, { operator, receiver: world.seller, signer: signer.address }, other)
  const pay = async (terms = termsOf(), payer = world.payer): Promise<EscrowPaid & { terms: EscrowTerms }> => ({
    ...(await payEscrow(world.chain, payer, terms)),
    terms,
  })
  type Paid = Awaited<ReturnType<typeof pay>>
  const post = async (body: unknown, service = world.service): Promise<Settled> =>
    (await service.post('/settle', body)).body as Settled
  const settle = (paid: Paid) => post(paid.body)
  const settlePayload = (paid: Paid, payload: Record<string, unknown>, service = world.service) =>
    post(escrowBody(paid.terms, payload), service)
  const by = (account = signer) => seller(world.chain, account, operator)
  const held = ({ info }: Paid) => escrowed(world.chain, info)
  const authorized = async (terms?: EscrowTerms) => {
    const paid = await pay(terms)
    expect(await settle(paid)).toMatchObject({ success: true })
    return paid
  }
  const sent = () => sentBy(world.chain, operator)

  it('is offered with the operator', async () => {
    const { body } = await world.service.get('/supported')
    expect(body.kinds).toContainEqual({
      x402Version: 2,
      scheme: 'auth-capture',
      network: world.chain.network.caip2,
      extra: { captureAuthorizer: operator },
    })
  })

  it('holds the money, captures it in parts and voids the rest, in a transaction each', async () => {
    const before = {
      seller: await usdcOf(world.chain, world.seller),
      payer: await usdcOf(world.chain, world.payer.address),
    }
    const start = await sent()
    const paid = await pay()
    expect((await world.service.post('/verify', paid.body)).body).toMatchObject({ isValid: true })
    const answer = await settle(paid)
    expect(answer).toMatchObject({ success: true, amount: '1000000', network: world.chain.network.caip2 })
    expect(await held(paid)).toEqual({ collected: true, ...ALL })

    const first = await by().capture(paid, 300_000n, ALL)
    expect(await settlePayload(paid, first)).toMatchObject({
      success: true,
      amount: '300000',
      payer: world.payer.address,
    })
    // Its own sender may repeat it: it is the same answer and no second transaction.
    const repeated = await settlePayload(paid, first, world.services[1])
    expect(repeated).toMatchObject({ success: true, amount: '300000' })
    const second = await by().capture(paid, 200_000n, { capturable: 700_000n, refundable: 300_000n })
    expect(await settlePayload(paid, second)).toMatchObject({ success: true })
    expect(await held(paid)).toMatchObject({ capturable: 500_000n, refundable: 500_000n })
    expect(await settlePayload(paid, await by().void(paid))).toMatchObject({ success: true })

    expect(await held(paid)).toMatchObject({ capturable: 0n, refundable: 500_000n })
    expect(await sent()).toBe(start + 4)
    expect((await usdcOf(world.chain, world.seller)) - before.seller).toBe(500_000n)
    expect(before.payer - (await usdcOf(world.chain, world.payer.address))).toBe(500_000n)
  })

  it('captures a part and voids the rest at one request, also when the request is repeated', async () => {
    const paid = await authorized()
    const start = await sent()
    const payload = await by().capture(paid, 400_000n, ALL, { voids: true })
    expect(await settlePayload(paid, payload)).toMatchObject({ success: true, amount: '400000' })
    await until(async () => (await held(paid)).capturable === 0n)
    expect(await settlePayload(paid, payload)).toMatchObject({ success: true, amount: '400000' })
    expect(await held(paid)).toMatchObject({ refundable: 400_000n })
    expect(await sent()).toBe(start + 2)
  })

  it('is settled once for a hundred concurrent callers, and one of them gets the success', async () => {
    const paid = await pay()
    const start = await sent()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, place) => post(paid.body, world.services[place % 2])),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const reasons = new Set(answers.filter(({ success }) => !success).map(({ errorReason }) => errorReason))
    for (const reason of reasons) expect(reason).toMatch(/already_collected|settlement_pending/)
    const payload = await by().capture(paid, 1_000_000n, ALL)
    const captures = await Promise.all(
      Array.from({ length: 50 }, (_, place) => settlePayload(paid, payload, world.services[place % 2])),
    )
    expect(captures.every(({ success }) => success)).toBe(true)
    expect(await sent()).toBe(start + 2)
  })

  it('executes one of two captures that expect the same state', async () => {
    const paid = await authorized()
    const start = await sent()
    const payloads = [await by().capture(paid, 600_000n, ALL), await by().capture(paid, 300_000n, ALL)]
    const answers = await Promise.all(
      payloads.map((payload, place) => settlePayload(paid, payload, world.services[place])),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.find(({ success }) => !success)).toMatchObject(refusal('unexpected_payment_state'))
    const { refundable, capturable } = await held(paid)
    expect(refundable).toBe(BigInt(answers.find(({ success }) => success)!.amount!))
    expect(capturable! + refundable!).toBe(1_000_000n)
    expect(await sent()).toBe(start + 1)
  })

  it("sends an operator's calls from that operator only, beside another sponsor", async () => {
    const [, second] = world.chain.accounts
    const keys = world.chain.accounts.slice(0, 2).map(({ privateKey }) => privateKey)
    const both = await world.add({ environment: { SPONSOR_PRIVATE_KEYS: keys.join(',') } })
    const before = await sentBy(world.chain, second!.address)
    for (let count = 0; count < 3; count++) {
      const terms = escrowTerms(world.chain, {
        operator: second!.address,
        receiver: world.seller,
        signer: signer.address,
      })
      const paid = { ...(await payEscrow(world.chain, world.payer, terms)), terms }
      expect(await settle(paid)).toMatchObject(refusal('operator_not_admitted'))
      expect(await post(paid.body, both)).toMatchObject({ success: true })
      const capture = await seller(world.chain, signer, second!.address).capture(paid, 1_000_000n, ALL)
      expect(await settlePayload(paid, capture, both)).toMatchObject({ success: true })
    }
    expect(await sentBy(world.chain, second!.address)).toBe(before + 6)
    await both.close()
  })

  it('counts the gas of an authorization for its payer and of a capture for the receiver alone', async () => {
    const spent = async (account: Hex, prefix: string) => {
      const [row] = await world.database.statements.run<{ spent: string }>(
        'SELECT coalesce(sum(spent), 0)::text AS spent FROM facilitator_gas WHERE payer = $1',
        [Buffer.from(prefix + account.slice(2), 'hex')],
      )
      return BigInt(row!.spent)
    }
    const [payer, receiver] = [await world.chain.payer(1_000_000n), (await world.chain.payer(0n)).address]
    const terms = { ...termsOf(), payTo: receiver }
    const paid = await pay(terms, payer)
    expect(await settle(paid)).toMatchObject({ success: true })
    const authorizing = await spent(payer.address, '')
    expect(authorizing).toBeGreaterThan(0n)
    expect(await spent(receiver, '01')).toBe(authorizing)
    expect(await spent(PLACES.collector, '01')).toBe(0n)
    expect(await settlePayload(paid, await by().capture(paid, 1_000_000n, ALL))).toMatchObject({ success: true })
    expect(await spent(payer.address, '')).toBe(authorizing)
    expect(await spent(receiver, '01')).toBeGreaterThan(authorizing)
  })

  it('accepts money from a contract wallet, and messages signed by a contract', async () => {
    const owner = privateKeyToAccount(world.payer.privateKey)
    const wallet = await world.chain.wallet('owned', { owner: owner.address, usdc: 5_000_000n })
    const authorize: TestAccount['authorize'] = (network, to, terms) =>
      world.payer.authorize(network, to, { ...terms, from: wallet })
    const signing = await world.chain.wallet('owned', { owner: signer.address, usdc: 0n })
    const terms = escrowTerms(world.chain, { operator, receiver: world.seller, signer: signing })
    const paid = { ...(await payEscrow(world.chain, { address: wallet, authorize }, terms)), terms }
    expect(await settle(paid)).toMatchObject({ success: true })
    expect(await settlePayload(paid, await by().capture(paid, 1_000_000n, ALL))).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, wallet)).toBe(4_000_000n)
    const refusing = await world.chain.wallet('refusing', { usdc: 5_000_000n })
    const refused = await payEscrow(
      world.chain,
      {
        address: refusing,
        authorize: (network, to, more) => world.payer.authorize(network, to, { ...more, from: refusing }),
      },
      termsOf(),
    )
    expect(await post(refused.body)).toMatchObject(refusal('signature'))
  })

  describe('for a seller of this service, which signs no messages', () => {
    const minute = 60_000
    const sell = async () => {
      const { chain, clock } = world
      const price = { amount: 1_000_000n, recipient: world.seller, network: chain.network.name }
      const offered = escrowRequirementsOf(price, operator, captureDeadlineOf(minute, clock.now()))
      const paid = await payEscrow(chain, world.payer, offered)
      const presented = presentedAs('payment', paid.body.paymentPayload)
      // The terms of this moment differ: each 402 has its own deadline.
      const deadline = acceptedDeadline(presented, minute, clock.now())
      expect(deadline).toBe(offered.extra.captureDeadline)
      const terms = escrowRequirementsOf(price, operator, deadline!)
      const payload = presented.payload
      return {
        ...paid,
        presented,
        request: { x402Version: 2, paymentPayload: payload, paymentRequirements: terms } as const,
      }
    }
    const requester = (operation: string) => ({ operation, ownsResult: true })

    it('the money is held, then captured or voided once, by the stored request only', async () => {
      const { facilitator, authCapture } = world.service
      const start = await sent()
      for (const action of [{ type: 'capture', amount: 400_000n, expected: ALL }, { type: 'void' }] as const) {
        const sale = await sell()
        const payment = readRequest(sale.request)
        expect(await facilitator.settle(payment, requester('pay_1'))).toMatchObject({ success: true })
        const act = () => facilitator.carryOut(payment, authCapture.examineAction(payment, action), requester('pay_1'))
        expect(await Promise.all([act(), act()])).toMatchObject([{ success: true }, { success: true }])
        const left =
          action.type === 'void' ? { capturable: 0n, refundable: 0n } : { capturable: 600_000n, refundable: 400_000n }
        expect(await escrowed(world.chain, sale.info)).toMatchObject(left)
        // Nobody else can ask for it.
        const capture = await by().capture(sale, 100_000n, { capturable: left.capturable, refundable: left.refundable })
        const terms = sale.request.paymentRequirements as unknown as EscrowTerms
        expect(await post(escrowBody(terms, capture))).toMatchObject(refusal('lifecycle_not_relayed'))
      }
      expect(await sent()).toBe(start + 4)
    })

    it('refuses messages where the terms name no signer, also those of a key that the payer chose', async () => {
      const thief = await world.chain.payer(0n)
      const terms = escrowTerms(world.chain, { operator, receiver: world.seller })
      const paid = { ...(await payEscrow(world.chain, world.payer, terms, { boundTo: thief.address })), terms }
      expect(await settle(paid)).toMatchObject({ success: true })
      const claimed = { ...terms, extra: { ...terms.extra, receiverAuthorizer: thief.address } }
      const by = seller(world.chain, thief, operator)
      for (const payload of [await by.void(paid), await by.capture(paid, 1n, ALL, { voids: true })]) {
        expect(await post(escrowBody(claimed, payload))).toMatchObject(refusal('lifecycle_not_relayed'))
      }
      expect(await held(paid)).toMatchObject(ALL)
    })

    it('does not accept money for a purchase that another signer could void', async () => {
      const { facilitator } = world.service
      const claim = async ({ body }: EscrowPaid) => {
        const digest = facilitator.purchases.digestOf(readRequest({ ...body, x402Version: 2 }))!
        return await facilitator.purchases.claim(world.database.statements, { digest, purchaseId: 'pay_1' })
      }
      expect(await claim(await authorized())).toBeNull()
      const ours = await sell()
      expect(await facilitator.settle(readRequest(ours.request), requester('pay_2'))).toMatchObject({ success: true })
      expect(await claim(ours)).toBe('pay_1')
    })

    it('a deadline that leaves too little time, or that was never offered, is not accepted', async () => {
      const { presented } = await sell()
      const now = world.clock.now().getTime()
      expect(acceptedDeadline(presented, minute, new Date(now + 299_000))).not.toBeNull()
      expect(acceptedDeadline(presented, minute, new Date(now + 302_000))).toBeNull()
      expect(acceptedDeadline(presented, minute, new Date(now - 2_000))).toBeNull()
      expect(acceptedDeadline(presented, 2 * minute + 241_000, new Date(now))).toBeNull()
    })
  })

  describe('refuses', () => {
    let start: number
    let paid: Paid
    beforeAll(async () => {
      paid = await authorized()
      start = await sent()
    })
    afterAll(async () => {
      expect(await sent()).toBe(start)
      expect(await held(paid)).toMatchObject(ALL)
    })

    it('a capture above the held amount, with a fee, of zero, or for another state', async () => {
      const too = { capturable: 2_000_000n, refundable: 0n }
      const cases = [
        [await by().capture(paid, 1_000_001n, ALL), 'insufficient_authorization'],
        [await by().capture(paid, 1_000_001n, too), 'unexpected_payment_state'],
        [await by().capture(paid, 500_000n, { capturable: 1_000_000n, refundable: 1n }), 'unexpected_payment_state'],
        [await by().capture(paid, 500_000n, ALL, { fee: 1n }), 'fee_bps_out_of_range'],
        [await by().capture(paid, 0n, ALL), 'amount_mismatch'],
        [await by().capture(paid, 1n, ALL), 'amount_mismatch'],
        [await by().capture(paid, 1_000_000n, ALL, { voids: true }), 'void_remainder_full_capture'],
        [{ ...(await by().void(paid)), type: 'refund', amount: '1' }, 'refund_funding_unavailable'],
      ] as const
      for (const [payload, reason] of cases) expect(await settlePayload(paid, payload)).toMatchObject(refusal(reason))
    })

    it('a message that another key signed, or that was signed for another payment, operator or network', async () => {
      const stranger = await world.chain.payer(0n)
      const other = await pay()
      const capture = await by().capture(paid, 500_000n, ALL)
      const signature = 'authorizer_signature'
      const elsewhere = seller({ ...world.chain, network: { ...world.chain.network, chainId: 8453 } }, signer, operator)
      const voids = await by(stranger).capture(paid, 500_000n, ALL, { voids: true })
      const cases = [
        [await by(stranger).capture(paid, 500_000n, ALL), signature],
        [await by(stranger).void(paid), signature],
        [
          { ...capture, authorizerSignature: (await by().capture(other, 500_000n, ALL)).authorizerSignature },
          signature,
        ],
        [await seller(world.chain, signer, stranger.address).capture(paid, 500_000n, ALL), signature],
        [await elsewhere.capture(paid, 500_000n, ALL), signature],
        [{ ...capture, amount: '500001' }, signature],
        [{ ...voids, authorizerSignature: capture.authorizerSignature }, 'void_authorizer_signature'],
      ] as const
      for (const [payload, reason] of cases) expect(await settlePayload(paid, payload)).toMatchObject(refusal(reason))
    })

    it('a message that does not fit the terms, or whose signer is not the bound one', async () => {
      const stranger = await world.chain.payer(0n)
      const capture = await by().capture(paid, 500_000n, ALL)
      const info = (change: object) => ({ ...capture, paymentInfo: { ...capture.paymentInfo, ...change } })
      expect(await settlePayload(paid, info({ receiver: stranger.address }))).toMatchObject(
        refusal('requirements_mismatch'),
      )
      expect(await settlePayload(paid, info({ maxAmount: '2000000' }))).toMatchObject(refusal('requirements_mismatch'))
      expect(await settlePayload(paid, info({ operator: stranger.address }))).toMatchObject(
        refusal('operator_mismatch'),
      )
      // The thief's own key, in terms that name it: the payer's salt says who may sign.
      const extra = { ...paid.terms.extra, receiverAuthorizer: stranger.address }
      const forged = escrowBody({ ...paid.terms, extra }, await by(stranger).capture(paid, 500_000n, ALL))
      expect(await post(forged)).toMatchObject(refusal('salt_binding_mismatch'))
      const unbound = { ...paid.terms, extra: { ...paid.terms.extra, receiverAuthorizer: zeroAddress } }
      expect(await post(escrowBody(unbound, capture))).toMatchObject(refusal('lifecycle_not_relayed'))
    })

    it('an authorization whose terms were changed after it was signed', async () => {
      const fresh = await pay()
      const changes: [Partial<EscrowTerms>, string][] = [
        [{ payTo: signer.address }, 'nonce_mismatch'],
        [{ amount: '999999' }, 'amount_mismatch'],
        [{ extra: { ...fresh.terms.extra, captureDeadline: fresh.terms.extra.captureDeadline + 1 } }, 'nonce_mismatch'],
        [{ extra: { ...fresh.terms.extra, receiverAuthorizer: zeroAddress } }, 'payload_format'],
        [{ extra: { ...fresh.terms.extra, receiverAuthorizer: world.seller } }, 'salt_binding_mismatch'],
        [{ extra: { ...fresh.terms.extra, captureAuthorizer: world.seller } }, 'operator_not_admitted'],
        [{ extra: { ...fresh.terms.extra, minFeeBps: 1, maxFeeBps: 1 } }, 'extra'],
        [{ extra: { ...fresh.terms.extra, maxFeeBps: 1 } }, 'extra'],
        [{ extra: { ...fresh.terms.extra, paymentFlow: 'authorization' } }, 'unsupported_payment_flow'],
        [{ extra: { ...fresh.terms.extra, autoCapture: true } }, 'unsupported_payment_flow'],
        [{ extra: { ...fresh.terms.extra, operatorType: 'custom' } }, 'unsupported_operator_type'],
        [{ extra: { ...fresh.terms.extra, policy: world.seller } }, 'policy'],
        [{ extra: { ...fresh.terms.extra, assetTransferMethod: 'permit2' } }, 'unsupported_asset_transfer_method'],
        [{ extra: { ...fresh.terms.extra, authCaptureEscrow: world.seller } }, 'extra'],
      ]
      for (const [change, reason] of changes) {
        const { payload } = fresh.body.paymentPayload
        expect([reason, await post(escrowBody({ ...fresh.terms, ...change }, payload))]).toMatchObject([
          reason,
          refusal(reason),
        ])
      }
    })

    it('deadlines that leave no time, money that is not there, and a signature that is not the payer’s', async () => {
      const now = Math.floor(Date.now() / 1000)
      const late = async (extra: Record<string, unknown>) => settle(await pay(termsOf({ extra })))
      expect(await late({ captureDeadline: now + 5, refundDeadline: now + 900 })).toMatchObject(
        refusal('deadline_ordering'),
      )
      expect(await late({ captureDeadline: now + 100 })).toMatchObject(refusal('deadline_ordering'))
      expect(await late({ refundDeadline: now + 100 })).toMatchObject(refusal('deadline_ordering'))
      const poor = await pay(termsOf(), await world.chain.payer(999_999n))
      expect(await settle(poor)).toMatchObject(refusal('insufficient_balance'))
      const dust = await pay(termsOf({ amount: 99n }))
      expect(await settle(dust)).toMatchObject(refusal('amount_mismatch'))
      const fresh = await pay()
      const { payload } = fresh.body.paymentPayload
      const { signature } = (await pay()).body.paymentPayload.payload
      expect(await post(escrowBody(fresh.terms, { ...payload, signature }))).toMatchObject(refusal('signature'))
      expect(await post(escrowBody(fresh.terms, { ...payload, saltNonce: undefined }))).toMatchObject(
        refusal('payload_format'),
      )
      expect(await post(escrowBody(fresh.terms, { ...payload, salt: payload['saltNonce'] }))).toMatchObject(
        refusal('nonce_mismatch'),
      )
    })

    it('a payment for the escrow as a plain transfer, and the other way round', async () => {
      const { chain, payer } = world
      const fresh = await pay()
      const { authorization, signature } = fresh.body.paymentPayload.payload as unknown as {
        authorization: Record<string, string>
        signature: Hex
      }
      const numbers = { value: 1_000_000n, validAfter: 0n, validBefore: BigInt(authorization['validBefore']!) }
      const signed = {
        from: payer.address,
        to: PLACES.collector,
        nonce: authorization['nonce'] as Hex,
        signature,
        ...numbers,
      }
      const plain = () => post(request(chain, 2, signed))
      expect(await plain()).toMatchObject({ success: false })
      const keyed = await world.service.post('/settle', fresh.body, { 'idempotency-key': randomUUID() })
      expect(keyed.body).toMatchObject({ success: true })
      expect(await plain()).toMatchObject({ errorReason: 'invalid_exact_evm_nonce_already_used' })
      start++
      const transfer = await payer.authorize(chain.network, world.seller)
      const { paymentPayload } = request(chain, 2, transfer) as { paymentPayload: { payload: Record<string, unknown> } }
      expect(await post(escrowBody(termsOf(), paymentPayload.payload))).toMatchObject(refusal('payload_format'))
    })
  })

  it('does nothing after a void, nor for a payment whose authorization the payer cancelled', async () => {
    const paid = await authorized()
    expect(await settlePayload(paid, await by().void(paid))).toMatchObject({ success: true })
    const start = await sent()
    expect(await settlePayload(paid, await by().capture(paid, 500_000n, ALL))).toMatchObject(
      refusal('unexpected_payment_state'),
    )
    const nothing = { capturable: 0n, refundable: 0n }
    expect(await settlePayload(paid, await by().capture(paid, 500_000n, nothing))).toMatchObject(
      refusal('insufficient_authorization'),
    )
    expect(await settle(paid)).toMatchObject(refusal('payment_already_collected'))
    expect(await sent()).toBe(start)
  })
})
