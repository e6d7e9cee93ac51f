import { Batch } from '../../kit/batch.ts'
import type { Id } from '../../kit/ids.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import { holdQuota } from '../../kit/quota.ts'
import { DAY_MS, newestMarks, sealedText, type Tables } from '../../kit/tables.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import { nameTaken } from '../errors.ts'
import type { Connection, ConnectionId, ConnectionKind, ConnectionState } from '../model.ts'
import type { Activation, ConnectionStore, NewConnection, NewSecret } from '../ports.ts'
import * as sql from './statements.ts'
import { CONNECTIONS_MAX, USED_EVERY_MS } from '../rules.ts'

/** Connections in PostgreSQL. Every read for an account compares the account in the statement. */
export function createConnectionStore(statements: StatementPool): ConnectionStore {
  const one = async (text: string, values: readonly unknown[], name: string): Promise<Connection | null> =>
    only(await statements.run<ConnectionRow>(text, values, name))

  // Each call of a tool reads them: those of one moment share a statement.
  const ofProvider = new Batch<readonly string[], readonly Connection[]>({
    largest: READ_TOGETHER,
    run: (asked) => readOfProviders(statements, asked),
  })

  return {
    add: (connection) => add(statements, connection),

    find: ({ userId, environment }, id) => one(sql.FIND, [id, userId, environment], 'connection_find'),
    byId: (id) => one(sql.BY_ID, [id], 'connection_by_id'),

    async list({ userId, environment }, { limit, offset }) {
      const [rows, [counted]] = await Promise.all([
        statements.run<ConnectionRow>(sql.LIST, [userId, environment, limit, offset], 'connection_list'),
        statements.run<{ total: bigint }>(sql.COUNT, [userId, environment], 'connection_count'),
      ])
      return { connections: rows.map(fromRow), total: Number(counted?.total ?? 0n) }
    },

    ofProvider: ({ userId, environment }, provider, providerOwnerId) =>
      ofProvider.add([userId, environment, provider, providerOwnerId ?? '']),

    change: (owner, id, change, now) => statements.together((inside) => changeIn(inside, { owner, id, now }, change)),

    async request({ userId, environment }, id, { stateHash, request, expiresAt, poll }, now) {
      const begun = [stateHash, request, expiresAt, now, poll?.at ?? null, poll?.intervalSeconds ?? null]
      const values = [id, userId, environment, ...begun]
      return (await statements.run<ConnectionRow>(sql.REQUEST, values, 'connection_request')).length > 0
    },

    takeRequest: ({ userId, environment }, stateHash, { now, keptUntil }) =>
      statements.together(async (inside) => {
        const rows = await inside.run<ConnectionRow>(
          sql.REQUESTED,
          [stateHash, userId, environment, now],
          'connection_requested',
        )
        const before = only(rows)
        if (before !== null) await inside.run(sql.TAKE_REQUEST, [before.id, keptUntil], 'connection_take_request')
        return before
      }),

    async claimPolls({ now, until }, { all, perAccount }) {
      const values = [now, until, all, perAccount]
      return (await statements.run<ConnectionRow>(sql.CLAIM_POLLS, values, 'connection_claim_polls')).map(fromRow)
    },

    async pollAgain({ id, request }, { at, intervalSeconds }) {
      await statements.run(sql.POLL_AGAIN, [id, request, at, intervalSeconds], 'connection_poll_again')
    },

    takePoll: async ({ id, request }, keptUntil) =>
      (await one(sql.TAKE_POLL, [id, request, keptUntil], 'connection_take_poll')) !== null,

    async endPoll({ id, request }, failure) {
      await statements.run(sql.END_POLL, [id, request, failure], 'connection_end_poll')
    },

    activate: (id, secret, activation) =>
      statements.together((inside) => activateIn(inside, { id, secret }, activation)),

    claim: (id, { leaseId, until, version }, now) =>
      one(sql.CLAIM, [id, version, leaseId, until, now], 'connection_claim'),

    due: async (now, { all, perAccount }) =>
      (await statements.run<ConnectionRow>(sql.DUE, [now, all, perAccount], 'connection_due')).map(fromRow),

    async renewed(id, leaseId, { secret, expiresAt, dueAt, scopes }, now) {
      return (
        (await one(sql.RENEWED, [id, leaseId, secret, expiresAt, dueAt, scopes, now], 'connection_renewed')) !== null
      )
    },

    async postpone(id, leaseId, failure, { dueAt, now }) {
      await statements.run(sql.POSTPONE, [id, leaseId, failure, dueAt, now], 'connection_postpone')
    },

    async expire(id, which, { failure, tell, now }) {
      await statements.together(async (inside) => {
        const [text, name, value] =
          'leaseId' in which
            ? ([sql.EXPIRE_LEASED, 'connection_expire_leased', which.leaseId] as const)
            : ([sql.EXPIRE_VERSION, 'connection_expire_version', which.version] as const)
        const ended = only(await inside.run<ConnectionRow>(text, [id, value, failure, now], name))
        if (ended !== null) await tell(inside, ended)
      })
    },

    async hurry(id, version, failure, now) {
      await statements.run(sql.HURRY, [id, version, failure, now], 'connection_hurry')
    },

    async fail(id, version, failure) {
      await statements.run(sql.FAIL, [id, version, failure], 'connection_fail')
    },

    remove: ({ userId, environment }, id, now) => one(sql.REMOVE, [id, userId, environment, now], 'connection_remove'),

    async revoked(id, version, again) {
      await statements.run(sql.REVOKED, [id, version, again], 'connection_revoked')
    },

    async used(id, now) {
      await statements.run(sql.USED, [id, now, new Date(now.getTime() - USED_EVERY_MS)], 'connection_used')
    },

    async forget(id) {
      await statements.run(sql.FORGET, [id], 'connection_forget')
    },

    async forgetRequests(now) {
      await statements.run(sql.FORGET_PENDING, [now], 'connection_forget_pending')
    },
  }
}

