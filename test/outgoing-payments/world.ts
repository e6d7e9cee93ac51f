import { randomBytes } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { Seller } from './seller.ts'

type Settings = Readonly<Record<string, string>>

export interface PaidCalls {
  readonly chain: TestChain
  readonly service: TestService
  readonly seller: Seller
  readonly treasury: Hex
  /** A person with money to pay from. */
  person(amount?: number): Promise<TestPerson>
  /** Moves the service and the chain past the end of what was signed, and looks at what is open. */
  expire(seconds?: number): Promise<void>
  close(): Promise<void>
}

/** Accounts that pay a seller on a chain, whose payments the service's own facilitator settles. */
export async function openPaidCalls(
  settings: Settings | ((chain: TestChain) => Promise<Settings>) = {},
): Promise<PaidCalls> {
  const chain = await startChain()
  const service = await testService({
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    PAYER_SEED: randomBytes(32).toString('hex'),
    ALLOW_HOSTS: '127.0.0.1',
    SETTLE_CONFIRMATIONS: '1',
    ...(typeof settings === 'function' ? await settings(chain) : settings),
  })
  service.facilitator.start()
  const facilitator = () => `${service.origin}/facilitator`
  const now = () => service.clock.now()
  const seller = await new Seller(chain.network, chain.accounts[3]!.address, facilitator, now).listen()
  const treasury = service.wallets.treasury()!
  await chain.fund(treasury, 1_000_000_000n)
  await chain.mine()

  return {
    chain,
    service,
    seller,
    treasury,
    async person(amount = 20) {
      const person = await service.person()
      await person.call('POST', '/v1/wallet/deposit', { body: { amount } })
      return person
    },
    async expire(seconds = 460) {
      service.clock.forward(seconds * 1_000)
      await chain.call('evm_setNextBlockTimestamp', Math.floor(service.clock.now().getTime() / 1_000))
      await chain.mine(2)
      // The newest block is cached for a second.
      service.clock.forward(2_000)
      await service.outgoingPayments.reconcile()
    },
    async close() {
      await seller.close()
      await service.close()
      await chain.stop()
    },
  }
}
