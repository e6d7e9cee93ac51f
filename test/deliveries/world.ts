import type { DeliveryState, NewDelivery } from '../../service/deliveries/model.ts'
import { deriveId, newId, type Id } from '../../service/kit/ids.ts'
import type { Owner } from '../../service/kit/owner.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/** The service with its worker, a seller, and the seller's receiver. */
export interface World {
  service: TestService
  person: TestPerson
  owner: Owner
  receiver: Receiver
  target: string
  secret: string
  /** Writes a delivery as a payment does; to the target unless the test names another. */
  write(delivery?: Partial<NewDelivery>): Promise<Id<'dlv'>>
  /** Resolves when the delivery is in one of these states. */
  reaches(id: string, ...states: DeliveryState[]): Promise<DeliveryView>
  /** Resolves when the delivery fulfils the condition. */
  until(id: string, look: (delivery: DeliveryView) => boolean): Promise<DeliveryView>
  close(): Promise<void>
}

/** As the API shows it. */
export interface DeliveryView {
  id: string
  status: DeliveryState
  attemptCount: number
  lastStatus: number | null
  lastError: string | null
  nextAttemptAt: string | null
  claimedAt: string | null
  deliveredAt: string | null
  attempts: { at: string; durationMs: number; status: number | null; error: string | null; answer: string | null }[]
}

export async function startWorld(environment: Record<string, string> = {}): Promise<World> {
  const service = await testService({ RATE_API_PER_MINUTE: '0', ...environment })
  await service.start()
  const person = await service.person()
  const owner: Owner = { userId: person.caller.user.id, environment: 'sandbox' }
  const receiver = await startReceiver()
  const target = newId('chk', service.clock.now())
  const { deliveries, database } = service
  const { secret } = await deliveries.targets.put(database.statements, { id: target, owner, url: receiver.url })

  async function see(id: string): Promise<DeliveryView> {
    return (await person.call('GET', `/v1/deliveries/${id}`)).body.delivery as DeliveryView
  }

  async function until(id: string, look: (delivery: DeliveryView) => boolean): Promise<DeliveryView> {
    for (;;) {
      const delivery = await see(id)
      if (look(delivery)) return delivery
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  return {
    service,
    person,
    owner,
    receiver,
    target,
    secret,
    async write(delivery = {}) {
      const payment = newId('pay', service.clock.now())
      const id = deriveId('dlv', payment)
      await database.statements.together((inside) =>
        deliveries.write(inside, {
          id,
          owner,
          subject: payment,
          to: { target },
          body: JSON.stringify({ payment: { amount: 5, currency: 'USDC' }, input: { site: 'https://exämple.org' } }),
          ...delivery,
        }),
      )
      return delivery.id ?? id
    },
    until,
    reaches: (id, ...states) => until(id, ({ status }) => states.includes(status)),
    async close() {
      await receiver.close()
      await service.close()
    },
  }
}
