import { randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from '../../service/chain/model.ts'
import type { CheckoutView } from '../../service/checkouts/views.ts'
import type { Environment } from '../../service/kit/owner.ts'
import { until } from '../harness/until.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import {
  testService,
  type Answer,
  type CallOptions,
  type Hooks,
  type TestPerson,
  type TestService,
} from '../harness/service.ts'

/** A workflow's webhook: records its requests and responds as a test wants. */
export interface Workflow {
  url: string
  /** What arrived for sales that began since the last `forget`, in its order. */
  readonly deliveries: readonly Delivery[]
  /** Sets its responses from now on: `check` for a POST without a body, `delivery` for a delivery. */
  answers(with_: { check?: WorkflowAnswer; delivery?: WorkflowAnswer }): void
  /** From now on it answers deliveries only when the returned function is called. */
  holds(): () => void
  /** How often it was checked for existence. */
  checks: number
  /** Hides what arrived so far, and what will arrive later for these sales and deliveries. */
  forget(ids: readonly string[]): void
  close(): Promise<void>
}

export interface Delivery {
  headers: IncomingHttpHeaders
  body: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into deliveries field by field
  json: any
}

export interface WorkflowAnswer {
  status: number
  body: string
}

const FINE: WorkflowAnswer = { status: 200, body: '{"message":"ready"}' }

async function startWorkflow(): Promise<Workflow> {
  let deliveries: Delivery[] = []
  let forgotten: readonly string[] = []
  let answers = { check: FINE, delivery: FINE }
  let checks = 0
  let held: Promise<void> | null = null
  let letGo = (): void => undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const ofEarlierSale = forgotten.some((id) => request.headers['webhook-id'] === id || body.includes(id))
      if (body === '') checks++
      else if (!ofEarlierSale) deliveries.push({ headers: request.headers, body, json: JSON.parse(body) })
      const answer = body === '' ? answers.check : answers.delivery
      void (body === '' || held === null ? Promise.resolve() : held).then(() => {
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhook/paid`,
    get deliveries() {
      return deliveries
    },
    forget(ids) {
      // A test that failed may have left it holding.
      letGo()
      forgotten = ids
      deliveries = []
    },
    answers(changes) {
      answers = { check: changes.check ?? FINE, delivery: changes.delivery ?? FINE }
    },
    holds() {
      let open: () => void = () => undefined
      held = new Promise((resolve) => (open = resolve))
      letGo = () => {
        held = null
        open()
      }
      return letGo
    },
    get checks() {
      return checks
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

/** The service with its worker, a workflow, and a chain where a test wants one. */
export interface World {
  service: TestService
  workflow: Workflow
  seller: TestPerson
  /** Throws if the world was opened without a chain. */
  chain: TestChain
  recipient: Hex
  /** A checkout of the seller's: 1 USDC on base-sepolia, unless it is said otherwise. */
  sell(terms?: Record<string, unknown>, seller?: TestPerson): Promise<SoldCheckout>
  /** An authorization that this checkout asks for, as the page sends it. */
  sign(payer: TestAccount, checkout: string, version?: 1 | 2): Promise<Record<string, unknown>>
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** No sale is under way any more. */
  settled(): Promise<void>
  /** From now on the workflow shows only what arrives for sales and deliveries that do not exist yet. */
  forget(): Promise<void>
  close(): Promise<void>
}

export interface SoldCheckout {
  id: string
  secret: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as in answers
  checkout: any
}

export async function openWorld(
  options: {
    chain?: boolean
    /** The address at which the service asks the chain. */
    chainUrl?: (url: string) => Promise<string>
    environment?: Record<string, string>
    person?: Environment
    works?: boolean
    hooks?: Hooks
  } = {},
): Promise<World> {
  const chain = options.chain === true ? await startChain() : null
  const service = await testService(
    {
      RATE_API_PER_MINUTE: '0',
      RATE_PAY_PER_MINUTE: '0',
      ...(chain === null
        ? {}
        : {
            BASE_SEPOLIA_RPC_URLS: (await options.chainUrl?.(chain.url)) ?? chain.url,
            SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
            GAS_BUDGET_PER_DAY: '0',
            GAS_BUDGET_PER_PAYER_DAY: '0',
          }),
      ...options.environment,
    },
    options.hooks,
  )
  if (options.works !== false) await service.start()
  const workflow = await startWorkflow()
  const seller = await service.person(options.person === undefined ? {} : { environment: options.person })
  const recipient = chain?.accounts[3]!.address ?? '0x00000000000000000000000000000000000000a1'

  return {
    service,
    workflow,
    seller,
    recipient,
    get chain() {
      if (chain === null) throw new Error('this world has no chain')
      return chain
    },
    async sell(terms = {}, by = seller) {
      const created = await by.call('POST', '/v1/checkouts', {
        body: {
          callbackUrl: workflow.url,
          product: { name: 'SEO audit' },
          price: 1,
          network: 'base-sepolia',
          recipient,
          ...terms,
        },
      })
      if (created.status !== 201) throw new Error(`no checkout: ${created.text}`)
      return { id: created.body.checkout.id, secret: created.body.secret, checkout: created.body.checkout }
    },
    async sign(payer, checkout, version = 2) {
      const { body } = await service.call('GET', `/p/${checkout}`)
      return await signed(payer, chain!, body.paymentRequirements as Requirements, version)
    },
    call: service.call,
    async settled() {
      const underWay = `SELECT id FROM sale WHERE state IN ('claimed', 'settling') LIMIT 1`
      await until(async () => (await service.testDatabase.statements.run(underWay, [])).length === 0)
    },
    async forget() {
      const existing = 'SELECT id FROM sale UNION ALL SELECT id FROM delivery'
      const rows = await service.testDatabase.statements.run<{ id: string }>(existing, [])
      workflow.forget(rows.map(({ id }) => id))
    },
    async close() {
      await service.close()
      await workflow.close()
      await chain?.stop()
    },
  }
}

type Requirements = NonNullable<CheckoutView['paymentRequirements']>

/** What a wallet makes of the requirements, in the shape of either version. */
export async function signed(
  payer: TestAccount,
  chain: TestChain,
  requirements: Requirements,
  version: 1 | 2 = 2,
): Promise<Record<string, unknown>> {
  const { v1, v2 } = requirements
  const { signature, ...terms } = await payer.authorize(chain.network, v2.payTo.toLowerCase() as Hex, {
    value: BigInt(v2.amount),
    // Longer than any test moves the clock.
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 36_000),
  })
  const authorization = {
    ...terms,
    value: String(terms.value),
    validAfter: String(terms.validAfter),
    validBefore: String(terms.validBefore),
  }
  const payload = { signature, authorization }
  return version === 1
    ? { x402Version: 1, scheme: 'exact', network: v1!.network, payload }
    : { x402Version: 2, accepted: v2, payload }
}

/** A server for real money, whose callbacks may be on this machine. */
export const LIVE: Record<string, string> = {
  LIVE: 'true',
  AUTH_SECRET: 'a'.repeat(40),
  VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
  ALLOW_PRIVATE_CALLBACKS: 'true',
}

export { until }
