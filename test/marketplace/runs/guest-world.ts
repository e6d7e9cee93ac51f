import { startChain, type TestAccount, type TestChain } from '../../harness/chain.ts'
import type { Answer, Hooks } from '../../harness/service.ts'
import { signFor } from '../../harness/wallet.ts'
import { walletKeys } from '../../wallet/world.ts'
import { runWorld, type RunWorld } from './world.ts'

export interface GuestWorld extends RunWorld {
  chain: TestChain
  /** Sends a request without a key, with these headers. */
  runAsGuest(slug: string, inputs?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>
  /** The headers that pay for it. */
  payFor(slug: string, payer: TestAccount, options?: PayOptions): Promise<Record<string, string>>
}

interface PayOptions {
  inputs?: Record<string, unknown>
  version?: 1 | 2
  terms?: Record<string, unknown>
}

/**
 * Assets for buyers without an account, whose payments reach the treasury of this service. `start`: what of it works by itself;
 * all of it when absent.
 */
export async function guestWorld(
  environment: Record<string, string> = {},
  hooks: Hooks = {},
  start = (service: GuestWorld['service']): Promise<void> | void => service.start(),
): Promise<GuestWorld> {
  const chain = await startChain()
  const settings = {
    ...(await walletKeys()),
    RATE_PAY_PER_MINUTE: '0',
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    GAS_BUDGET_PER_DAY: '0',
    GAS_BUDGET_PER_PAYER_DAY: '0',
    GAS_BUDGET_PER_RECIPIENT_DAY: '0',
    ...environment,
  }
  const world = await runWorld(settings, hooks)
  await start(world.service)
  const runAsGuest: GuestWorld['runAsGuest'] = (slug, inputs = { say: 'hello' }, headers = {}) =>
    world.service.call('POST', `/v1/rda/${slug}/run`, { body: { inputs }, headers })
  return {
    ...world,
    chain,
    runAsGuest,
    async payFor(slug, payer, { inputs, version, terms } = {}) {
      const { header, value } = await signFor(chain, payer, await runAsGuest(slug, inputs), version, terms)
      return { [header]: value }
    },
    async close() {
      await world.close()
      await chain.stop()
    },
  }
}
