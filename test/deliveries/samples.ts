import { samplesAt } from '../../service/deliveries/samples-part.ts'
import { readConfig } from '../../service/config.ts'
import type { EventName } from '../../service/deliveries/model.ts'

const sampleOf = samplesAt(readConfig({}))

/** Of a real event: what an endpoint is sent as a test of its type has the very same fields. */
export function expectLikeItsTest({ event, data }: { event: string; data: Record<string, unknown> }): void {
  const fields = Object.keys(data).filter((name) => name !== 'test')
  expect({ event, fields: fields.sort() }).toEqual({
    event,
    fields: Object.keys(sampleOf(event as EventName, new Date())).sort(),
  })
}
