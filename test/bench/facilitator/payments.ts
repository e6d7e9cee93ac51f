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

  private constructor(chain: TestChain, payers: readonly TestAccount[], seller: Hex) {
    this.chain = chain
    this.payers = payers
    this.seller = seller
  }

  static async open(chain: TestChain, payers: number): Promise<Payments> {
    const accounts = Array.from({ length: payers }, () => accountOf(toHex(randomBytes(32))))
    await chain.fundMany(accounts.map(({ address }) => ({ address, usdc: 1_000_000_000_000n })))
    // The seller already has some USDC: a new recipient would cost extra storage.
    const seller = await chain.payer(1n)
    return new Payments(chain, accounts, seller.address)
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
    const resource = { url: 'https://seller.example/paid', description: '', mimeType: '' }
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
