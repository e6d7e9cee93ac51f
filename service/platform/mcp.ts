import type { RequestHandler } from 'express'
import { createRateLimit } from '../api/limits.ts'
import { mountMcp } from '../api/mcp/mount.ts'
import type { McpService } from '../api/mcp/parts.ts'
import type { OwnerPages } from '../api/mcp/results.ts'
import type { Config } from '../config.ts'
import type { Identity } from '../identity/service/identity.ts'
import { guestIn } from '../kit/caller.ts'
import type { Platform } from './platform.ts'

/** Serves MCP under this address. Callers without a key are guests, who pay for each call. */
export function openMcp(platform: Platform, { identity, address, service }: Served): Opened {
  const { config, clock, log, redis, secret } = platform
  return mountMcp({
    clock,
    log,
    redis,
    address,
    identify: (authorization, request) =>
      identity.identify({
        authorization: authorization ?? '',
        environmentHeader: request.get('coinslot-environment'),
        now: clock.now(),
      }),
    guest: guestIn(config.LIVE ? 'production' : 'sandbox'),
    limit: createRateLimit('mcp', config.RATE_API_PER_MINUTE, redis),
    bodyBytesMax: config.BODY_BYTES_MAX,
    origins: [...config.CORS_ORIGINS, new URL(config.addresses.dashboard).origin],
    secret,
    taskAfterMs: config.MCP_TASK_AFTER_MS,
    service,
  })
}

export function ownerPages({ TOP_UP_URL, addresses: { dashboard } }: Config): OwnerPages {
  return { addFunds: TOP_UP_URL ?? `${dashboard}/wallet?do=add`, approvals: `${dashboard}/agents` }
}

interface Served {
  identity: Identity
  address: string
  service: McpService
}

interface Opened {
  handler: RequestHandler
  close(): Promise<void>
}
