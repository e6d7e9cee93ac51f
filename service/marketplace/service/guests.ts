import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { toJsonSchema } from '../../kit/fields.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { attemptOf, deriveId, isId, type Id } from '../../kit/ids.ts'
import { ZERO, type Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import { GUESTS } from '../../ledger/model.ts'
import type { Ledger } from '../../ledger/service.ts'
import { authorizationUsed, badPaymentId, deliveryErrors, paymentsUnavailable } from '../../sales/errors.ts'
import type { Offer, Sale, SaleHooks } from '../../sales/model.ts'
import type { PurchaseRequest, Made, Product, SellingDeps } from '../../sales/service/deps.ts'
import { requirementsOfOffer } from '../../sales/service/door.ts'
import { createSelling } from '../../sales/service/sell.ts'
import { assetMissing, FAILURES, needsKey, runFailed, runUnsettled, tooOften } from '../errors.ts'
import type { RunnableAsset } from '../model/asset.ts'
import { hasEnded, type Run, type RunInput } from '../model/run.ts'
import { LIMIT_MS_MAX } from '../rules/run.ts'
import type { Assets } from './assets/assets.ts'
import type { Runs } from './runs/runs.ts'

/** Runs of assets for buyers without an account. The money comes first; the run is then paid for out of the guests' wallet. */
export function createGuestRuns(deps: GuestRunDeps) {
  const { assets, runs, selling, environment, network, recipient, address, statusUrl } = deps
  const { journal, method, tokens, dialects } = selling

  async function orderOf(slug: string, inputs: RunInput['inputs']): Promise<Order> {
    // A buyer gets what was bought before, even where the asset is not for sale any more.
    const priced = await price(slug, inputs).catch((error: unknown) => {
      if (error instanceof DomainError) return error
      throw error
    })
    const id = priced instanceof DomainError ? await assets.idOf(slug, environment) : priced.asset.id
    return { id, inputs, inputHash: canonicalHash([id, inputs]), priced }
  }

  async function price(slug: string, inputs: RunInput['inputs']): Promise<Priced> {
    const { asset, quoted } = await runs.price(guest('guest'), inputOf(slug, inputs))
    if (asset.status !== 'published') throw assetMissing()
    if (quoted.price === ZERO) throw needsKey()
    return { asset, offer: offerOf(asset, quoted.price) }
  }

  function offerOf(asset: RunnableAsset, amount: Usdc): Offer {
    if (recipient === null || !method.serves(network)) throw paymentsUnavailable()
    const { slug, name, content } = asset
    const input = { properties: { inputs: toJsonSchema(content.inputs) } }
    return { slug, name, address: `${address}/rda/${slug}/run`, amount, network, recipient, input }
  }

  /** One run of a sale is charged: an earlier one that failed was not. */
  async function work({ id, inputs }: Order, sale: Sale): Promise<Run> {
    const caller = guest(sale.payer)
    const paid = { version: String(sale.details['version']), amount: sale.amount }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const operation = attemptOf(sale.id as Id<'pay'>, attempt)
      const before = await runs.find(caller, deriveId('run', operation))
      if (before?.state === 'failed' || before?.state === 'canceled') continue
      return await runs.run(caller, { ...inputOf(id, inputs), paid }, { operation, keyed: true })
    }
    throw tooOften()
  }

  async function make(ask: GuestAsk, sale: Sale): Promise<Made<Run>> {
    const run = await work(ask.order, sale)
    if (!hasEnded(run.state)) throw runUnsettled()
    if (run.state !== 'succeeded') throw runFailed(run, run.failure ?? FAILURES.internal)
    const answer = { meta: { runId: run.id }, body: Buffer.alloc(0) }
    return { value: run, answer, bodyHash: null, details: null, note: null, discard: () => undefined }
  }

  function guest(subject: string): Caller {
    const user = { id: GUESTS, issuer: 'x402', subject, name: null, email: null, emailConfirmed: false } as const
    return { user, subject, issuer: 'x402', environment, via: 'key', keyId: null, agentId: null }
  }

  const product: Product<GuestAsk, Run> = {
    name: 'asset',
    idOf: (operation) => deriveId('pay', operation),
    isId: (id) => isId('pay', id),
    terms({ order }) {
      const { asset, offer } = pricedOf(order)
      const { amount, network, recipient } = offer
      const { slug, version } = asset
      const { id: subject, inputHash } = order
      const about = { subject, userId: asset.ownerId, environment, inputHash, details: { slug, version } }
      return { ...about, amount, network, recipient, requirements: requirementsOfOffer(offer), workMs: 0, note: null }
    },
    isHere: (sale, { order }) => sale.subject === order.id,
    assertSame(sale, { order }) {
      if (sale.subject !== order.id || !sale.inputHash.equals(order.inputHash)) throw authorizationUsed()
    },
    badProof: badPaymentId,
    delivery: {
      joins: true,
      makingMs: LIMIT_MS_MAX,
      owedMs: null,
      standing: ({ details }) => Promise.resolve({ workMs: 0, details, note: null }),
      make,
      restore: async ({ meta }, sale) => await runs.get(guest(sale.payer), meta['runId'] as Id<'run'>),
      errors: deliveryErrors({ statusUrl, tokens }),
    },
  }
  const sales = createSelling(selling, product)

  return {
    async offer(slug: string, inputs: RunInput['inputs']): Promise<Offer> {
      const { asset, offer } = pricedOf(await orderOf(slug, inputs))
      return { ...offer, refund: (await selling.refundTerms?.({ userId: asset.ownerId, environment })) ?? null }
    },
    buy: async (slug: string, inputs: RunInput['inputs'], ask: PurchaseRequest) =>
      await sales.buy({ ...ask, order: await orderOf(slug, inputs) }),
    journal,
    dialects,
  }
}

export type GuestRuns = ReturnType<typeof createGuestRuns>

/** The money of a sale is the guests', so that its run can be paid for. */
export function guestHooks(ledger: Pick<Ledger, 'credit'>): SaleHooks {
  return {
    async paid(inside, { id, environment, amount }) {
      const owner = { userId: GUESTS, environment }
      await ledger.credit({ id: `sale.${id}`, kind: 'deposit', owner, amount, reference: id, act: id }, inside)
    },
  }
}

interface GuestRunDeps {
  assets: Pick<Assets, 'idOf'>
  runs: Pick<Runs, 'price' | 'find' | 'run' | 'get'>
  selling: SellingDeps
  environment: Environment
  network: NetworkName
  /** The treasury: what guests pay is booked in the ledger. Null where this server has none. */
  recipient: Address | null
  /** Of the API. */
  address: string
  statusUrl(sale: Sale): string
}

interface Order {
  id: Id<'rda'>
  inputs: RunInput['inputs']
  inputHash: Buffer
  /** Or why it is not for sale. */
  priced: Priced | DomainError
}

interface Priced {
  asset: RunnableAsset
  offer: Offer
}

function pricedOf({ priced }: Order): Priced {
  if (priced instanceof DomainError) throw priced
  return priced
}

type GuestAsk = PurchaseRequest & { order: Order }

/** How often a failing run is tried for one payment. */
const ATTEMPTS_MAX = 20

function inputOf(identifier: string, inputs: RunInput['inputs']): RunInput {
  return { identifier, inputs, modelId: null, maxCost: null, webhookUrl: null, background: false }
}
