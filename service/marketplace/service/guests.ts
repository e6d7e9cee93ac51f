import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { toJsonSchema } from '../../kit/fields.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { attemptOf, deriveId, isId, type Id } from '../../kit/ids.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import { GUESTS } from '../../ledger/model.ts'
import type { Ledger } from '../../ledger/service.ts'
import {
  authorizationUsed,
  badPaymentId,
  deliveryErrors,
  forSale,
  itemIn,
  paymentsUnavailable,
  type ForSale,
} from '../../sales/errors.ts'
import type { Offer, Sale, SaleHooks } from '../../sales/model.ts'
import type { PurchaseRequest, Made, Product, SellingDeps, Terms } from '../../sales/service/deps.ts'
import { requirementsOfOffer } from '../../sales/service/door.ts'
import { createSelling } from '../../sales/service/sell.ts'
import {
  assetMissing,
  FAILURES,
  isReturned,
  needsKey,
  runFailed,
  runReturned,
  runUnsettled,
  tooOften,
} from '../errors.ts'
import type { RunnableAsset } from '../model/asset.ts'
import { hasEnded, type Run, type RunInput } from '../model/run.ts'
import type { RunStore } from '../ports/run.ts'
import { isByUse } from '../rules/price.ts'
import { LIMIT_MS_MAX, limitOf } from '../rules/run.ts'
import type { Assets } from './assets/assets.ts'
import type { Runs } from './runs/runs.ts'

/**
 * Runs of assets for buyers without an account. The run comes first, without a hold, and the money moves once it has
 * succeeded. Only where the money is on its way already (the authorization was submitted by somebody else) the payment
 * comes first; a failed run then gives it back.
 */
export function createGuestRuns(deps: GuestRunDeps) {
  const { assets, runs, selling, environment, statusUrl, giveBack } = deps
  const { journal, tokens, dialects } = selling

  async function orderOf(slug: string, inputs: RunInput['inputs']): Promise<Order> {
    const priced = await forSale(price(slug, inputs))
    const id = priced instanceof DomainError ? await assets.idOf(slug, environment) : priced.asset.id
    return { id, inputs, inputHash: canonicalHash([id, inputs]), priced }
  }

  async function price(slug: string, inputs: RunInput['inputs']): Promise<Priced> {
    const { asset, quoted } = await runs.price(guest('guest'), inputOf(slug, inputs))
    if (asset.status !== 'published') throw assetMissing()
    if (quoted.price === ZERO) throw needsKey()
    return { asset, offer: offerOf(deps, asset, quoted.price) }
  }

  /** One run of a sale succeeds and is paid: an earlier one failed. */
  async function work({ id, inputs }: Order, sale: Sale, paid: boolean): Promise<Run> {
    const caller = guest(sale.payer)
    const sold = { version: String(sale.details['version']), paid }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const operation = attemptOf(sale.id as Id<'pay'>, attempt)
      const before = await runs.find(caller, deriveId('run', operation))
      if (before?.state === 'failed' || before?.state === 'canceled') continue
      return await runs.run(caller, { ...inputOf(id, inputs), sold }, { operation, keyed: true })
    }
    throw tooOften()
  }

  async function make(ask: GuestAsk, sale: Sale, paid: boolean): Promise<Made<Run>> {
    const run = await work(ask.order, sale, paid)
    if (!hasEnded(run.state)) throw runUnsettled()
    if (run.state !== 'succeeded') {
      const failure = run.failure ?? FAILURES.internal
      if (!paid) throw runFailed(run, failure)
      await giveBack(sale, failure.sentence)
      throw runReturned(failure, sale)
    }
    const { taken } = selling.methods.of(sale)
    // What was paid before the run cannot become less.
    const amount = paid || taken === undefined ? sale.amount : taken(sale, await runs.usedBy(run))
    const ran: Ran = { runId: run.id, share: String(runs.shareOf(run, amount)) }
    const answer = { meta: ran, body: Buffer.alloc(0) }
    const details = paid ? null : { ...sale.details, ...ran }
    // Handed over only once it is paid.
    const value = { ...run, cost: amount }
    return { value, answer, bodyHash: null, details, amount, note: null, discard: () => undefined }
  }

  function terms({ order }: GuestAsk): Terms {
    const { asset, offer } = itemIn(order.priced)
    const { amount, network, recipient } = offer
    const { slug, version } = asset
    const { id: subject, inputHash } = order
    const about = { subject, userId: asset.ownerId, environment, inputHash, details: { slug, version } }
    const requirements = { ...requirementsOfOffer(offer), listed: String(runs.guestPrice(asset)) }
    const price = { amount, network, recipient, requirements }
    return { ...about, ...price, workMs: limitOf(asset), promised: true, note: null }
  }

  const guest = (subject: string): Caller => guestOf(environment, subject)

  const errors = deliveryErrors({ statusUrl, tokens })
  const owed = (error: unknown, sale: Sale): unknown => (isReturned(error) ? error : errors.failed(error, sale, true))

  const product: Product<GuestAsk, Run> = {
    name: 'asset',
    idOf: (operation) => deriveId('pay', operation),
    isId: (id) => isId('pay', id),
    terms,
    isHere: (sale, { order }) => sale.subject === order.id,
    assertSame(sale, { order }) {
      if (sale.subject !== order.id || !sale.inputHash.equals(order.inputHash)) throw authorizationUsed()
    },
    badProof: badPaymentId,
    delivery: {
      joins: true,
      makingMs: LIMIT_MS_MAX,
      owedMs: null,
      // As it is now, in the version that was bought.
      standing: async ({ details }, ask) => ({ ...terms(ask), details }),
      make,
      restore: async ({ meta }, sale) => await runs.get(guest(sale.payer), meta['runId'] as Id<'run'>),
      errors: {
        ...errors,
        failed: (error, sale, paid) =>
          paid ? owed(error, sale) : free(error, { paymentId: sale.id, paymentToken: tokens.of(sale.id) }),
      },
    },
  }
  const sales = createSelling(selling, product)

  return {
    async offer(slug: string, inputs: RunInput['inputs']): Promise<Offer> {
      const { asset, offer } = itemIn((await orderOf(slug, inputs)).priced)
      return { ...offer, refund: (await selling.refundTerms?.({ userId: asset.ownerId, environment })) ?? null }
    },
    buy: async (slug: string, inputs: RunInput['inputs'], ask: PurchaseRequest) =>
      await sales.buy({ ...ask, order: await orderOf(slug, inputs) }),
    journal,
    dialects,

    /**
     * What catalogues show of an asset, once its creator has changed it: until its next sale they have no other word of it.
     * What costs nothing now, or is not published any more, is not sold to guests.
     */
    async changed(asset: RunnableAsset): Promise<void> {
      const { method } = selling
      // The same name in the other environment is another asset, which is not sold here.
      if (asset.environment !== environment || deps.recipient === null || !method.serves(deps.network)) return
      const listed = runs.guestPrice(asset)
      const isSold = asset.status === 'published' && listed > ZERO
      const requirements = requirementsOfOffer(offerOf(deps, asset, listed))
      await (isSold ? method.offered : method.withdrawn)?.(requirements)
    },
  }
}

