import { setTimeout as wait } from 'node:timers/promises'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Owner } from '../../kit/owner.ts'
import { endpointMissing, endpointNotFetched, endpointOff } from '../errors.ts'
import { FETCHED, type FetchedDelivery } from '../model.ts'
import type { Handled, Outgoing } from '../ports.ts'
import { signatureOf } from '../rules/messages.ts'
import { fetchableSince, fetchBy } from '../rules/schedule.ts'
import type { DeliveriesDeps } from './deps.ts'
import type { Secrets } from './secrets.ts'

/**
 * Deliveries to a program that has no address: it fetches them in order and confirms each. What it has not confirmed,
 * its next connection gets again.
 */
export function createFetching({ store, targets, clock, secrets }: FetchingDeps) {
  async function find(caller: Caller, id: string): Promise<Owner> {
    const owner = accountOf(caller)
    const endpoint = await targets.findEndpoint(owner, id)
    if (endpoint === null) throw endpointMissing()
    if (!FETCHED.test(endpoint.url)) throw endpointNotFetched()
    if (endpoint.status !== 'enabled') throw endpointOff()
    return owner
  }

  /** As it would be sent now: the same headers, signed for this moment. */
  async function signed(fresh: readonly Turn[]): Promise<FetchedDelivery[]> {
    const loaded = await store.load(fresh.map(({ id }) => id))
    const now = clock.now()
    const seconds = Math.floor(now.getTime() / 1000)
    const deliveries = []
    for (const { id, turn } of fresh) {
      const delivery = loaded.get(id)
      if (delivery?.state !== 'pending' || delivery.turn !== turn) continue
      const headers = {
        ...delivery.headers,
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatureOf(await secrets.signing(delivery, now), id, seconds, delivery.body),
      }
      deliveries.push({ id, turn, headers, body: delivery.body })
    }
    return deliveries
  }

  async function* unconfirmed(owner: Owner, id: string, gone: AbortSignal): AsyncGenerator<FetchedDelivery> {
    let sent: ReadonlySet<string> = new Set()
    while (!gone.aborted) {
      // Always from the oldest unconfirmed: a transaction that took long commits events behind those sent already.
      const oldest = await store.unfetched(owner, id, AT_ONCE)
      const fresh = oldest.filter((each) => !sent.has(keyOf(each)))
      sent = new Set(oldest.map(keyOf))
      for (const delivery of await signed(fresh)) yield delivery
      await wait(oldest.length === 0 ? IDLE_MS : BUSY_MS, undefined, { signal: gone }).catch(() => undefined)
    }
  }

  return {
    /** Refuses before the first event, so that the caller gets a status. */
    async follow(caller: Caller, id: string): Promise<(gone: AbortSignal) => AsyncIterable<FetchedDelivery>> {
      const owner = await find(caller, id)
      return (gone) => unconfirmed(owner, id, gone)
    },

    async confirm(caller: Caller, id: string, handled: readonly Handled[]): Promise<void> {
      await store.confirmFetched(await find(caller, id), id, handled, clock.now())
    },

    async replay(caller: Caller, id: string, since: Date): Promise<{ replayed: number }> {
      const now = clock.now()
      const from = new Date(Math.max(since.getTime(), fetchableSince(now).getTime()))
      const again = { since: from, dueAt: fetchBy(now), limit: REPLAY_MAX }
      return { replayed: await store.replay(await find(caller, id), id, again) }
    },
  }
}

type Turn = Pick<Outgoing, 'id' | 'turn'>

/** What is redelivered between two queries is streamed again. */
function keyOf({ id, turn }: Turn): string {
  return `${id} ${String(turn)}`
}

type FetchingDeps = Pick<DeliveriesDeps, 'store' | 'targets' | 'clock'> & { secrets: Secrets }

/** How many may be on their way to one receiver: it handles them one after the other, before their signatures age. */
const AT_ONCE = 20
const REPLAY_MAX = 10_000
const BUSY_MS = 100
const IDLE_MS = 500