/** Each asks for the connections of one account to one provider: account, environment, provider and its owner. */
async function readOfProviders(
  statements: StatementPool,
  asked: readonly (readonly string[])[],
): Promise<(readonly Connection[])[]> {
  const keys = asked.map((values) => JSON.stringify(values))
  const places = new Map([...new Set(keys)].map((key, place) => [key, place]))
  const columns = [0, 1, 2, 3].map((column) =>
    [...places.keys()].map((key) => (JSON.parse(key) as string[])[column] ?? ''),
  )
  const rows = await statements.run<ConnectionRow & { place: bigint }>(
    sql.OF_PROVIDERS,
    columns,
    'connection_of_providers',
  )
  const found = [...places.keys()].map((): Connection[] => [])
  for (const row of rows) found[Number(row.place) - 1]?.push(fromRow(row))
  return keys.map((key) => found[places.get(key) ?? 0] ?? [])
}

/** Within a transaction: what the new secret takes the place of stays, in a row of its own, until it was revoked. */
async function activateIn(
  inside: Statements,
  { id, secret: fresh }: { id: ConnectionId; secret: NewSecret },
  { now, kind, replaced }: Activation,
): Promise<Connection | null> {
  const rows = await inside.run<ConnectionRow>(`${sql.BY_ID} FOR UPDATE`, [id], 'connection_by_id_for_update')
  const before = only(rows)
  const old = before?.secret == null || before.state === 'revoked' ? null : replaced(before)
  if (old !== null) await inside.run(sql.REPLACED, [id, old.id, old.secret, now], 'connection_replaced')
  const { secret, expiresAt, dueAt, scopes, hosts = null, schemes = null } = fresh
  const values = [id, secret, expiresAt, dueAt, scopes, hosts, schemes, now, kind]
  return only(await inside.run<ConnectionRow>(sql.ACTIVATE, values, 'connection_activate'))
}

/** Within a transaction: the new default takes the place of the old one. */
async function changeIn(
  inside: Statements,
  { owner: { userId, environment }, id, now }: { owner: Owner; id: string; now: Date },
  { name = null, isDefault = null }: { name?: string | null | undefined; isDefault?: boolean | null | undefined },
): Promise<Connection | null> {
  const own = [id, userId, environment]
  const before = only(await inside.run<ConnectionRow>(`${sql.FIND} FOR UPDATE`, own, 'connection_find_for_update'))
  if (before === null || before.state === 'revoked') return null
  const whose = whoseOf(before)
  if (name !== null && name !== before.name) {
    const same = await inside.run<ConnectionRow>(sql.OF_PROVIDER, whose.slice(0, 4), 'connection_of_provider')
    if (same.some((row) => row.name === name && row.agent_id === (before.agentId ?? ''))) throw nameTaken(name)
  }
  if (isDefault === true) await inside.run(sql.CLEAR_DEFAULT, whose, 'connection_clear_default')
  return only(await inside.run<ConnectionRow>(sql.CHANGE, [...own, name, isDefault, now], 'connection_change'))
}

