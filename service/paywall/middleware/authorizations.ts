import type { PaymentJournal } from '../service/deps.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import type { Sale } from '../../sales/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { proofTooLong } from '../errors.ts'
import { INTERRUPTED } from './memory.ts'

/**
 * The journal of one paywall, in a process that may have several: the same authorization would be verified at each of them before
 * any has moved its money, and the one transfer would then prove a sale at each.
 */
export function sharedInProcess(books: PaymentJournal, now: () => Date): PaymentJournal {
  /** Throws where another journal has it. Returns a function that frees it again, where this call has taken it. */
  function take(digest: string, validBefore: bigint): () => void {
    const at = now().getTime()
    forgetUntil(at)
    const holder = REGISTER.taken.get(digest)
    if (holder !== undefined && holder.books !== books) throw authorizationUsed()
    if (holder !== undefined) return () => undefined
    // Its payer chooses when it ends.
    const until = Math.min(millisecondsOf(validBefore), at + REMEMBERED_MS_MAX) + SPARE_MS
    REGISTER.taken.set(digest, { books, until })
    return () => REGISTER.taken.delete(digest)
  }

  function takeFor({ digest, request }: Pick<Sale, 'digest' | 'request'>): () => void {
    const validBefore = request === null ? 0n : (readRequest(request).authorization?.validBefore ?? 0n)
    return digest === null ? () => undefined : take(digest, validBefore)
  }

  const own: Pick<PaymentJournal, 'begin' | 'take' | 'release' | 'prove'> = {
    async begin(sale, claim) {
      const free = takeFor(sale)
      try {
        return await books.begin(sale, claim)
      } catch (error) {
        free()
        throw error
      }
    },

    /** What was released may have been taken elsewhere meanwhile. */
    async take(sale, until, note) {
      const known = await books.findById(sale.id)
      if (known?.state === 'released') takeFor(known)
      return await books.take(sale, until, note)
    },

    /** Nothing was charged: it may buy at another paywall. Not where its work was interrupted, which may still be paid. */
    async release(sale, reason) {
      await books.release(sale, reason)
      const { state, digest } = (await books.findById(sale.id)) ?? {}
      if (digest == null || state !== 'released' || reason === INTERRUPTED) return
      if (REGISTER.taken.get(digest)?.books === books) REGISTER.taken.delete(digest)
    },

    /** It stays known until it has expired, so one without an end would stay for ever. */
    async prove(digest, buys, validBefore) {
      if (millisecondsOf(validBefore) > now().getTime() + REMEMBERED_MS_MAX) throw proofTooLong()
      take(digest, validBefore)
      return await books.prove(digest, buys, validBefore)
    },
  }
  return withOwn(books, own)
}

/** Not at each payment: with many under way that would take longer than all the rest. */
function forgetUntil(at: number): void {
  if (at < REGISTER.forgotten + FORGET_MS) return
  REGISTER.forgotten = at
  for (const [digest, { until }] of REGISTER.taken) if (until < at) REGISTER.taken.delete(digest)
}

function millisecondsOf(seconds: bigint): number {
  return Number(seconds) * 1_000
}

/** A day, and two hours for clocks and clients that count generously. */
export const REMEMBERED_MS_MAX = 26 * 3_600_000
/** Longer than a journal in memory remembers a payment whose authorization has expired. */
const SPARE_MS = 900_000

const FORGET_MS = 10_000

interface Register {
  taken: Map<string, { books: PaymentJournal; until: number }>
  /** When it was last looked through. */
  forgotten: number
}

/** Of the process, also where the package is installed in it twice. */
const REGISTER = ((globalThis as Record<symbol, unknown>)[Symbol.for('coinslot.paywall.authorizations')] ??= {
  taken: new Map(),
  forgotten: 0,
}) as Register

/** The journal with these operations in place of its own. */
export function withOwn(books: PaymentJournal, own: Partial<PaymentJournal>): PaymentJournal {
  // A journal on a database may be a class, whose methods need it as `this`.
  return new Proxy(books, {
    get(journal, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown
      const value: unknown = Reflect.get(journal, name)
      return typeof value === 'function' ? (value.bind(journal) as unknown) : value
    },
  })
}
