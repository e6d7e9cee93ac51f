import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log, Measures } from '../../kit/log.ts'
import { Recent } from '../../kit/recent.ts'
import type { ExtensionResponses, Listing, OfferedResource, SoldResource } from '../../x402/bazaar.ts'
import type { Claim, Entry, Patronage } from '../model.ts'
import type { CatalogueStore, CheckStore } from '../ports.ts'
import { claimOf } from '../rules/claim.ts'
import { entryOf, isServedHere } from '../rules/entry.ts'

interface ListingDeps {
  store: Pick<CatalogueStore, 'put' | 'change' | 'withdraw' | 'removeOthers' | 'count'> & Pick<CheckStore, 'claim'>
  /** Where this service sells. Only its own sales list what is there. */
  ownAddresses: readonly string[]
  clock: Clock
  log: Log
  measures: Measures
  /** How many entries one recipient may have at one host. Of what we sell ourselves: `OWN_ENTRIES_MAX`. */
  entriesPerHost: number
}

/**
 * Lists what was settled. Nothing here fails a settlement or holds it up: an error is a line in the log, and a slow
 * database is waited for a quarter of a second at most, while its statement goes on.
 */
export function createListing(deps: ListingDeps): Listing {
  const { store, ownAddresses, clock, log, measures, entriesPerHost } = deps
  /** What this process has written a moment ago, so that a busy seller does not rewrite its entry with each sale. */
  const written = new Recent<string, Written & { content: string }>(WRITTEN_MAX, { clock, forMs: WRITTEN_MS })
  /** When the payments that are not settled yet were checked. */
  const checked = new Recent<string, number>(CHECKED_MAX, { clock, forMs: CHECKED_MS })
  const counts = new Batch<Patronage, true>({
    largest: 500,
    async run(calls) {
      await store.count(summed(calls), clock.now())
      return calls.map(() => true)
    },
  })

  /** What we sell is listed at once. The address of another seller is asked first, after the settlement. */
  async function put(entry: Entry, sold: SoldResource): Promise<Written> {
    const now = clock.now()
    const key = keyOf(entry)
    const content = createHash('sha1').update(JSON.stringify(entry)).digest('base64')
    const known = written.get(key)
    if (known?.content === content) return known
    const result = sold.isOurs === true ? await putOwn(entry, now) : await putClaim(claimOf(entry, sold), now)
    written.put(key, { ...result, content })
    if (sold.isOurs === true && known === undefined && result.id !== null) measures.count('resource_listed')
    return result
  }

  async function putOwn(entry: Entry, now: Date): Promise<Written> {
    // What a stranger once listed at this address goes.
    await store.removeOthers(entry, [entry.payTo])
    const id = await store.put(entry, OWN_ENTRIES_MAX, now)
    return { id, response: id === null ? tooMany(OWN_ENTRIES_MAX) : SUCCESS }
  }

  async function putClaim(claim: Claim, now: Date): Promise<Written> {
    const claimed = await store.claim(claim, entriesPerHost, now)
    if (claimed === null) return { id: null, response: tooMany(entriesPerHost) }
    const { state, listed } = claimed
    const id = listed?.id ?? null
    if (state === 'listed' || listed?.isSame === true) return { id, response: SUCCESS }
    return { id, response: state === 'refused' ? rejected(NOT_OFFERED) : PROCESSING }
  }

  async function list(
    entry: Entry,
    call: Omit<Patronage, 'resource'>,
    sold: SoldResource,
  ): Promise<ExtensionResponses> {
    try {
      const { id: resource, response } = await put(entry, sold)
      if (resource === null) return response
      counts.add({ ...call, resource }).catch((error: unknown) => {
        log.warn({ err: error, resource: entry.resource }, 'a call of a listed resource was not counted')
      })
      return response
    } catch (error) {
      log.error({ err: error, resource: entry.resource }, 'a resource could not be listed; its next sale lists it')
      return PROCESSING
    }
  }

  /** A failure counts where the resource was listed by this process before. It lists nothing by itself. */
  function countFailure(entry: Entry, payer: Patronage['payer']): void {
    const resource = written.get(keyOf(entry))?.id
    if (resource == null) return
    counts.add({ resource, payer, settled: 0, failed: 1, waitedMs: 0, timed: 0 }).catch((error: unknown) => {
      log.warn({ err: error, resource: entry.resource }, 'a failed call was not counted')
    })
  }

  function guarded<Value>(sold: SoldResource, act: (entry: Entry) => Value): Value | ExtensionResponses {
    try {
      const entry = entryOf(sold)
      if ('rejected' in entry || (sold.isOurs !== true && isServedHere(entry.resource, ownAddresses))) {
        measures.count('resource_rejected')
        return rejected('rejected' in entry ? entry.rejected : OWN_RESOURCE)
      }
      return act(entry)
    } catch (error) {
      log.error({ err: error }, 'a resource could not be read; it is not listed')
      return rejected('internal: the resource could not be read')
    }
  }

  return {
    verified: (sold, refusal) =>
      guarded(sold, () => {
        if (refusal !== null) return rejected(`payment_invalid: ${refusal}`)
        checked.put(paymentOf(sold), clock.now().getTime())
        return PROCESSING
      }),

    async settled(sold, outcome) {
      const payer = sold.payment.authorization?.from ?? null
      return await guarded<ExtensionResponses | Promise<ExtensionResponses>>(sold, (entry) => {
        if (payer === null) return rejected('payment_invalid: the payment has no payer')
        if (outcome.status === 'failed') {
          countFailure(entry, payer)
          return rejected(`payment_failed: ${outcome.reason}`)
        }
        if (outcome.status !== 'settled') return PROCESSING
        const since = checked.get(paymentOf(sold))
        const waited =
          since === undefined ? { waitedMs: 0, timed: 0 } : { waitedMs: clock.now().getTime() - since, timed: 1 }
        const listed = list(entry, { payer, settled: 1, failed: 0, ...waited }, sold)
        return Promise.race([listed, pause(PATIENCE_MS, PROCESSING, { ref: false })])
      })
    },

    changed: (offered) => change(log, offered, (entry) => store.change(entry)),
    withdrawn: (offered) => change(log, offered, (entry) => store.withdraw(entry, clock.now())),
  }
}

