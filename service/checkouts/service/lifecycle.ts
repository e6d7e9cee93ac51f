import { accountOf, type Caller } from '../../kit/caller.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import { checkoutMissing } from '../errors.ts'
import type { Checkout, Terms } from '../model.ts'
import type { Page } from '../ports.ts'
import { assertEditable, assertTerms, leaseEnd, newCheckout, renewed, successor } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'

/** An owner creates, changes and ends a checkout. */
export function createLife({ store, deliveries, callbacks, walletAddress, captureLimits, clock }: CheckoutDeps) {
  /** Creates a checkout, or updates the one that the source already has: the link and the secret stay the same. */
  async function put(
    caller: Caller,
    wanted: Terms,
    operation: Id<'op'>,
  ): Promise<{ checkout: Checkout; secret: string }> {
    const owner = accountOf(caller)
    const terms = { ...wanted, recipient: wanted.recipient ?? (await walletAddress(owner)) }
    assertTerms(terms, owner.environment, captureLimits())
    await checkCallback(terms.callbackUrl)
    return await store.inTransaction(async (inside) => {
      const checkout = await place(inside, owner, terms, deriveId('chk', operation))
      const { secret } = await deliveries.targets.put(inside, { id: checkout.id, owner, url: checkout.callbackUrl })
      return { checkout, secret }
    })
  }

  async function place(inside: Statements, owner: Owner, terms: Terms, id: Id<'chk'>): Promise<Checkout> {
    const now = clock.now()
    const there = terms.source === null ? [] : await store.lockSource(inside, owner, terms.source)
    const before = successor(there, terms, now)
    if (before !== null) {
      const checkout = renewed(before, terms, now)
      const isActive = before.state !== 'expired' && (before.leasedUntil === null || before.leasedUntil > now)
      if (!isActive) await store.assertRoom(inside, checkout)
      await store.save(inside, before, checkout)
      return checkout
    }
    const checkout = newCheckout(id, owner, terms, now)
    await store.assertRoom(inside, checkout)
    const made = await store.add(inside, checkout)
    if (made === null) throw checkoutMissing()
    return made
  }

  async function checkCallback(url: string): Promise<void> {
    try {
      await callbacks.check(url)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
      throw invalid({ callbackUrl: error.message })
    }
  }

  /** Buyers who were shown the version before still get that one for as long as their price is valid. */
  async function change(caller: Caller, id: string, { version, ...wanted }: Change): Promise<Checkout> {
    const owner = accountOf(caller)
    if (wanted.callbackUrl !== undefined) await checkCallback(wanted.callbackUrl)
    const ownAddress = wanted.recipient === null ? { recipient: await walletAddress(owner) } : {}
    return await store.inTransaction(async (inside) => {
      const before = given(await store.lockOwn(inside, owner, id))
      assertEditable(before, version, clock.now())
      const checkout = renewed(before, { ...before, ...wanted, ...ownAddress }, clock.now())
      assertTerms(checkout, owner.environment, captureLimits())
      await store.save(inside, before, checkout)
      const { callbackUrl: url } = checkout
      if (url !== before.callbackUrl) await deliveries.targets.put(inside, { id: checkout.id, owner, url })
      return checkout
    })
  }

  return {
    put,
    change,

    async get(caller: Caller, id: string): Promise<Checkout> {
      return given(await store.findOwn(accountOf(caller), id))
    },

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    /** Extends the lease of a temporary checkout whose listener is still active. An expired one does not come back. */
    async heartbeat(caller: Caller, id: string): Promise<Checkout> {
      const now = clock.now()
      return given(await store.prolong(accountOf(caller), id, leaseEnd(now), now))
    },

    /**
     * With a grace period it sells for that long; registering its source again before the end continues it without a
     * gap.
     */
    async expire(caller: Caller, id: string, graceSeconds = 0): Promise<Checkout> {
      const now = clock.now()
      const owner = accountOf(caller)
      if (graceSeconds === 0) return given(await store.expire(owner, id, now))
      return given(await store.endSoon(owner, id, new Date(now.getTime() + graceSeconds * 1_000)))
    },

    /** The old secret stays valid for a day. */
    async rotateSecret(
      caller: Caller,
      id: string,
      operation: Id<'op'>,
    ): Promise<{ checkout: Checkout; secret: string }> {
      const owner = accountOf(caller)
      const checkout = given(await store.findOwn(owner, id))
      return { checkout, ...(await deliveries.targets.rotate({ id, owner }, operation)) }
    },
  }
}

export interface Change extends Partial<Omit<Terms, 'lifetime' | 'source'>> {
  /** The version that the change is about. Null: whichever there is. */
  version: number | null
}

function given(checkout: Checkout | null): Checkout {
  if (checkout === null) throw checkoutMissing()
  return checkout
}
