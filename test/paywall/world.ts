import type { Hex } from '../../service/chain/model.ts'
import type { Failpoints } from '../../service/kit/failpoints.ts'
import type { Environment } from '../../service/kit/owner.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { answerOf, testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { buy, signFor } from '../harness/wallet.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** A service with a gateway, an API behind it, and a seller of that API. */
export interface World {
  service: TestService
  upstream: Upstream
  seller: TestPerson
  recipient: Hex
  chain: TestChain
  /** Registers a paywall; returns the owner's view of it, with the gate's address on this service. */
  sell(routes: readonly Route[], terms?: Record<string, unknown>, seller?: TestPerson): Promise<SoldPaywall>
  /** Sends a request through the gate; a GET by default. */
  request(url: string, options?: RequestInit): Promise<Answer>
  /** Requests, signs the offer in either version, and requests again. */
  pay(payer: TestAccount, url: string, options?: RequestInit & { version?: 1 | 2 }): Promise<Answer>
  /** Runs the sweeper once. */
  sweep(): Promise<void>
  /** The header that pays a 402's offer. */
  sign(payer: TestAccount, unpaid: Answer, version?: 1 | 2): Promise<Record<string, string>>
  close(): Promise<void>
}

export interface Route {
  method?: string
  path: string
  pricing: Record<string, unknown>
  [field: string]: unknown
}

export interface SoldPaywall {
  id: string
  secret: string
  gate: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as in answers
  paywall: any
}

export async function openWorld(
  options: {
    /** True: a chain of its own with a sponsor. A chain: that one, without a sponsor. */
    chain?: boolean | TestChain
    environment?: Record<string, string>
    person?: Environment
    works?: boolean
    failpoints?: Failpoints
  } = {},
): Promise<World> {
  const own = options.chain === true
  const chain = own ? await startChain() : typeof options.chain === 'object' ? options.chain : null
  const service = await testService(
    {
      RATE_API_PER_MINUTE: '0',
      RATE_GATE_PER_MINUTE: '0',
      RATE_VERIFY_PER_MINUTE: '0',
      RATE_SETTLE_PER_MINUTE: '0',
      ...(chain === null
        ? {}
        : {
            BASE_SEPOLIA_RPC_URLS: chain.url,
            SPONSOR_PRIVATE_KEYS: own ? chain.accounts[0]!.privateKey : '',
            GAS_BUDGET_PER_DAY: '0',
            GAS_BUDGET_PER_PAYER_DAY: '0',
          }),
      ...options.environment,
    },
    options.failpoints === undefined ? {} : { failpoints: options.failpoints },
  )
  if (options.works !== false) await service.start()
  const upstream = await startUpstream()
  const seller = await service.person(options.person === undefined ? {} : { environment: options.person })
  const recipient = chain?.accounts[3]!.address ?? '0x00000000000000000000000000000000000000a1'
  let count = 0

  async function request(url: string, init: RequestInit = {}): Promise<Answer> {
    return await answerOf(await fetch(url, init))
  }

  function chainOf(): TestChain {
    if (chain === null) throw new Error('this world has no chain')
    return chain
  }

  return {
    service,
    upstream,
    seller,
    recipient,
    get chain() {
      return chainOf()
    },
    async sell(routes, terms = {}, by = seller) {
      const created = await by.call('POST', '/v1/paywalls', {
        body: {
          slug: `api-${String(++count)}`,
          name: 'Weather',
          upstreamUrl: upstream.url,
          routes: routes.map((route) => ({ method: 'GET', ...route })),
          network: 'base-sepolia',
          recipient,
          ...terms,
        },
      })
      if (created.status !== 201) throw new Error(`no paywall: ${created.text}`)
      const { paywall, secret } = created.body
      return { id: paywall.id, secret, paywall, gate: `${service.origin}/gate/${String(paywall.slug)}` }
    },
    request,
    sign: (payer, unpaid, version) => signed(payer, chainOf(), unpaid, version),
    async sweep() {
      // The chain is queried again after five seconds.
      service.clock.forward(6_000)
      await service.sales.sales(service.clock.now())
    },
    pay: (payer, url, { version = 2, ...init } = {}) =>
      buy({ chain: chainOf(), payer, version, terms: longTerms() }, url, init),
    async close() {
      await service.close()
      await upstream.close()
      if (own) await chain?.stop()
    },
  }
}

export async function signed(
  payer: TestAccount,
  chain: TestChain,
  unpaid: Pick<Answer, 'body' | 'headers'>,
  version: 1 | 2 = 2,
  change: { value?: bigint; to?: Hex; validBefore?: bigint } = {},
): Promise<Record<string, string>> {
  const { header, value } = await signFor(chain, payer, unpaid, version, { ...longTerms(), ...change })
  return { [header.toLowerCase()]: value }
}

/** Longer than any test moves the clock. */
const longTerms = () => ({ validBefore: BigInt(Math.floor(Date.now() / 1000) + 400_000) })

export type { Answer } from '../harness/service.ts'
export { until } from '../harness/until.ts'
