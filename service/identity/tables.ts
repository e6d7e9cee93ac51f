import { DAY_MS, HOUR_MS, newestMarks, sealedInTurn, type Tables } from '../kit/tables.ts'
import { HANDLE_KEPT_MS } from './rules.ts'

export const identityTables: Tables = {
  sealed: sealedInTurn('identity_signing_secret', `t.user_id || '/' || t.environment || '/signingSecret'`),
  retention: () => ({
    identity_user: { kept: 'one for each person' },
    identity_api_key: { kept: 'one for each key, also a revoked one' },
    identity_signing_secret: { kept: 'one for each account' },
    identity_handle: {
      keptMs: HANDLE_KEPT_MS,
      age: 'released_at',
      key: [
        ['released_at', 'timestamptz'],
        ['handle', 'text'],
      ],
      says: 'Handles that were given up. The current ones stay.',
    },
    identity_grant_count: {
      keptMs: 50 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['source', 'text'],
      ],
      says: 'Counts of free credits by day, mail domain and caller address. The accounts and their credits stay.',
    },
    signin_user: { kept: 'one for each person' },
    signin_account: { kept: 'one for each way to sign in' },
    signin_verification: {
      keptMs: DAY_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'Expired links and codes.',
    },
    signin_session: {
      keptMs: 30 * DAY_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'Expired sessions.',
    },
  }),
  changes: {
    keys: [newestMarks('identity_api_key', 'last_used_at, revoked_at', 100)],
  },
}