function offerOf(
  { selling: { method }, network, recipient, address }: GuestRunDeps,
  { slug, name, content }: RunnableAsset,
  amount: Usdc,
): Offer {
  if (recipient === null || !method.serves(network)) throw paymentsUnavailable()
  const input = { properties: { inputs: toJsonSchema(content.inputs) } }
  const workMs = limitOf({ content })
  const taker = isByUse(content) ? (method.taker?.() ?? null) : null
  return { slug, name, address: `${address}/rda/${slug}/run`, amount, network, recipient, input, workMs, taker }
}

function guestOf(environment: Environment, subject: string): Caller {
  const user = { id: GUESTS, issuer: 'x402', subject, name: null, email: null, emailConfirmed: false } as const
  return { user, subject, issuer: 'x402', environment, via: 'key', keyId: null, agentId: null }
}

export type GuestRuns = ReturnType<typeof createGuestRuns>

/** What arrives for a sale is the guests' at first. Its run is paid out of that, once there is one. */
export function guestHooks({ ledger, runs }: GuestHookDeps): SaleHooks {
  async function pay(inside: Statements, sale: Sale, { runId, share }: Partial<Ran>): Promise<void> {
    if (runId === undefined || share === undefined || sale.userId === null) return
    const { id, environment, amount } = sale
    // A run that was charged out of a hold of its own, by the version before.
    if (!(await runs.charge(inside, runId, amount))) return
    const shares = [{ to: { userId: sale.userId }, amount: usdc(BigInt(share)) }].filter((one) => one.amount > ZERO)
    const owner = { userId: GUESTS, environment }
    await ledger.transfer({ id: `run.${id}`, owner, amount, shares, reference: runId }, inside)
  }

  return {
    async paid(inside, sale) {
      const { id, environment, amount } = sale
      const owner = { userId: GUESTS, environment }
      await ledger.credit({ id: `sale.${id}`, kind: 'deposit', owner, amount, reference: id, act: id }, inside)
      await pay(inside, sale, sale.details)
    },
    delivered: (inside, sale, { meta }) => pay(inside, sale, meta),
  }
}

interface GuestHookDeps {
  ledger: Pick<Ledger, 'credit' | 'transfer'>
  runs: Pick<RunStore, 'charge'>
}

/** The run that a sale pays for. */
type Ran = Readonly<{
  runId: Id<'run'>
  /** The creator's part of the price, in micro-USDC. */
  share: string
}>

/** Nothing has moved. The same payment may ask again. */
function free(error: unknown, named: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof DomainError) || error.kind === 'unavailable') return error
  const sentence = error.message.includes('not charged') ? error.message : `${error.message} Nothing was charged.`
  return new DomainError(error.kind, error.code, sentence, { ...error.fields, ...named }).causedBy(error.cause)
}

interface GuestRunDeps {
  assets: Pick<Assets, 'idOf'>
  runs: Pick<Runs, 'price' | 'find' | 'run' | 'get' | 'shareOf' | 'usedBy' | 'guestPrice'>
  selling: SellingDeps
  environment: Environment
  network: NetworkName
  /** The treasury: what guests pay is booked in the ledger. Null where this server has none. */
  recipient: Address | null
  /** Of the API. */
  address: string
  statusUrl(sale: Sale): string
  /** The payment of a run that has failed. */
  giveBack(sale: Sale, reason: string): Promise<void>
}

interface Order {
  id: Id<'rda'>
  inputs: RunInput['inputs']
  inputHash: Buffer
  priced: ForSale<Priced>
}

interface Priced {
  asset: RunnableAsset
  offer: Offer
}

type GuestAsk = PurchaseRequest & { order: Order }

/** How often a failing run is tried for one payment. */
const ATTEMPTS_MAX = 20

function inputOf(identifier: string, inputs: RunInput['inputs']): RunInput {
  return { identifier, inputs, modelId: null, maxCost: null, webhookUrl: null, background: false }
}
