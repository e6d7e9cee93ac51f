import { DAY_MS, HOUR_MS, type Tables } from '../kit/tables.ts'

export const oauthTables: Tables = {
  retention: () => ({
    oauth_client: {
      keptMs: HOUR_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'Registrations of MCP clients that no owner allowed anything within a day, or that were unused for 90 days.',
    },
    oauth_device: {
      keptMs: HOUR_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['device_hash', 'bytea'],
      ],
      says: 'Codes with which command lines were signed in, ten minutes after they began.',
    },
    oauth_grant: {
      keptMs: DAY_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['key_id', 'text'],
      ],
      // Its key is still to be revoked.
      unless: 't.ended_at IS NULL',
      says: 'Connections of MCP clients that ended or were unused for 30 days. Their API keys stay, revoked.',
    },
  }),
}
