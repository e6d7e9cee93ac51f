import type {
  AuthorizationServer,
  Connection,
  ConnectionSecret,
  SchemeNeeds,
  SecretPlace,
  SecurityScheme,
  ToolAccess,
} from './model.ts'

/**
 * The connection that a call uses: the agent's own before the account's, the default before the others, the newest
 * first. With a name or an id: that one.
 */
export function choose(
  connections: readonly Connection[],
  { agentId, named }: { agentId: string | null; named: string | null },
): Connection | null {
  const usable = connections
    .filter((one) => one.state !== 'pending' && one.state !== 'revoked')
    .filter((one) => one.agentId === null || one.agentId === agentId)
    .filter((one) => named === null || one.id === named || one.name === named)
  const [first] = usable.sort((one, other) => rankOf(other) - rankOf(one) || (one.id < other.id ? 1 : -1))
  return first ?? null
}

function rankOf({ agentId, isDefault, state }: Connection): number {
  return (agentId === null ? 0 : 4) + (isDefault ? 2 : 0) + (state === 'expired' ? 0 : 1)
}

/** The way whose schemes this connection has. Null when it has none of them. */
export function wayOf({ ways }: ToolAccess, has: readonly string[]): SchemeNeeds | null {
  return ways.find((way) => way.length > 0 && way.every(({ scheme }) => has.includes(scheme))) ?? null
}

/** What to ask a provider for: what this tool's operation names, beside what the connection has. */
export function wantedScopes({ ways }: ToolAccess, has: Pick<Connection, 'scopes'> | null): string[] {
  const named = ways.find((way) => way.some(({ scopes }) => scopes.length > 0)) ?? []
  return [...new Set([...(has?.scopes ?? []), ...named.flatMap(({ scopes }) => scopes)])].slice(0, SCOPES_MAX)
}

/** As many as one authorization takes. */
const SCOPES_MAX = 50

/** The values of a connection, each at the place that its scheme says. */
export function placed(
  schemes: readonly SecurityScheme[],
  way: SchemeNeeds,
  { values }: ConnectionSecret,
): { place: SecretPlace; value: string }[] {
  return way.flatMap(({ scheme: name }) => {
    const scheme = schemes.find((one) => one.name === name)
    const value = values[name]
    return scheme === undefined || value === undefined ? [] : [{ place: scheme.place, value }]
  })
}

/** Whether the stored time of its last use is recent. Storing it at each call would double the cost of a connection. */
export function isUsedLately({ lastUsedAt }: Pick<Connection, 'lastUsedAt'>, now: Date): boolean {
  return lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USED_EVERY_MS
}

export const USED_EVERY_MS = 60_000

/**
 * Ahead of the end by a tenth of its life, between one and five minutes, so that no call meets an ended token; but not
 * before half of its life.
 */
export function refreshAt(now: Date, expiresInSeconds: number | null): Date | null {
  if (expiresInSeconds === null) return null
  const ahead = Math.min(AHEAD_MAX, Math.max(AHEAD_MIN, expiresInSeconds / 10), expiresInSeconds / 2)
  return new Date(now.getTime() + (expiresInSeconds - ahead) * 1_000)
}

const AHEAD_MIN = 60
const AHEAD_MAX = 300

/** Whether a token may still be sent: a call takes a moment to arrive. */
export function isFresh({ expiresAt }: Pick<Connection, 'expiresAt'>, now: Date): boolean {
  return expiresAt === null || expiresAt.getTime() > now.getTime() + SPARE_MS
}

const SPARE_MS = 5_000

/** The pause before the next renewal: five seconds, then twice as long each time, up to five minutes. */
export function renewalPauseMs(attempts: number): number {
  return Math.min(300_000, 5_000 * 2 ** Math.min(attempts - 1, 10))
}

/**
 * Whether a renewal that fails without a refusal of the grant is given up: only after days, and after many attempts, since
 * this server may have been away itself. Until then an outage of the provider costs nothing but a wait.
 */
export function isGivenUp(
  { attempts, failingSince }: Pick<Connection, 'attempts' | 'failingSince'>,
  now: Date,
): boolean {
  return attempts >= RENEWALS_MIN && failingSince !== null && now.getTime() - failingSince.getTime() >= OUTAGE_MS
}

const RENEWALS_MIN = 20
const OUTAGE_MS = 3 * 86_400_000

/** The pause before the next revocation: half a minute, then twice as long each time, up to an hour. */
export function pauseMs(attempts: number): number {
  return Math.min(3_600_000, 30_000 * 2 ** Math.min(attempts, 10))
}

/**
 * At some servers a person has one grant for all clients of a project, however often they allowed it: "If you revoke a token
 * that represents a combined authorization, access to all of that authorization's scopes on behalf of the associated user are
 * revoked simultaneously" (developers.google.com/identity/protocols/oauth2/web-server, incremental authorization). So an old
 * token is not revoked for a new one, nor a removed connection's while its account has another one of that project.
 */
export function endsAllGrants({ revocationUrl }: Pick<AuthorizationServer, 'revocationUrl'>): boolean {
  return revocationUrl !== null && ONE_GRANT.has(new URL(revocationUrl).hostname)
}

const ONE_GRANT: ReadonlySet<string> = new Set(['oauth2.googleapis.com', 'accounts.google.com', 'www.googleapis.com'])

/**
 * Whether two clients are of one project: at Google their ids begin with its number. Of other ids only the same one counts.
 */
export function isSameProject(one: string, other: string): boolean {
  const project = /^(\d+)-[a-z0-9]+\.apps\.googleusercontent\.com$/
  const [mine, theirs] = [project.exec(one)?.[1], project.exec(other)?.[1]]
  return one === other || (mine !== undefined && mine === theirs)
}

/** When a provider is asked next about a code: at its own interval, five seconds later each time that it asks for that. */
export function nextPoll(now: Date, interval: number | null, answer: 'pending' | 'slower' | 'silent') {
  const before = interval ?? POLL_SECONDS
  const intervalSeconds = answer === 'slower' ? before + POLL_SECONDS : before
  // A server that does not answer may be overloaded.
  const pause = answer === 'silent' ? Math.max(2 * before, 10) : intervalSeconds
  return { at: new Date(now.getTime() + pause * 1_000), intervalSeconds }
}

const POLL_SECONDS = 5

/** A header or a query takes these. */
export const SECRET_TEXT = /^[\x21-\x7e]{1,4096}$/
export const REQUEST_MS = 15 * 60_000
export const LEASE_MS = 60_000
/** How long a row outlives the beginning of an exchange: longer than a server may take to answer. */
export const EXCHANGE_MS = 120_000
/** A grant whose server does not answer is given up after so many attempts, about a day. */
export const REVOKE_ATTEMPTS = 20
export const CONNECTIONS_MAX = 100

/** What the event about an expired connection says. */
export function expiredOf({ id, name, provider, agentId }: ExpiredConnection): Record<string, string | null> {
  return { connectionId: id, name, provider, agentId }
}

type ExpiredConnection = Pick<Connection, 'id' | 'name' | 'provider' | 'agentId'>
