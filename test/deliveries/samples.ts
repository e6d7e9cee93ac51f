import { samplesAt } from '../../service/wiring/deliveries-samples.ts'
import { readConfig } from '../../service/config.ts'
import type { EventName } from '../../service/deliveries/model.ts'

const sampleOf = samplesAt(readConfig({}))

/** What only some payments have: those of test mode, of checkouts, and those that a right took the place of. */
const SOMETIMES = new Set(['test', 'lines', 'free', 'passId'])

/** Of a real event: what an endpoint is sent as a test of its type has the very same fields. */
export function expectLikeItsTest({ event, data }: { event: string; data: Record<string, unknown> }): void {
  const sample = Object.keys(sampleOf(event as EventName, new Date()))
  const fields = Object.keys(data).filter((name) => sample.includes(name) || !SOMETIMES.has(name))
  expect({ event, fields: fields.sort() }).toEqual({ event, fields: sample.sort() })
}
