import { randomInt } from 'node:crypto'
import { deliveriesRoutes } from '../deliveries/http.ts'
import { deliverySweepers, deliveryTopics } from '../deliveries/jobs.ts'
import type { Listener } from '../deliveries/ports.ts'
import { createDeliveries, type Deliveries } from '../deliveries/service.ts'
import { createDeliveryStore, createTargetStore } from '../deliveries/store.ts'
import type { Identity } from '../identity/service.ts'
import { Secret } from '../vault/secret.ts'
import type { Ground, Part } from './ground.ts'
import { samplesAt } from './samples.ts'

/** `attempted` is told of every attempt at a target; whoever keeps targets here may want to know. */
export function openDeliveries(
  ground: Ground,
  identity: Identity,
  attempted: Listener,
): { deliveries: Deliveries; part: Part } {
  const { clock, config, log, database, metrics, vault, outbox, outbound } = ground
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
    attempted,
    mail: (userId, mail) => identity.mailTo(userId, mail),
    clock,
    log,
    count: (event) => {
      metrics.count(event)
    },
    chance: () => randomInt(1_000_000) / 1_000_000,
    // Of 256 places for short attempts: half at most for either environment, a quarter for one account.
    lanes: { own: 24, host: 64, account: 64, environment: 128 },
  })
  return {
    deliveries,
    part: {
      routes: [{ surface: 'api', routes: deliveriesRoutes(deliveries) }],
      topics: deliveryTopics(deliveries),
      sweepers: deliverySweepers(deliveries),
    },
  }
}
