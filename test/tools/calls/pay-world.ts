import type { Hex } from '../../../service/chain/model.ts'
import { startChain, type TestAccount, type TestChain } from '../../harness/chain.ts'
import type { Answer } from '../../harness/service.ts'
import { signFor, type Payment } from '../../harness/wallet.ts'
import { usdcOf } from '../../facilitator/world.ts'
import { toolWorld, type ToolWorld } from './world.ts'

export interface PayWorld extends ToolWorld {
  chain: TestChain
  seller: Hex
  /** Calls a tool without a key, with this payment or none. */
  /** The token is the payment's, or one that the buyer chooses for it. */
  buy(slug: string, input: unknown, payment?: Payment | null, token?: string): Promise<Answer>
  /** What a wallet makes of a 402, in the header of that version of x402, or of MPP. */
  sign(payer: TestAccount, required: Answer, version?: 1 | 2 | 'mpp', terms?: Record<string, unknown>): Promise<Payment>
  usdc(address: Hex): Promise<bigint>
}

export async function payWorld(environment: Record<string, string> = {}): Promise<PayWorld> {
  const chain = await startChain()
  const seller = chain.accounts[3]!.address
  const world = await toolWorld({
    RATE_PAY_PER_MINUTE: '0',
    TOOLS_RECIPIENT: seller,
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    GAS_BUDGET_PER_DAY: '0',
    GAS_BUDGET_PER_PAYER_DAY: '0',
    ...environment,
  })
  await world.service.start()
  return {
    ...world,
    chain,
    seller,
    buy: (slug, input, payment = null, token) =>
      world.service.call('POST', `/tools/pay/${slug}`, {
        body: input,
        headers: {
          ...(payment !== null && { [payment.header]: payment.value }),
          ...(token !== undefined && { 'X-Payment-Token': token }),
        },
      }),
    sign: (payer, required, version, terms) => signFor(chain, payer, required, version, terms),
    usdc: (address) => usdcOf(chain, address),
    async close() {
      await world.close()
      await chain.stop()
    },
  }
}

/** Repeats as the error says: that an answer arrived is noted a moment after the client has read it. */
export async function notBusy(act: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await act()
    if (answer.body.code !== 'authorization_busy') return answer
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
