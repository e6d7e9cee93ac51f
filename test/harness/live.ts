import { randomBytes } from 'node:crypto'

/** The settings of a live service, which has both environments; its third parties run on this machine all the same. */
export function liveSettings(): Record<string, string> {
  return {
    LIVE: 'true',
    AUTH_SECRET: 'a'.repeat(40),
    VAULT_KEY: `k:${randomBytes(32).toString('base64')}`,
    ALLOW_PRIVATE_CALLBACKS: 'true',
    RATE_API_PER_MINUTE: '0',
  }
}

/** Reading what comes with a live service takes longer than most tests. */
export function withoutTools({ LIVE }: Readonly<Record<string, string>>): Record<string, string> {
  return LIVE === 'true' ? { TOOLS_SHIPPED: 'false' } : {}
}
