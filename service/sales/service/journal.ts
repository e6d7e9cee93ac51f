import type { Clock } from '../../kit/clock.ts'
import { retryConflicts, type Statements } from '../../kit/transaction.ts'
import { sum } from '../../kit/money.ts'
import { readRequest } from '../../x402/payload.ts'
import {
  alreadyBought,
  authorizationUsed,
  identifierUsed,
  payerDefaulted,
  paymentBusy,
  promisedTwice,
  tooManyOpen,
} from '../errors.ts'
import { claimedSale, type PaymentMethod, type Sale, type SaleHooks } from '../model.ts'
import { DEFAULTED_MS, isDefault, OWED_AWAY_MS, workUntil } from '../rules.ts'
import type { Claim, HeldJournal, Hooks, Journal, Purchases, SaleMethod, SaleStore } from '../ports.ts'

/** The service's journal: the database, the register of purchases, and what products write in the same commit. */
export function createJournal({ store, purchases, hooks, methods, clock }: JournalDeps): Journal {
  const hooksOf = ({ product }: Sale): SaleHooks => hooks[product] ?? {}

  async function ended(id: string): Promise<Sale> {
    const sale = await store.find(id)
    if (sale === null) throw new Error('a sale was not found')
    return sale
  }

  const endFailed = endingFailed({ hooks, methods })
  const together = repeating(store)

  return {
    giveBack: givingBack(store, hooksOf),
    simulated: simulating(store, hooksOf),
    authorized: authorizing({ store, clock }, hooksOf, ended),
    find: (digest) => store.findByDigest(digest),
    findById: (id) => store.find(id),
    findByIdentifier: (payer, identifier) => store.findByIdentifier(payer, identifier),

    async begin(newSale, { state, resumeAt, promised, balance, note, within = store.inTransaction }) {
      const { id, digest } = newSale
      const { signed, simulated } = methods.of(newSale)
      if (signed === (digest === null) || simulated) throw new Error(`a sale of ${newSale.method} begins otherwise`)
      const sale = { ...claimedSale(newSale), state }
      return await within(async (inside) => {
        const bought = digest === null ? id : await purchases.claim(inside, { digest, purchaseId: id })
        if (bought === null) throw authorizationUsed()
        if (bought !== id) return bought
        if (promised) await assertPromise(inside, sale, { store, clock, balance })
        // The hook throws to refuse the claim, so that a refused sale does not keep the authorization.
        await hooksOf(sale).claimed?.(inside, sale, note)
        if (state === 'held') await hooksOf(sale).held?.(inside, sale)
        if (!(await store.add(inside, sale, resumeAt))) throw await twiceStarted(inside, sale, store)
        return id
      })
    },

    async take({ promised, balance, ...known }, until, note) {
      return await store.inTransaction(async (inside) => {
        const taken = await store.take(inside, known, { now: clock.now(), until })
        if (taken === null) return null
        const { sale, before } = taken
        if (before !== 'released') return sale
        if (promised) await assertPromise(inside, sale, { store, clock, balance })
        await hooksOf(sale).claimed?.(inside, sale, note)
        return sale
      })
    },

    leave: (lease) => store.leave(lease),
    bind: (id, bodyHash) => store.bind(id, bodyHash),

    async release(lease, reason) {
      const method = methods.of(lease)
      const state = method.giveBack === undefined ? 'released' : 'failed'
      await together(async (inside) => {
        const sale = await store.release(inside, lease, { state, reason, now: clock.now() })
        if (sale === null) return
        await (state === 'failed' ? endFailed(inside, sale) : hooksOf(sale).freed?.(inside, sale))
      })
    },

    settling: (lease, delivered, until) => store.settling(lease, delivered, { now: clock.now(), until }),

    async paid(id, txHash, { handover, note, away = false }) {
      const now = clock.now()
      const owedUntil = away ? new Date(now.getTime() + OWED_AWAY_MS) : null
      const paid = await together(async (inside) => {
        const sale = await store.paid(inside, id, { txHash, handover, owedUntil, now })
        if (sale === null) return null
        // Accounts are locked before rows of the product, as in the claim.
        await methods.of(sale).pay?.(inside, sale)
        await hooksOf(sale).paid?.(inside, sale, note)
        return sale
      })
      return paid ?? (await ended(id))
    },

    async failed(id, reason, end) {
      const failed = await together(async (inside) => {
        const sale = await store.failed(inside, id, { reason, end: end ?? null, now: clock.now() })
        if (sale === null) return null
        if (isDefault(sale)) {
          const { payer, network } = sale
          await store.addDefault(inside, { payer, network, until: new Date(clock.now().getTime() + DEFAULTED_MS) })
        }
        await endFailed(inside, sale)
        return sale
      })
      return failed ?? (await ended(id))
    },

    unpaid: (id, reason) => store.unpaid(id, reason),

    async store(id, answer, bodyHash) {
      return await store.inTransaction(async (inside) => {
        const sale = await store.store(inside, id, answer, { bodyHash, now: clock.now() })
        if (sale !== null) await hooksOf(sale).delivered?.(inside, sale, answer)
        return sale !== null
      })
    },
    answerOf: (id) => store.answerOf(id),
    begun: (id) => store.begun(id),
    handedOver: (id) => store.handedOver(id),
    prove: (digest, purchaseId) => store.inTransaction((inside) => purchases.prove(inside, { digest, purchaseId })),
  }
}

/**
 * The end of a sale, once more where it waited in a circle: a claim locks rows of the product before what leaves the buyer's
 * account is counted, and a failure gives both back in the other order.
 */
function repeating(store: SaleStore): SaleStore['inTransaction'] {
  return (work) => retryConflicts(() => store.inTransaction(work))
}

/** The same simulated sale was begun by another request. */
class Twin extends Error {}

