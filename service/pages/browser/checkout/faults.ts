import type { Attempt } from '../../model.ts'
import { say, sayCode } from '../words/say.ts'

/** Why an attempt failed, for a person who tests the checkout; null for an attempt that succeeded. */
export function faultOf({ status, error }: Attempt): string | null {
  if (error !== null) return sayCode('fault', error) ?? say('fault.unknown', { code: error })
  if (status === null) return say('fault.noAnswer')
  if (status >= 200 && status < 300) return null
  if (status === 410) return say('fault.http410')
  if (status === 404) return say('fault.http404')
  return say('fault.http', { status: String(status) })
}
