import type { Clock } from '../../kit/clock.ts'
import type { Publish } from '../../kit/facts.ts'
import type { Log } from '../../kit/log.ts'
import type { DeliveryFact } from '../model.ts'
import type {
  Announce,
  CheckAddress,
  DeliveryStore,
  Listener,
  MailOwner,
  MayRedeliver,
  Post,
  SampleOf,
  Sealing,
  SecretsOf,
  TargetStore,
} from '../ports.ts'
import type { SlotLimits } from './slots.ts'

export interface DeliveriesDeps {
  store: DeliveryStore
  targets: TargetStore
  post: Post
  checkAddress: CheckAddress
  sampleOf: SampleOf
  sealing: Sealing
  accountSecrets: SecretsOf
  announce: Announce
  publish: Publish<DeliveryFact>
  attempted: Listener
  mayRedeliver: MayRedeliver
  mail: MailOwner
  clock: Clock
  log: Log
  /** From 0 to 1, for the jitter. */
  chance(): number
  /** Increments the metric of this event. */
  count(event: string): void
  slots: SlotLimits
}
