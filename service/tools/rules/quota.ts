import { quotaExceeded } from '../../kit/quota.ts'
import type { Holdings } from '../model/draft.ts'

/** The limits on an account's own tools in one environment. */
export interface ToolQuotas {
  readonly providers: number
  readonly tools: number
  readonly bytes: number
  readonly importsPerHour: number
}

/** Throws when an account would exceed its limits. */
export function checkHoldings({ providers, tools, bytes }: Holdings, quotas: ToolQuotas): void {
  if (providers > quotas.providers) throw quotaExceeded('tool_providers', quotas.providers, null)
  if (tools > quotas.tools) throw quotaExceeded('imported_tools', quotas.tools, null)
  if (bytes > quotas.bytes) throw quotaExceeded('tool_bytes', quotas.bytes, null)
}

/** Throws as soon as one reading alone exceeds the account's limits, because the rest need not be read. */
export function readingLimit({ tools, bytes }: ToolQuotas): (reading: { tools: number; bytes: number }) => void {
  return (reading) => checkHoldings({ ...reading, providers: 0 }, { tools, bytes, providers: 0, importsPerHour: 0 })
}
