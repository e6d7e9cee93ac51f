import { randomUUID } from 'node:crypto'
import { textVault } from '../vault/vault.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import { demoHosts } from './demo.ts'
import type { Identity } from '../identity/service/identity.ts'
import { newId } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import { createAuthorizationServers } from '../oauth-client/client.ts'
import { normalised, permitsPrivate } from '../outbound/addresses.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Part, Platform } from './platform.ts'
import { turnOf, type Topic } from '../queue/model.ts'
import { connectionRoutes } from '../connections/http.ts'
import type { Connection } from '../connections/model.ts'
import type { Providers } from '../connections/ports.ts'
import { expiredOf } from '../connections/rules.ts'
import { createConnections, type Connections } from '../connections/service/connections.ts'
import { connectUrl } from '../connections/service/deps.ts'
import { createConnectionStore } from '../connections/store/store.ts'

/** Accounts' own access to providers of tools. */
export function openConnections(platform: Platform, others: Others): { connections: Connections; part: Part } {
  const { config, clock, log, database, outbox, vault, failpoints, tracer } = platform
  const { deliveries, identity } = others
  const policy = normalised({ allowPrivate: false, allowHosts: [...config.ALLOW_HOSTS, ...demoHosts(config)] })
  const outbound = outboundClient({ policy, tracing: tracer === null ? null : { tracer, passed: false } })
  const store = createConnectionStore(database.statements)
  const { dashboard } = config.addresses
  const connections = createConnections({
    store,
    clock,
    log,
    failpoints,
    dashboard,
    pause,
    providers: {
      find: (...of) => others.providers().find(...of),
      of: (...of) => others.providers().of(...of),
      probe: (...of) => others.providers().probe(...of),
    },
    servers: createAuthorizationServers(outbound.send, (url) => permitsPrivate(policy, url)),
    secrets: textVault(vault),
    agentExists: others.agentExists,
    newLease: randomUUID,
    async tell(inside, connection) {
      const id = newId('evt', clock.now())
      const { owner } = connection
      await deliveries.event(inside, { id, owner, event: 'connection.expired', data: expiredOf(connection) })
      const payload = { eventId: id, connectionId: connection.id }
      await outbox.add(inside, [{ topic: EXPIRED, payload, turn: turnOf(owner) }])
    },
  })
  const expired: Topic<{ eventId: string; connectionId: string }> = {
    topic: EXPIRED,
    decode: z.object({ eventId: z.string(), connectionId: z.string() }),
    async handle({ eventId, connectionId }) {
      const connection = await store.byId(connectionId as Connection['id'])
      if (connection?.state !== 'expired') return
      const { name, provider, owner } = connection
      await identity.mailTo(owner.userId, {
        id: eventId,
        subject: `Your connection ${name} has expired`,
        text: `The provider ${provider} no longer accepts your connection "${name}" (${owner.environment}). Calls of its tools wait for
you to connect again:

${connectUrl({ dashboard }, provider)}

Nothing is charged for calls that could not be made.
`,
      })
    },
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  return {
    connections,
    part: {
      routes: [{ surface: 'api', routes: connectionRoutes(connections) }],
      topics: [expired],
      sweepers: [
        { name: 'connections', everyMs: 10_000, run: (now, signal) => connections.sweep(now, signal) },
        { name: 'connections.codes', everyMs: 1_000, run: (now, signal) => connections.sweepCodes(now, signal) },
      ],
      stop: () => outbound.close(),
    },
  }
}

interface Others {
  deliveries: Pick<Deliveries, 'event'>
  identity: Pick<Identity, 'mailTo'>
  providers: () => Providers
  agentExists(owner: Owner, id: string): Promise<boolean>
}

const EXPIRED = 'connections.expired'
