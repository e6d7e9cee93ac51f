import { DAY_MS, type Tables } from '../kit/tables.ts'

/** The catalogue forgets: what was not sold for a quarter of a year is no longer for sale as far as is known here. */
export const discoveryTables: Tables = {
  retention: () => ({
    discovery_resource: {
      keptMs: 90 * DAY_MS,
      age: 'last_at',
      key: [
        ['last_at', 'timestamptz'],
        ['id', 'bigint'],
      ],
      says: 'Listed resources, 90 days after they were last paid for, with what is known of their payers.',
    },
    discovery_check: {
      keptMs: DAY_MS,
      age: 'changed_at',
      key: [
        ['changed_at', 'timestamptz'],
        ['id', 'bigint'],
      ],
      says: 'Whether the address of another seller asked for what was paid. After a day the next sale has it asked again.',
    },
    discovery_payer: {
      keptMs: 60 * DAY_MS,
      age: 'last_at',
      key: [
        ['last_at', 'timestamptz'],
        ['resource_id', 'bigint'],
        ['payer', 'bytea'],
      ],
      says: 'Payers of listed resources; only the last 30 days count for the ranking.',
    },
    discovery_origin: {
      keptMs: 60 * DAY_MS,
      age: 'updated_at',
      key: [
        ['updated_at', 'timestamptz'],
        ['network', 'text'],
        ['address', 'bytea'],
      ],
      says: 'Searches for the origin of payers. A payer that comes back is searched for again.',
    },
    discovery_transfer: {
      keptMs: 60 * DAY_MS,
      age: 'seen_at',
      key: [
        ['seen_at', 'timestamptz'],
        ['network', 'text'],
        ['recipient', 'bytea'],
        ['sender', 'bytea'],
      ],
      says: 'Transfers of USDC to payers of listed resources, which are public on the chain.',
    },
  }),
}
