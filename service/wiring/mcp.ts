import type { RequestHandler } from 'express'
import { Idempotency } from '../api/idempotency.ts'
import { createRateLimit } from '../api/limits.ts'
import { mountMcp } from '../api/mcp/mount.ts'
import type { McpService } from '../api/mcp/parts.ts'
import type { OwnerPages } from '../api/mcp/results.ts'
import type { Config } from '../config.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { AccessTokens } from './oauth.ts'
import { guestIn } from '../kit/caller.ts'
import type { Platform } from './platform.ts'

/** Serves MCP under this address. Callers without a key are guests, who pay for each call. */
export function openMcp(platform: Platform, { identity, address, accessTokens = null, service }: Served): Opened {
  const { config, clock, log, redis, secret, database } = platform
  return mountMcp({
    clock,
    log,
    redis,
    address,
    async identify(authorization, request) {
      const environmentHeader = request.get('coinslot-environment')
      // Only from the header: an access token has no place in an address.
      const byToken = await accessTokens?.identify(request.get('authorization'), environmentHeader)
      if (byToken != null) return byToken
      return await identity.identify({ authorization: authorization ?? '', environmentHeader, now: clock.now() })
    },
    resourceMetadata: accessTokens?.metadataAddress ?? null,
    guest: guestIn(config.LIVE ? 'production' : 'sandbox'),
    limit: createRateLimit('mcp', config.RATE_API_PER_MINUTE, redis),
    messagesMax: config.RATE_API_PER_MINUTE === 0 ? null : config.RATE_API_PER_MINUTE,
    idempotency: new Idempotency(database.statements, clock),
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
  /** The access tokens for this address. Null where there are none. */
  accessTokens?: AccessTokens | null
  service: McpService
}

interface Opened {
  handler: RequestHandler
  close(): Promise<void>
}
