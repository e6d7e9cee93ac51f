import { DomainError } from '../../kit/errors.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { OutboundRequest, OutboundResponse } from '../../outbound/model.ts'
import type { Check } from '../model.ts'
import type { CatalogueStore, CheckStore } from '../ports.ts'
import { confirmedBy } from '../rules/claim.ts'
import { isServedHere } from '../rules/entry.ts'

interface ChecksDeps {
  store: Pick<CatalogueStore, 'put' | 'removeOthers' | 'removeUnverified'> & CheckStore
  /** Calls no private address. */
  seller: { send(request: OutboundRequest): Promise<OutboundResponse> }
  ownAddresses: readonly string[]
  log: Log
  measures: Measures
  entriesPerHost: number
}

/** Asks the addresses of other sellers whether what payers say of them is true, and lists what is. */
export function createChecks(deps: ChecksDeps) {
  const { store, seller, ownAddresses, log, measures, entriesPerHost } = deps

  async function ask({ address, method }: Check): Promise<OutboundResponse> {
    const body = method === 'POST' ? { body: '{}' } : {}
    const type: Record<string, string> = method === 'POST' ? { 'content-type': 'application/json' } : {}
    const headers = { accept: 'application/json', ...type }
    return await seller.send({ url: address, method, headers, limits: LIMITS, redirects: 'pass', ...body })
  }

  async function check(one: Check, now: Date, until: Date): Promise<void> {
    const end = (state: 'listed' | 'refused') => store.end(one, { state, until, now })
    // From before only this service's own sales listed its addresses.
    if (isServedHere(one.resource, ownAddresses)) {
      await end('listed')
      return
    }
    let answer: OutboundResponse | null = null
    try {
      answer = await ask(one)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      log.info({ host: one.host, code: error.code, attempts: one.attempts }, 'a listed address could not be asked')
      if (error.code !== 'address_refused' && (await retried(one, now, until))) return
    }
    if (answer !== null && RETRIED.has(answer.status) && (await retried(one, now, until))) return
    const confirmed = answer === null ? null : confirmedBy(one, answer)
    if (confirmed !== null) {
      const { entry, recipients } = confirmed
      // A template may be named by more addresses than the one that was asked.
      if (entry.resource === one.address) await store.removeOthers(entry, recipients)
      if ((await store.put(entry, entriesPerHost, now)) !== null) {
        measures.count('resource_listed')
        await end('listed')
        return
      }
    }
    measures.count('resource_rejected')
    await store.removeUnverified(one)
    await end('refused')
  }

  /** False after the last attempt. */
  async function retried(one: Check, now: Date, until: Date): Promise<boolean> {
    const pause = PAUSES_MS[one.attempts - 1]
    if (pause === undefined) return false
    await store.retry(one, { at: new Date(now.getTime() + pause), until })
    return true
  }

  return {
    /** A few at once, and each host at most once a minute. */
    async run(now: Date): Promise<void> {
      const until = new Date(now.getTime() + LEASE_MS)
      const hostFrom = new Date(now.getTime() - HOST_MS)
      const due = await store.due({ now, until, hostFrom, limit: AT_ONCE })
      await Promise.all(
        due.map((one) =>
          check(one, now, until).catch((error: unknown) => {
            log.error({ err: error, resource: one.resource }, 'an address could not be checked; it is asked again')
          }),
        ),
      )
    },
  }
}

export type Checks = ReturnType<typeof createChecks>

const AT_ONCE = 10
const HOST_MS = 60_000
const LEASE_MS = 300_000
const PAUSES_MS = [120_000, 1_800_000, 14_400_000]
const LIMITS = { headersMs: 8_000, totalMs: 10_000, bodyBytes: 65_536 }
const RETRIED: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
