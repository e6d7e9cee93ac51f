import type { Statements } from '../../kit/transaction.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type {
  Announce,
  CheckAddress,
  DeliveryStore,
  EndListener,
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
  attempted: Listener
  ended: EndListener
  mayRedeliver: MayRedeliver
  /** In the transaction in which an owner sends a delivery again. */
  redelivered(inside: Statements, subject: string): Promise<void>
  mail: MailOwner
  clock: Clock
  log: Log
  /** From 0 to 1, for the jitter. */
  chance(): number
  /** Increments the metric of this event. */
  count(event: string): void
  slots: SlotLimits
}
