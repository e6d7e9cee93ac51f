import { ZERO_ADDRESS } from '../../kit/address.ts'
import type { SaleReader } from '../../sales/model.ts'
import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { NETWORKS } from '../../chain/networks.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { assertVersion, DomainError, invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { signingKey, toSigningSecret } from '../../kit/signing-secret.ts'
import type { Environment } from '../../kit/owner.ts'
import { paywallMissing, slugTaken } from '../errors.ts'
import { type HeaderList, type Payment, type Paywall, type Terms } from '../model.ts'
import type { Addresses, Analytics, Page, PaywallStore, Sealing, SellersRecipients } from '../ports.ts'
import { proofOf, receiptOf, type Proof } from '../../sales/service/door.ts'
import type { Dialects } from '../../x402/dialects.ts'
import { HELD_MS, paymentOf } from '../rules/payment.ts'

export interface Wanted extends Omit<Terms, 'upstreamHeaders'> {
  slug: string
  headers: Readonly<Record<string, string>>
}

export type Change = { [Name in keyof Wanted]?: Wanted[Name] | undefined } & {
  /** The version that the change is about. Null: whichever there is. */
  version: number | null
}

export interface OwnerDeps {
  store: PaywallStore
  addresses: Addresses
  sealing: Sealing
  sales: SaleReader
  recipients: SellersRecipients
  clock: Clock
  dialects: Dialects
  /** The address of the receipts of all products. */
  receiptsAddress: string
  /** Derives test tokens; the same in every process. */
  tokenKey: Buffer
}

/** A payment as its seller sees it. */
export type ProvenPayment = Payment & Proof

/** The owner's operations on a paywall. */
export function createOwning(deps: OwnerDeps) {
  const { store, sales, addresses, sealing, clock, tokenKey } = deps

  return {
    async create(caller: Caller, wanted: Wanted, operation: Id<'op'>): Promise<{ paywall: Paywall; secret: string }> {
      const owner = accountOf(caller)
      const { headers, ...terms } = wanted
      const recipient = await deps.recipients.ofSales(owner, terms)
      assertTerms({ ...terms, recipient }, owner.environment)
      await checkUpstream(addresses, wanted)
      const now = clock.now()
      const id = deriveId('pwl', operation)
      const secret = toSigningSecret(randomBytes(32))
      const sealed = { headers: sealHeaders(sealing, id, headers), secret: sealing.seal(secret, `${id}/secret`) }
      const upstreamHeaders = Object.keys(headers)
      const paywall = { ...terms, id, owner, recipient, upstreamHeaders, version: 1, createdAt: now, updatedAt: now }
      const made = await store.add(paywall, sealed)
      if (made === null) throw slugTaken()
      // A request that is repeated after a crash finds the paywall that it created, with its secret.
      const kept = await store.bySlug(made.slug)
      if (kept?.gate.id !== made.id) throw slugTaken()
      return { paywall: made, secret: sealing.open(kept.sealed.secret, `${id}/secret`) }
    },

    /**
     * Throws the errors that `create` or `change` would throw for these terms, and saves nothing: a form calls it
     * before its next step. Another account may still take the slug before this one is saved; saving is refused then.
     */
    check: (caller: Caller, id: string | null, terms: Change) => checkChange(deps, caller, id, terms),

    async get(caller: Caller, id: string): Promise<Paywall> {
      return given(await store.find(accountOf(caller), id))
    },

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    /** The terms of earlier 402s stay valid for ten more minutes. */
    async change(caller: Caller, id: string, { version, ...change }: Change): Promise<Paywall> {
      const owner = accountOf(caller)
      const { headers, ...changed } = withoutAbsent(change)
      const before = given(await store.find(owner, id))
      if (change.upstreamUrl !== undefined || headers !== undefined) {
        await checkUpstream(addresses, { upstreamUrl: change.upstreamUrl ?? before.upstreamUrl, headers })
      }
      const recipient = namesRecipient(change) ? await deps.recipients.ofSales(owner, { ...before, ...changed }) : null
      return await unlessTaken(() =>
        store.inTransaction(async (inside) => {
          const held = given(await store.lock(inside, owner, id))
          assertVersion('paywall', { from: version, now: held.version })
          const now = clock.now()
          const paywall: Paywall = {
            ...held,
            ...changed,
            recipient: change.recipient === undefined ? held.recipient : recipient,
            upstreamHeaders: headers === undefined ? held.upstreamHeaders : Object.keys(headers),
            version: held.version + 1,
            updatedAt: now,
          }
          assertTerms(paywall, owner.environment)
          const { routes, network } = held
          const until = new Date(now.getTime() + HELD_MS)
          return given(
            await store.change(
              inside,
              paywall,
              held.testMode ? null : { offered: { routes, recipient: held.recipient, network }, until },
              headers === undefined ? {} : { headers: sealHeaders(sealing, held.id, headers) },
            ),
          )
        }),
      )
    },

    /** Its address stops working at once; payments under way are still settled. */
    async remove(caller: Caller, id: string): Promise<Paywall> {
      return given(await store.remove(accountOf(caller), id, clock.now()))
    },

    /** The new secret signs the payer's identity from now on. */
    async rotateSecret(caller: Caller, id: string): Promise<{ paywall: Paywall; secret: string }> {
      const owner = accountOf(caller)
      const secret = toSigningSecret(randomBytes(32))
      const paywall = await store.inTransaction(async (inside) => {
        const held = given(await store.lock(inside, owner, id))
        const sealed = { secret: sealing.seal(secret, `${held.id}/secret`) }
        return given(await store.change(inside, { ...held, updatedAt: clock.now() }, null, sealed))
      })
      return { paywall, secret }
    },

    async payments(
      caller: Caller,
      id: string,
      page: Page,
    ): Promise<{ payments: readonly ProvenPayment[]; total: number }> {
      const owner = accountOf(caller)
      const paywall = given(await store.find(owner, id))
      const { sales: sold, total } = await sales.list(owner, paywall.id, page)
      const by = { dialects: deps.dialects, receipts: deps.receiptsAddress }
      return { payments: sold.map((sale) => ({ ...paymentOf(sale), ...proofOf(receiptOf(sale), sale, by) })), total }
    },

    async analytics(caller: Caller, id: string, span: { from: string; to: string }): Promise<Analytics> {
      const found = await store.analytics(accountOf(caller), id, span.from, span.to)
      if (found === null) throw paywallMissing()
      return found
    },

    /** What one of the account's customers has paid ahead: by the e-mail address or the wallet that names them. */
    balancesOf: (caller: Caller, customer: string) => store.balancesOf(accountOf(caller), customer, BALANCES_MAX),

    /** The owner tests the paywall with this token; null unless it is in test mode. */
    testTokenOf: ({ id, testMode }: Pick<Paywall, 'id' | 'testMode'>): string | null =>
      testMode ? `test_${createHmac('sha256', tokenKey).update(id).digest('base64url').slice(0, 32)}` : null,

    /** The extra headers for the upstream, and the key that signs the payer's identity. */
    opened(id: string, sealed: { headers: string; secret: string }): { headers: HeaderList; key: KeyObject } {
      const headers = JSON.parse(sealing.open(sealed.headers, `${id}/upstreamHeaders`)) as HeaderList
      return { headers, key: createSecretKey(signingKey(sealing.open(sealed.secret, `${id}/secret`))) }
    },
  }
}

