import { randomBytes } from 'node:crypto'

/** What a service needs to be live, which has both environments; its strangers are on this machine all the same. */
export function liveSettings(): Record<string, string> {
  return {
    LIVE: 'true',
    AUTH_SECRET: 'a'.repeat(40),
    VAULT_KEY: `k:${randomBytes(32).toString('base64')}`,
    ALLOW_PRIVATE_CALLBACKS: 'true',
    RATE_API_PER_MINUTE: '0',
  }
}
