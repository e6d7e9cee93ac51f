import type { Sweeper } from '../queue/model.ts'
import type { Grants } from './service/grants.ts'

export function oauthSweepers(grants: Grants): Sweeper[] {
  return [{ name: 'oauth.grants', everyMs: 60_000, run: (now) => grants.endExpired(now) }]
}