async function add(statements: StatementPool, connection: NewConnection): Promise<Connection> {
  const { owner } = connection
  return await statements.together(async (inside) => {
    const own = [owner.userId, owner.environment]
    const [known] = await inside.run<ConnectionRow>(sql.FIND, [connection.id, ...own], 'connection_find')
    if (known !== undefined) return fromRow(known)
    await holdQuota(inside, {
      quota: 'tool_connections',
      owner,
      limit: CONNECTIONS_MAX,
      values: own,
      rows: "connection WHERE user_id = $1 AND environment = $2 AND state <> 'revoked'",
    })
    const whose = whoseOf(connection)
    const there = await inside.run<ConnectionRow>(sql.OF_PROVIDER, whose.slice(0, 4), 'connection_of_provider')
    const same = there.filter(({ agent_id: agentId }) => agentId === (connection.agentId ?? ''))
    if (same.some(({ name }) => name === connection.name)) throw nameTaken(connection.name)
    const isDefault = connection.isDefault || same.length === 0
    if (isDefault) await inside.run(sql.CLEAR_DEFAULT, whose, 'connection_clear_default')
    const added = only(await inside.run<ConnectionRow>(sql.ADD, [...valuesOf(connection), isDefault], 'connection_add'))
    if (added === null) throw new Error('a new connection was not stored')
    return added
  })
}

interface ConnectionRow {
  id: Id<'cnx'>
  user_id: string
  environment: Environment
  agent_id: string
  provider: string
  provider_owner_id: string
  name: string
  is_default: boolean
  kind: ConnectionKind
  state: ConnectionState
  schemes: string[]
  hosts: string[]
  scopes: string[]
  secret: string | null
  version: number
  request: string | null
  request_expires_at: Date | null
  poll_at: Date | null
  poll_interval_seconds: number | null
  expires_at: Date | null
  due_at: Date | null
  lease_until: Date | null
  attempts: number
  failing_since: Date | null
  failure: string | null
  last_used_at: Date | null
  created_at: Date
  updated_at: Date
}

function only([row]: readonly ConnectionRow[]): Connection | null {
  return row === undefined ? null : fromRow(row)
}

function fromRow(row: ConnectionRow): Connection {
  const { id, provider, name, kind, state, schemes, hosts, scopes, secret, version, request, attempts, failure } = row
  return {
    id,
    provider,
    name,
    kind,
    state,
    schemes,
    hosts,
    scopes,
    secret,
    version,
    request,
    attempts,
    failure,
    owner: { userId: row.user_id, environment: row.environment },
    agentId: row.agent_id === '' ? null : row.agent_id,
    providerOwnerId: row.provider_owner_id === '' ? null : row.provider_owner_id,
    isDefault: row.is_default,
    requestExpiresAt: row.request_expires_at,
    pollIntervalSeconds: row.poll_interval_seconds,
    expiresAt: row.expires_at,
    dueAt: row.due_at,
    leaseUntil: row.lease_until,
    failingSince: row.failing_since,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

type Whose = Pick<Connection, 'owner' | 'provider' | 'providerOwnerId' | 'agentId'>

function whoseOf({ owner: { userId, environment }, provider, providerOwnerId, agentId }: Whose): unknown[] {
  return [userId, environment, provider, providerOwnerId ?? '', agentId ?? '']
}

function valuesOf(connection: NewConnection): unknown[] {
  const { id, name, kind, schemes, hosts, scopes, secret, request, createdAt } = connection
  const state: ConnectionState = secret === null ? 'pending' : 'active'
  const waits = [request?.request ?? null, request?.stateHash ?? null, request?.expiresAt ?? null]
  const opened = [secret?.secret ?? null, secret?.expiresAt ?? null, secret?.dueAt ?? null]
  return [id, ...whoseOf(connection), name, kind, state, schemes, hosts, scopes, ...opened, ...waits, createdAt]
}

const READ_TOGETHER = 100

export const connectionTables: Tables = {
  sealed: [
    sealedText('connection', 'secret', `'connection/' || t.id || '/secret'`),
    sealedText('connection', 'request', `'connection/' || t.id || '/request'`),
  ],
  retention: () => ({
    connection: {
      keptMs: 30 * DAY_MS,
      age: 'updated_at',
      key: [
        ['updated_at', 'timestamptz'],
        ['id', 'text'],
      ],
      // The others are their owner's until they remove them.
      unless: "t.state <> 'revoked'",
      says: 'Removed connections to providers of tools, without their secrets, 30 days after they were removed.',
    },
  }),
  changes: { tools: [newestMarks('connection', 'state, failure, last_used_at, updated_at', 100)] },
}
