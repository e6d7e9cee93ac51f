import { accountOf, type Caller } from '../../kit/caller.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { retryConflicts, type Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import { checkoutMissing, checkoutOfRequest, noWorkflow } from '../errors.ts'
import type { Checkout, Terms } from '../model.ts'
import type { Callbacks, FilePort } from '../ports.ts'
import type { Page } from '../stores.ts'
import { assertEmbedOrigins, embedderOf, stillAllowed } from '../rules/embedding.ts'
import { assertEditable, assertTerms, leaseEnd, newCheckout, renewed, successor } from '../rules/lifecycle.ts'
import { callsWorkflow, filesOf } from '../rules/after.ts'
import type { CheckoutDeps } from './deps.ts'

/** An owner creates, changes and ends a checkout. */
export function createLife(deps: CheckoutDeps) {
  const { store, deliveries, files, callbacks, captureLimits, clock } = deps
  /** Creates a checkout, or updates the one that the source already has: the link and the secret stay the same. */
  async function put(
    caller: Caller,
    wanted: Terms,
    operation: Id<'op'>,
  ): Promise<{ checkout: Checkout; secret: string | null }> {
    const owner = accountOf(caller)
    const recipient = await deps.recipients.ofSales(owner, wanted)
    const terms = { ...wanted, recipient, ...(await withFiles(files, owner, wanted)) }
    assertTerms(terms, owner.environment, captureLimits())
    if (terms.callbackUrl !== null) await checkCallback(callbacks, terms.callbackUrl)
    return await store.inTransaction(async (inside) => {
      const checkout = await place(inside, owner, terms, deriveId('chk', operation))
      const { id, callbackUrl: url } = checkout
      await files.use(inside, owner, id, filesOf(checkout))
      const secret = url === null ? null : (await deliveries.targets.put(inside, { id, owner, url })).secret
      return { checkout, secret }
    })
  }

  async function place(inside: Statements, owner: Owner, terms: Terms, id: Id<'chk'>): Promise<Checkout> {
    const now = clock.now()
    const there = terms.source === null ? [] : await store.lockSource(inside, owner, terms.source)
    const before = successor(there, terms, now)
    if (before !== null) {
      const checkout = renewed(before, { ...terms, embedOrigins: stillAllowed(before, terms) }, now)
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

  /** Buyers who were shown the version before still get that one for as long as their price is valid. */
  async function change(caller: Caller, id: string, { version, ...wanted }: Change): Promise<Checkout> {
    const owner = accountOf(caller)
    if (wanted.callbackUrl != null) await checkCallback(callbacks, wanted.callbackUrl)
    const found = await withFiles(files, owner, wanted)
    const isOfRequest = await store.isOfRequest(owner, id)
    // What calls no workflow needs no address of one.
    const uncalled = wanted.after !== undefined && !callsWorkflow({ after: wanted.after }) ? { callbackUrl: null } : {}
    const paid = await changedRecipient(deps, owner, id, wanted)
    return await store.inTransaction(async (inside) => {
      const before = given(await store.lockOwn(inside, owner, id))
      const isOfSites = Object.keys(wanted).join() === 'embedOrigins'
      assertEditable(before, { version, isOfSites, isOfRequest }, clock.now())
      // An edit ends a pause, but this is none.
      if (Object.keys(wanted).length === 0) return before
      if (isOfSites) {
        const { embedOrigins = [] } = wanted
        assertEmbedOrigins(embedOrigins, owner.environment)
        return given(await store.allowSites(inside, owner, { id, embedOrigins, now: clock.now() }))
      }
      const checkout = renewed(before, { ...before, ...uncalled, ...wanted, ...found, ...paid }, clock.now())
      assertTerms(checkout, owner.environment, captureLimits())
      await store.save(inside, before, checkout)
      const { callbackUrl: url } = checkout
      await files.use(inside, owner, id, filesOf(checkout))
      if (url !== null && url !== before.callbackUrl)
        await deliveries.targets.put(inside, { id: checkout.id, owner, url })
      return checkout
    })
  }

  return {
    put,
    change,

    async get(caller: Caller, id: string): Promise<Checkout> {
      return given(await store.findOwn(accountOf(caller), id))
    },

    /** With the current secret, which registering the source again gives too; null where no workflow is called. */
    async withSecret(caller: Caller, id: string): Promise<{ checkout: Checkout; secret: string | null }> {
      const owner = accountOf(caller)
      const checkout = given(await store.findOwn(owner, id))
      if (checkout.callbackUrl === null) return { checkout, secret: null }
      return { checkout, ...(await deliveries.targets.secrets(checkout.id, owner)) }
    },

    /** The site whose page asks to show the checkout in a frame, if the owner allowed it. */
    async embedder(id: string, origin: string): Promise<string | null> {
      const checkout = await store.find(id)
      return checkout === null ? null : embedderOf(checkout, origin)
    },

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    ...createEnding({ store, clock }),

    /** The old secret stays valid for a day. */
    async rotateSecret(
      caller: Caller,
      id: string,
      operation: Id<'op'>,
    ): Promise<{ checkout: Checkout; secret: string }> {
      const owner = accountOf(caller)
      const checkout = given(await store.findOwn(owner, id))
      if (!callsWorkflow(checkout)) throw noWorkflow()
      return { checkout, ...(await deliveries.targets.rotate({ id, owner }, operation)) }
    },
  }
}

function createEnding({ store, clock }: Pick<CheckoutDeps, 'store' | 'clock'>) {
  return {
    /** Extends the lease of a temporary checkout whose listener is still active. An expired one does not come back. */
    async heartbeat(caller: Caller, id: string): Promise<Checkout> {
      const [owner, now] = [accountOf(caller), clock.now()]
      if (await store.isOfRequest(owner, id)) throw checkoutOfRequest()
      return given(await store.prolong(owner, id, leaseEnd(now), now))
    },

    /**
     * With a grace period it sells for that long; registering its source again before the end continues it without a
     * gap. A request for a further amount ends with its checkout. The end of a test listener leaves what publishing has made
     * persistent meanwhile.
     */
    async expire(
      caller: Caller,
      id: string,
      { graceSeconds = 0, onlyTemporary = false }: Expiry = {},
    ): Promise<Checkout> {
      const now = clock.now()
      const owner = accountOf(caller)
      const end = new Date(now.getTime() + graceSeconds * 1_000)
      // A payment of its request locks the same rows in another order.
      const ended = await retryConflicts(() =>
        graceSeconds === 0
          ? store.expire(owner, id, { now, onlyTemporary })
          : store.endSoon(owner, id, { at: end, onlyTemporary }),
      )
      return given(ended ?? (onlyTemporary ? await store.findOwn(owner, id) : null))
    },
  }
}

interface Expiry {
  graceSeconds?: number | undefined
  onlyTemporary?: boolean
}

export interface Change extends Partial<Omit<Terms, 'lifetime' | 'source'>> {
  /** The version that the change is about. Null: whichever there is. */
  version: number | null
}

function given(checkout: Checkout | null): Checkout {
  if (checkout === null) throw checkoutMissing()
  return checkout
}

async function changedRecipient(
  deps: CheckoutDeps,
  owner: Owner,
  id: string,
  wanted: Partial<Terms>,
): Promise<Partial<Pick<Terms, 'recipient'>>> {
  if (wanted.recipient === undefined && wanted.network === undefined) return {}
  const before = given(await deps.store.findOwn(owner, id))
  const recipient = await deps.recipients.ofSales(owner, { ...before, ...wanted })
  return wanted.recipient === undefined ? {} : { recipient }
}

async function checkCallback(callbacks: Pick<Callbacks, 'check'>, url: string): Promise<void> {
  try {
    await callbacks.check(url)
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
    throw invalid({ callbackUrl: error.message })
  }
}

/** What is known of the files that these terms name. Throws where one is not the owner's. */
export async function withFiles(
  files: Pick<FilePort, 'named'>,
  owner: Owner,
  { after, picture }: Partial<Pick<Terms, 'after' | 'picture'>>,
): Promise<Partial<Pick<Terms, 'after' | 'picture'>>> {
  const terms: Partial<Pick<Terms, 'after' | 'picture'>> = {}
  if (after?.kind === 'file') {
    const { fileId } = after
    const { name, mediaType, bytes } = await files.named(owner, fileId, { purpose: 'sale', field: 'after.fileId' })
    terms.after = { kind: 'file', fileId, name, mediaType, bytes }
  }
  if (picture != null) {
    const { fileId } = picture
    const { width, height } = await files.named(owner, fileId, { purpose: 'picture', field: 'picture' })
    terms.picture = { fileId, width: width ?? 0, height: height ?? 0 }
  }
  return terms
}
