import type { DeliveryFact } from '../deliveries/model.ts'
import type { Publish } from '../kit/facts.ts'
import type { RefundFact } from '../refunds/model.ts'
import type { WalletFact } from '../wallet/model.ts'

type Fact = WalletFact | DeliveryFact | RefundFact
type Kind = Fact['kind']
type FactOf<Of extends Kind> = Extract<Fact, { kind: Of }>

/**
 * Facts and their subscribers. A part publishes what happened in the transaction in which it happened. Parts that are
 * opened later subscribe, so the publisher is opened without them.
 */
export class Facts {
  /** In the order in which they subscribed. */
  private readonly subscribers: Readonly<Record<Kind, Publish<Fact>[]>> = {
    'wallet.low_balance': [],
    'wallet.payout_changed': [],
    'wallet.payout_address_changed': [],
    'delivery.failed': [],
    'delivery.redelivered': [],
    'refund.ended': [],
  }

  readonly publish: Publish<Fact> = async (inside, fact) => {
    for (const subscriber of this.subscribers[fact.kind]) await subscriber(inside, fact)
  }

  subscribe<Of extends Kind>(kind: Of, subscriber: Publish<FactOf<Of>>): void {
    this.subscribers[kind].push(async (inside, fact) => {
      if (isOf(fact, kind)) await subscriber(inside, fact)
    })
  }

  /** Called once all parts are open. A fact without a subscriber means that a part does not subscribe any more. */
  assertSubscribed(): void {
    const unsubscribed = Object.entries(this.subscribers).flatMap(([kind, { length }]) => (length === 0 ? [kind] : []))
    if (unsubscribed.length > 0) {
      throw new Error(
        `No part subscribes to ${unsubscribed.join(', ')}. Subscribe where the part that needs it is opened.`,
      )
    }
  }
}

function isOf<Of extends Kind>(fact: Fact, kind: Of): fact is FactOf<Of> {
  return fact.kind === kind
}
