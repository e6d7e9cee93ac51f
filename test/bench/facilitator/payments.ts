import { toHex, type Hex } from 'viem'
import { randomBytes } from 'node:crypto'
import { accountOf, type TestAccount, type TestChain } from '../../harness/chain.ts'

/** The request body for either facilitator, as bytes: serialising it must not be in the measured time. */
export type Payment = Buffer

/** Signed payments of payers in turns, so that no two payments at once are of one payer; each is used once. */
export class Payments {
  private readonly signed: Payment[] = []
  private turn = 0
  private readonly chain: TestChain
  private readonly payers: readonly TestAccount[]
  private readonly seller: Hex

  private readonly version: 1 | 2

  private constructor(chain: TestChain, of: { payers: readonly TestAccount[]; seller: Hex; version: 1 | 2 }) {
    this.chain = chain
    this.payers = of.payers
    this.seller = of.seller
    this.version = of.version
  }

  static async open(chain: TestChain, payers: number, version: 1 | 2 = 2): Promise<Payments> {
    const accounts = Array.from({ length: payers }, () => accountOf(toHex(randomBytes(32))))
    await chain.fundMany(accounts.map(({ address }) => ({ address, usdc: 1_000_000_000_000n })))
    // The seller already has some USDC: a new recipient would cost extra storage.
    const seller = await chain.payer(1n)
    return new Payments(chain, { payers: accounts, seller: seller.address, version })
  }

  async take(count: number): Promise<Payment[]> {
    while (this.signed.length < count) this.signed.push(await this.sign())
    return this.signed.splice(0, count)
  }

  giveBack(unused: readonly Payment[]): void {
    this.signed.push(...unused)
  }

  private async sign(): Promise<Payment> {
    const { network } = this.chain
    const payer = this.payers[this.turn++ % this.payers.length]!
    const { signature, ...authorization } = await payer.authorize(network, this.seller)
    const accepted = {
      scheme: 'exact',
      network: network.caip2,
      payTo: this.seller,
      asset: network.usdc.checksummed,
      amount: String(authorization.value),
      maxTimeoutSeconds: 60,
      extra: { name: network.usdc.name, version: network.usdc.version },
    }
    const payload = { signature, authorization: { ...authorization, ...asTexts(authorization) } }
    const url = 'https://seller.example/paid'
    if (this.version === 1) {
      const { amount: maxAmountRequired, ...terms } = { ...accepted, network: network.name }
      const described = { resource: url, description: '', mimeType: 'application/json' }
      const paymentRequirements = { ...terms, ...described, maxAmountRequired }
      const paymentPayload = { x402Version: 1, scheme: 'exact', network: network.name, payload }
      return Buffer.from(JSON.stringify({ x402Version: 1, paymentPayload, paymentRequirements }))
    }
    const resource = { url, description: '', mimeType: '' }
    const paymentPayload = { x402Version: 2, resource, accepted, payload }
    return Buffer.from(JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }))
  }
}

function asTexts(terms: { value: bigint; validAfter: bigint; validBefore: bigint }) {
  return {
    value: String(terms.value),
    validAfter: String(terms.validAfter),
    validBefore: String(terms.validBefore),
  }
}