async function change(log: Log, offered: OfferedResource, act: (entry: Entry) => Promise<void>): Promise<void> {
  try {
    const entry = entryOf(offered)
    if (!('rejected' in entry)) await act(entry)
  } catch (error) {
    log.error({ err: error }, 'the entry of a resource could not be changed; its next sale changes it')
  }
}

const PATIENCE_MS = 250
const WRITTEN_MAX = 20_000
/** All tools and assets of this service have one recipient and one host. A gate's route may have any number of paths. */
const OWN_ENTRIES_MAX = 10_000
const WRITTEN_MS = 30_000
const CHECKED_MAX = 20_000
const CHECKED_MS = 600_000

const SUCCESS: ExtensionResponses = { bazaar: { status: 'success' } }
const OWN_RESOURCE = 'own_resource: what this service sells is listed by its own sales alone'
const NOT_OFFERED = 'not_offered: the address itself does not ask for this price and recipient'
/** It is listed when the payment is settled, or when its address has confirmed it. */
const PROCESSING: ExtensionResponses = { bazaar: { status: 'processing' } }

function rejected(rejectedReason: string): ExtensionResponses {
  return { bazaar: { status: 'rejected', rejectedReason } }
}

function tooMany(most: number): ExtensionResponses {
  const sentence = `a recipient may have ${String(most)} resources listed at one host; use a routeTemplate for paths with parameters`
  return rejected(`too_many_resources: ${sentence}`)
}

/** The id of what is listed, if something is, and what the facilitator answers. */
interface Written {
  id: bigint | null
  response: ExtensionResponses
}

function keyOf({ resource, tool, network, scheme, payTo }: Entry): string {
  return [payTo, network, scheme, tool, resource].join(' ')
}

function paymentOf({ payment: { network, authorization } }: SoldResource): string {
  return `${network?.name ?? ''} ${authorization?.from ?? ''} ${authorization?.nonce ?? ''}`
}

/** One row for each payer at each resource, because one statement cannot change a row twice. */
function summed(calls: readonly Patronage[]): Patronage[] {
  const sums = new Map<string, Patronage>()
  for (const call of calls) {
    const key = `${String(call.resource)} ${call.payer}`
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { ...call })
    else {
      sum.settled += call.settled
      sum.failed += call.failed
      sum.waitedMs += call.waitedMs
      sum.timed += call.timed
    }
  }
  return [...sums.values()]
}
