import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import {
  escrowBody,
  escrowCall,
  escrowed,
  escrowTerms,
  seller,
  type EscrowPaid,
  type EscrowTerms,
} from '../harness/escrow.ts'
import { openWorld, usdcOf, type World } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

const ALL = { capturable: 1_000_000n, refundable: 0n }

/** A seller that holds the money first: it settles, serves, and captures when it likes. */
describe.each([true, false])(
  'the stock client pays into the escrow, and the seller signs its messages: %s',
  (bound) => {
    let world: World
    let operator: Hex
    let signer: TestAccount
    let payer: TestAccount
    let buyer: Buyer
    let shop: Server
    let terms: EscrowTerms
    beforeAll(async () => {
      world = await openWorld()
      operator = world.chain.accounts[0]!.address
      signer = world.chain.accounts[2]!
      payer = await world.chain.payer(10_000_000n)
      buyer = startBuyer(2)
      const signers = bound ? { signer: signer.address } : {}
      terms = escrowTerms(world.chain, { operator, receiver: world.seller, ...signers })
      shop = createServer((request, response) => {
        const payment = request.headers['payment-signature'] as string | undefined
        void serve(payment).then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
      })
      await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    })
    afterAll(async () => {
      await buyer.stop()
      await new Promise((resolve) => shop.close(resolve))
      await world.close()
    })

    const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
    const url = () => `http://127.0.0.1:${String((shop.address() as AddressInfo).port)}/paid`

    async function serve(payment: string | undefined) {
      if (payment === undefined) {
        const required = { x402Version: 2, error: 'Pay first.', resource: { url: url() }, accepts: [terms] }
        return { status: 402, headers: { 'PAYMENT-REQUIRED': base64(required) }, body: JSON.stringify(required) }
      }
      const paymentPayload = JSON.parse(Buffer.from(payment, 'base64').toString()) as unknown
      const { body } = await world.service.post('/settle', {
        x402Version: 2,
        paymentPayload,
        paymentRequirements: terms,
      })
      const status = body.success === true ? 200 : 402
      return { status, headers: { 'PAYMENT-RESPONSE': base64(body) }, body: JSON.stringify({ page: 'worth it' }) }
    }

    /** What the seller keeps of a payment, to act on it later. */
    async function buy(): Promise<EscrowPaid> {
      const purchase = await buyer.buy({ url: url(), privateKey: payer.privateKey })
      expect(purchase).toMatchObject({ status: 200, body: { page: 'worth it' }, receipt: { success: true } })
      const { payload } = JSON.parse(Buffer.from(purchase.header.value, 'base64').toString()) as {
        payload: { authorization: { validBefore: string; nonce: Hex }; signature: Hex; salt: Hex; saltNonce?: Hex }
      }
      const { extra } = terms
      const info = {
        operator,
        payer: payer.address,
        receiver: world.seller,
        token: world.chain.network.usdc.address,
        maxAmount: 1_000_000n,
        preApprovalExpiry: Number(payload.authorization.validBefore),
        authorizationExpiry: extra.captureDeadline,
        refundExpiry: extra.refundDeadline,
        minFeeBps: 0,
        maxFeeBps: 0,
        feeReceiver: extra.feeRecipient,
        salt: payload.salt,
      }
      expect(await escrowed(world.chain, info)).toEqual({ collected: true, ...ALL })
      const { signature, saltNonce = payload.salt, authorization } = payload
      return { info, saltNonce, nonce: authorization.nonce, signature, body: escrowBody(terms, payload) }
    }

    it('and a partial capture pays the seller, with the rest voided', async () => {
      const paid = await buy()
      const before = await usdcOf(world.chain, world.seller)
      const capture = await seller(world.chain, signer, operator).capture(paid, 250_000n, ALL, { voids: true })
      const { body } = await world.service.post('/settle', escrowBody(terms, capture))
      if (!bound) {
        expect(body).toMatchObject({ errorReason: 'invalid_auth_capture_evm_lifecycle_not_relayed' })
        return
      }
      expect(body).toMatchObject({ success: true, amount: '250000' })
      expect((await usdcOf(world.chain, world.seller)) - before).toBe(250_000n)
    })

    it('and reclaims it alone after the deadline, with the service stopped for good', async () => {
      const paid = await buy()
      const before = await usdcOf(world.chain, payer.address)
      await world.service.close()
      await world.chain.call('anvil_setBalance', payer.address, '0xde0b6b3a7640000')
      await world.chain.call('anvil_impersonateAccount', payer.address)
      await world.chain.call('evm_setNextBlockTimestamp', paid.info.authorizationExpiry)
      const { to, data } = escrowCall('reclaim', paid.info)
      await world.chain.call('eth_sendTransaction', { from: payer.address, to, data, gas: '0x493e0' })
      expect(await usdcOf(world.chain, payer.address)).toBe(before + 1_000_000n)
    })
  },
)
