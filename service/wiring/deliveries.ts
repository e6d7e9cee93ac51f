import { randomInt } from 'node:crypto'
import { deliveryRoutes } from '../deliveries/http/deliveries.ts'
import { endpointRoutes } from '../deliveries/http/endpoints.ts'
import { deliverySweepers, deliveryTopics } from '../deliveries/jobs.ts'
import type { DeliveriesDeps } from '../deliveries/service/deps.ts'
import { createDeliveries, type Deliveries } from '../deliveries/service/deliveries.ts'
import { createDeliveryStore } from '../deliveries/store/deliveries.ts'
import { createTargetStore } from '../deliveries/store/targets.ts'
import type { Identity } from '../identity/service/identity.ts'
import { Secret } from '../vault/secret.ts'
import type { Platform, Part } from './platform.ts'
import { samplesAt } from './deliveries-samples.ts'

/** `attempted` is called after every attempt at a target. */
export function openDeliveries(
  platform: Platform,
  identity: Identity,
  { attempted, mayRedeliver }: Pick<DeliveriesDeps, 'attempted' | 'mayRedeliver'>,
): { deliveries: Deliveries; part: Part } {
  const { clock, config, log, database, metrics, vault, outbox, outbound, facts } = platform
  const deliveries = createDeliveries({
    store: createDeliveryStore(database.statements),
    targets: createTargetStore(database.statements),
    post: (request) => outbound.open(request),
    checkAddress: (url) => outbound.checkAddress(url),
    sampleOf: samplesAt(config),
    sealing: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (sealed, context) => vault.open(sealed, context).reveal(),
    },
    accountSecrets: (owner) => identity.signingSecrets.of(owner),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    publish: facts.publish,
    attempted,
    mayRedeliver,
    mail: (userId, mail, counted) => identity.mailCounted(userId, mail, counted),
    clock,
    log,
    count: (event) => {
      metrics.count(event)
    },
    chance: () => randomInt(1_000_000) / 1_000_000,
    // Of 256 concurrent short attempts at most half are for one environment and a quarter for one account.
    slots: { own: 24, host: 64, account: 64, environment: 128 },
  })
  facts.subscribe('wallet.low_balance', (inside, { kind: event, owner, id, data }) =>
    deliveries.event(inside, { event, owner, id, data }),
  )
  return {
    deliveries,
    part: {
      routes: [{ surface: 'api', routes: [...endpointRoutes(deliveries), ...deliveryRoutes(deliveries)] }],
      topics: deliveryTopics(deliveries),
      sweepers: deliverySweepers(deliveries),
    },
  }
}
