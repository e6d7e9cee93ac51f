import { randomBytes } from 'node:crypto'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toSigningSecret } from '../../kit/signing-secret.ts'
import type { Owner } from '../../kit/owner.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { endpointMissing, endpointOff, tooManyEndpoints, urlRefused, wayFixed } from '../errors.ts'
import { FETCHED, type Endpoint, type EventName, type Page } from '../model.ts'
import type { EndpointChange } from '../ports.ts'
import { deliveryOf } from '../rules/messages.ts'
import type { DeliveriesDeps } from './deps.ts'
import type { Secrets } from './secrets.ts'
import { SECRET_BYTES, type createTargets } from './targets.ts'
import type { createWriting } from './write.ts'

/** The endpoints of an account, which receive events. */
export function createEndpoints(deps: EndpointsDeps) {
  const { store, targets, clock, secrets, checkAddress, sampleOf, writing, ownTargets } = deps

  /** Throws the guard's refusal as a fault of the field. */
  async function check(url: string): Promise<void> {
    if (FETCHED.test(url)) return
    try {
      await checkAddress(url)
    } catch (error) {
      throw error instanceof DomainError && error.kind === 'invalid' ? urlRefused(error) : error
    }
  }

  async function find(owner: Owner, id: string): Promise<Endpoint> {
    const endpoint = await targets.findEndpoint(owner, id)
    if (endpoint === null) throw endpointMissing()
    return endpoint
  }

  return {
    list: (caller: Caller, page: Page) => targets.listEndpoints(accountOf(caller), page),

    get: (caller: Caller, id: string): Promise<Endpoint> => find(accountOf(caller), id),

    /**
     * The id derives from the operation: a request that is repeated after a crash finds the endpoint and its secret.
     */
    async create(
      caller: Caller,
      wanted: { url: string; events: readonly EventName[]; secret: string | null },
      operation: Id<'op'>,
    ): Promise<{ endpoint: Endpoint; secret: string }> {
      const owner = accountOf(caller)
      await check(wanted.url)
      const id = deriveId('whe', operation)
      const sealed = secrets.seal(wanted.secret ?? toSigningSecret(randomBytes(SECRET_BYTES)), id)
      const { url, events } = wanted
      const row = { id, owner, url, events, sealed, madeBy: operation, createdAt: clock.now() }
      if (!(await targets.addEndpoint(row, ENDPOINTS_MAX))) throw tooManyEndpoints(ENDPOINTS_MAX)
      return { endpoint: await find(owner, id), ...(await ownTargets.secrets(id, owner)) }
    },

    /** Enabling it again resets earlier failures. */
    async change(caller: Caller, id: string, change: EndpointChange): Promise<Endpoint> {
      const owner = accountOf(caller)
      if (change.url !== null) {
        const { url } = await find(owner, id)
        // What waits to be sent could not be fetched, and the reverse.
        if (FETCHED.test(url) !== FETCHED.test(change.url)) throw wayFixed()
        await check(change.url)
      }
      const changed = await targets.changeEndpoint(owner, id, change, clock.now())
      if (changed === null) throw endpointMissing()
      return changed
    },

    /** Deliveries that wait for it are no longer sent. */
    async remove(caller: Caller, id: string): Promise<void> {
      if (!(await targets.removeEndpoint(accountOf(caller), id))) throw endpointMissing()
    },

    async rotate(caller: Caller, id: string, operation: Id<'op'>): Promise<{ endpoint: Endpoint; secret: string }> {
      const owner = accountOf(caller)
      const endpoint = await find(owner, id)
      return { endpoint, ...(await ownTargets.rotate({ id, owner }, operation)) }
    },

    /** Sends a sample of each event type that the endpoint subscribes to, or only of the given type. */
    async test(caller: Caller, id: string, wanted: EventName | null, operation: Id<'op'>): Promise<TestEvent[]> {
      const owner = accountOf(caller)
      const endpoint = await find(owner, id)
      if (endpoint.status !== 'enabled') throw endpointOff()
      const subject = deriveId('evt', operation)
      const now = clock.now()
      const tests = (wanted === null ? endpoint.events : [wanted]).map((event) => ({
        id: deliveryOf(subject, `${id} ${event}`),
        event,
        body: JSON.stringify({ event, data: { ...sampleOf(event, now), test: true } }),
      }))
      await store.inTransaction(async (inside) => {
        for (const { id: delivery, body } of tests) {
          const headers = { 'coinslot-test': 'true' }
          const message = { id: delivery, owner, subject, to: { target: id }, body, headers }
          await writing.write(inside, { ...message, fetched: FETCHED.test(endpoint.url) })
        }
      })
      return tests.map(({ id: delivery, event }) => ({ id: delivery, event }))
    },
  }
}

/** A test event that is being sent. */
export interface TestEvent {
  id: Id<'dlv'>
  event: EventName
}

type EndpointsDeps = Pick<DeliveriesDeps, 'store' | 'targets' | 'clock' | 'checkAddress' | 'sampleOf'> & {
  secrets: Secrets
  writing: ReturnType<typeof createWriting>
  ownTargets: ReturnType<typeof createTargets>
}

/** A limit, because an event becomes one delivery per endpoint. */
const ENDPOINTS_MAX = 50