/** Stores a simulated sale with what its product writes. */
function simulating(store: SaleStore, hooksOf: (sale: Sale) => SaleHooks): Journal['simulated'] {
  return async (sale, resumeAt) => {
    const added = store.inTransaction(async (inside) => {
      await hooksOf(sale).claimed?.(inside, sale, null)
      if (sale.state === 'held') await hooksOf(sale).held?.(inside, sale)
      // What the hooks wrote for it must not stay: its twin's transaction has written the same.
      if (!(await store.add(inside, sale, resumeAt))) throw new Twin()
      if (sale.state === 'paid') await hooksOf(sale).paid?.(inside, sale, null)
      if (sale.state === 'failed') await hooksOf(sale).failed?.(inside, sale)
      return true
    })
    return await added.catch((error: unknown) => {
      if (error instanceof Twin) return false
      throw error
    })
  }
}

/** The money waits in the escrow, and the work begins. */
function authorizing(
  { store, clock }: Pick<JournalDeps, 'store' | 'clock'>,
  hooksOf: (sale: Sale) => SaleHooks,
  ended: (id: string) => Promise<Sale>,
): Journal['authorized'] {
  return async (id, txHash) => {
    const { escrow } = await ended(id)
    if (escrow === null) throw new Error('a sale has no terms of the escrow')
    const now = clock.now()
    const until = workUntil(escrow, now)
    const held = await store.inTransaction(async (inside) => {
      // Without time for the work nothing is delivered, and its deadline is over at once.
      const sale = await store.hold(inside, id, { txHash, until: until ?? now, now })
      if (sale !== null && until !== null) await hooksOf(sale).held?.(inside, sale)
      return sale
    })
    return held ?? (await ended(id))
  }
}

/** Ends a free sale whose work has failed after it was paid. */
function givingBack(store: SaleStore, hooksOf: (sale: Sale) => SaleHooks): Journal['giveBack'] {
  return (id) =>
    store.inTransaction(async (inside) => {
      const sale = await store.giveBack(inside, id)
      if (sale !== null) await hooksOf(sale).returned?.(inside, sale)
      return sale
    })
}

/** What every sale's failure writes beside it. */
function endingFailed({ hooks, methods }: Pick<JournalDeps, 'hooks' | 'methods'>) {
  return async (inside: Statements, sale: Sale): Promise<void> => {
    await methods.of(sale).giveBack?.(inside, sale)
    await hooks[sale.product]?.freed?.(inside, sale)
    await hooks[sale.product]?.failed?.(inside, sale)
  }
}

/** The end of held sales. */
export function createHeldJournal({ store, hooks, methods, clock }: Omit<JournalDeps, 'purchases'>): HeldJournal {
  const endFailed = endingFailed({ hooks, methods })
  return {
    capture: (id, result) =>
      store.inTransaction((inside) => store.endHold(inside, id, { state: 'settling', result, now: clock.now() })),

    async giveUp(id, result) {
      const waits = (await store.find(id))?.escrow ?? null
      const state = waits === null ? 'failed' : 'settling'
      return await repeating(store)(async (inside) => {
        const sale = await store.endHold(inside, id, { state, result, now: clock.now() })
        if (sale === null) return null
        if (state === 'failed') await endFailed(inside, sale)
        await hooks[sale.product]?.givenUp?.(inside, sale)
        return sale
      })
    },

    report: (id, result) =>
      store.inTransaction(async (inside) => {
        const sale = await store.report(inside, id, result)
        if (sale !== null && result.status === 'failed') await hooks[sale.product]?.workFailed?.(inside, sale)
        return sale !== null
      }),
  }
}

/** Another request for the same operation, or with the same identifier, was faster and has committed. */
async function twiceStarted(
  inside: Statements,
  { id, digest, payer, identifier }: Sale,
  store: SaleStore,
): Promise<Error> {
  const first = identifier === null ? null : await store.findByIdentifier(payer, identifier, inside)
  if (first !== null) return identifierUsed(first)
  const twin = await store.find(id, inside)
  return twin?.digest === digest ? paymentBusy() : alreadyBought()
}

/**
 * For each claim whose work comes before its payment. Nobody works first for a wallet that left finished work unpaid. And one
 * balance, and one nonce, must not be promised to several sellers: the chain would show it only when the work is done.
 */
async function assertPromise(
  inside: Statements,
  sale: Sale,
  { store, clock, balance }: Pick<JournalDeps, 'store' | 'clock'> & Pick<Claim, 'balance'>,
): Promise<void> {
  // What costs nothing, or is set aside in the ledger, promises no balance of a wallet.
  if (sale.digest === null) return
  const until = await store.defaultedUntil(inside, sale.payer, sale.network, clock.now())
  if (until !== null) throw payerDefaulted(until)
  const open = await store.lockOpen(inside, sale, OPEN_MAX)
  if (open.length >= OPEN_MAX) throw tooManyOpen(OPEN_MAX)
  const nonce = nonceOf(sale.request)
  if (open.some(({ request }) => nonceOf(request) === nonce)) throw authorizationUsed()
  const promised = sum([sale.amount, ...open.map(({ amount }) => amount)])
  if (balance === null || balance < promised) throw promisedTwice()
}

/** A payer's purchases that are open at once, where one of them is worked for before it is paid. */
const OPEN_MAX = 20

function nonceOf(request: Sale['request']): string | null {
  return request === null ? null : (readRequest(request).authorization?.nonce ?? null)
}

interface JournalDeps {
  store: SaleStore
  purchases: Purchases
  hooks: Hooks
  methods: { of(sale: PaymentMethod): Pick<SaleMethod, 'signed' | 'simulated' | 'pay' | 'giveBack'> }
  clock: Clock
}