/** Few have more than one. */
const BALANCES_MAX = 100

async function checkChange(deps: OwnerDeps, caller: Caller, id: string | null, terms: Change): Promise<void> {
  const { store, addresses } = deps
  const owner = accountOf(caller)
  const before = id === null ? null : given(await store.find(owner, id))
  if (terms.slug !== undefined) {
    const holder = await store.bySlug(terms.slug)
    if (holder !== null && holder.gate.id !== before?.id) throw slugTaken()
  }
  await checkUpstream(addresses, terms)
  const { network = before?.network, testMode = before?.testMode ?? false } = terms
  if (network === undefined) return
  const isKept = terms.recipient === undefined && before !== null
  const named = { network, recipient: (isKept ? before.recipient : terms.recipient) ?? null }
  const isUnasked = isKept && (named.recipient === null || !namesRecipient(terms))
  const recipient = isUnasked ? named.recipient : await deps.recipients.ofSales(owner, named)
  assertTerms({ network, testMode, recipient }, owner.environment)
}

/** An edit of something else is not refused for a recipient that was taken before. */
function namesRecipient({ recipient, network }: Pick<Change, 'recipient' | 'network'>): boolean {
  return recipient !== undefined || network !== undefined
}

/** Reports the guard's refusal of the address as a fault of the field. */
async function checkUpstream(
  addresses: Addresses,
  { upstreamUrl, headers }: Pick<Change, 'upstreamUrl' | 'headers'>,
): Promise<void> {
  try {
    addresses.checkHeaders(headers ?? {})
  } catch (error) {
    throw about('upstreamHeaders', error)
  }
  try {
    if (upstreamUrl !== undefined) await addresses.check(upstreamUrl)
  } catch (error) {
    throw about('upstreamUrl', error)
  }
}

function sealHeaders(sealing: Sealing, id: string, headers: Readonly<Record<string, string>>): string {
  return sealing.seal(JSON.stringify(Object.entries(headers)), `${id}/upstreamHeaders`)
}

function assertTerms(
  { network, testMode, recipient }: Pick<Terms, 'network' | 'testMode' | 'recipient'>,
  environment: Environment,
): void {
  if (environment === 'sandbox' && NETWORKS[network].live && !testMode) {
    throw invalid({ network: 'must be base-sepolia unless testMode is true: a sandbox key never moves real money' })
  }
  if (recipient === null && !testMode) {
    throw invalid({ recipient: 'is required: your wallet has no address to receive payments' })
  }
  if (recipient === ZERO_ADDRESS) throw invalid({ recipient: 'must not be the zero address' })
}

function about(field: string, error: unknown): unknown {
  return error instanceof DomainError && error.kind === 'invalid' ? invalid({ [field]: error.message }) : error
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: string }).code === '23505') throw slugTaken()
    throw error
  }
}

function given(paywall: Paywall | null): Paywall {
  if (paywall === null) throw paywallMissing()
  return paywall
}

function withoutAbsent(change: Omit<Change, 'version'>): Partial<Wanted> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
