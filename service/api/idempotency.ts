import { type Tables } from '../kit/tables.ts'
import { Batch } from '../kit/batch.ts'
import { canonicalHash } from '../kit/hash.ts'
import type { Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { DomainError, invalid } from '../kit/errors.ts'
import { KEY_MS, newId, type Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'

export interface IdempotentAsk {
  key: string
  account: string
  environment: string
  method: string
  path: string
  body: unknown
  /** What the address asked for behind its path, where that changes the answer. */
  query?: unknown
}

export interface FirstResponse {
  status: number
  body: unknown
}

/**
 * A second request with the same key and body gets the first answer; while the first one runs, it waits. The claim
 * names the operation before the work starts, and everything that the work creates takes its id from that name. If the
 * process dies after it moved the money and before it answered, a repeated request resumes under the same name, finds
 * that the money has moved already, and returns the lost answer. The money's primary key guarantees that nothing
 * happens twice, not this table.
 */
export class Idempotency {
  private readonly statements: Statements
  private readonly clock: Clock
  /** By scope, those of this process that wait, in their order. */
  private readonly waiting = new Map<string, (() => void)[]>()
  private readonly claims = new Batch<Request, Claim>({ largest: BATCH_MAX, run: (requests) => this.claim(requests) })
  private readonly leases = new Batch<Lease, true>({ largest: BATCH_MAX, run: (leases) => this.lease(leases) })
  private readonly answers = new Batch<StoredResponse, true>({
    largest: BATCH_MAX,
    run: (answers) => this.record(answers),
  })

  constructor(statements: Statements, clock: Clock) {
    this.statements = statements
    this.clock = clock
  }

  /** Runs `work` once for this request, or returns the answer of its first run. */
  async once(ask: IdempotentAsk, work: Work): Promise<FirstResponse & { replayed: boolean }> {
    const request = toRequest(ask)
    const { scope } = request
    try {
      for (let attempt = 0; ; attempt++) {
        const claim = await this.claims.add(request)
        if (!claim.same) {
          throw new DomainError(
            'conflict',
            'idempotency_conflict',
            'This Idempotency-Key was used with another body. Use a new key for a new request.',
          )
        }
        if (claim.answer !== null) return { ...claim.answer, replayed: true }
        if (claim.mine) return { ...(await this.work(request, claim, work)), replayed: false }
        await this.wait(scope, Math.min(25 * 2 ** attempt, 400))
      }
    } finally {
      // One at a time: of those that wake, only one could claim.
      this.waiting.get(scope.toString('base64'))?.[0]?.()
    }
  }

  /** Until a request of this process ends, or for this long: another process may run the first one. */
  private async wait(scope: Buffer, ms: number): Promise<void> {
    const name = scope.toString('base64')
    const line = this.waiting.get(name) ?? []
    this.waiting.set(name, line)
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        line.splice(line.indexOf(wake), 1)
        if (line.length === 0) this.waiting.delete(name)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      line.push(wake)
    })
  }

  /** The operation under which `once` will run this request. Null where it will refuse it. */
  async operationOf(ask: IdempotentAsk): Promise<Id<'op'> | null> {
    if (!KEY.test(ask.key)) return null
    const request = toRequest(ask)
    const claim = await this.claims.add(request)
    if (claim.mine) await this.abandon(request.scope)
    return claim.same ? claim.operation : null
  }

  private async work({ scope }: Request, { operation, mayHaveBegun }: Claim, work: Work): Promise<FirstResponse> {
    // A run may take longer than one lease, so this process renews the lease while it lives.
    const renewal = setInterval(() => void this.renew(scope).catch(() => undefined), LEASE_MS / 3).unref()
    try {
      const { status, body, replayBody, keep } = await work(operation, mayHaveBegun, scope)
      if (keep) await this.keep({ scope, status, text: JSON.stringify(replayBody ?? body) })
      else await this.abandon(scope)
      return { status, body }
    } catch (error) {
      await this.abandon(scope).catch(() => undefined)
      throw error
    } finally {
      clearInterval(renewal)
    }
  }

  private async claim(requests: readonly Request[]): Promise<Claim[]> {
    const now = this.clock.now()
    const asks = requests.map(({ scope, hash }) => {
      return { scope, hash, name: scope.toString('base64'), operation: newId('op', now) }
    })
    // A statement writes a row once: of several requests with one key the first claims it.
    const firsts = new Map(asks.toReversed().map((ask) => [ask.name, ask]))
    const columns = (['scope', 'hash', 'operation'] as const).map((name) =>
      [...firsts.values()].map((ask) => ask[name]),
    )
    const claimed = await this.rows(CLAIM, [...columns, until(now), now], 'idempotency_claim')
    const isMine = (ask: (typeof asks)[number]): boolean => firsts.get(ask.name) === ask && claimed.has(ask.name)
    const others = asks.filter((ask) => !isMine(ask)).map(({ scope }) => scope)
    const found = others.length === 0 ? claimed : await this.rows(FIND, [others], 'idempotency_find')
    return asks.map((ask): Claim => {
      const mine = isMine(ask)
      const row = (mine ? claimed : found).get(ask.name)
      // Removed since the statement before: the next attempt claims it.
      if (row === undefined) return { mine, same: true, answer: null, operation: ask.operation, mayHaveBegun: true }
      const { hash, operation, status, answer } = row
      return {
        mine,
        same: hash.equals(ask.hash),
        answer: status === null ? null : { status, body: answer },
        operation,
        mayHaveBegun: operation !== ask.operation,
      }
    })
  }

  private async rows(text: string, values: readonly unknown[], name: string): Promise<Map<string, Row>> {
    const rows = await this.statements.run<Row>(text, values, name)
    return new Map(rows.map((row) => [row.scope.toString('base64'), row]))
  }

  private async keep(answer: StoredResponse): Promise<void> {
    // A large answer does not delay small ones.
    if (answer.text !== undefined && answer.text.length > LARGE) await this.record([answer])
    else await this.answers.add(answer)
  }

  private async record(answers: readonly StoredResponse[]): Promise<true[]> {
    await this.statements.run(
      RECORD,
      [answers.map(({ scope }) => scope), answers.map(({ status }) => status), answers.map(({ text }) => text)],
      'idempotency_record',
    )
    return answers.map(() => true)
  }

  private async renew(scope: Buffer): Promise<void> {
    await this.leases.add({ scope, leasedUntil: until(this.clock.now()) })
  }

  /** The next request may take over at once. The operation keeps its name, so nothing it created is created again. */
  private async abandon(scope: Buffer): Promise<void> {
    await this.leases.add({ scope, leasedUntil: this.clock.now() })
  }

  private async lease(leases: readonly Lease[]): Promise<true[]> {
    // An operation that ends while its lease is renewed gives it up.
    const lasts = [...new Map(leases.map((lease) => [lease.scope.toString('base64'), lease])).values()]
    const values = [lasts.map(({ scope }) => scope), lasts.map(({ leasedUntil }) => leasedUntil)]
    await this.statements.run(RENEW, values, 'idempotency_renew')
    return leases.map(() => true)
  }
}

export interface Outcome extends FirstResponse {
  /** False when the answer may differ next time: our own faults, rate limits, an unavailable dependency. */
  keep: boolean
  replayBody?: unknown
}

/**
 * `mayHaveBegun`: an earlier request may have begun the operation; false where the request's key is new. `keyHash` names the
 * key, its account and its address: it is the same in a database that was restored and does not know the operation.
 */
type Work = (operation: Id<'op'>, mayHaveBegun: boolean, keyHash: Buffer) => Promise<Outcome>

/** A request as its row has it. */
interface Request {
  /** The hash of its key and of the account that sent it. */
  scope: Buffer
  /** The hash of its body and query. */
  hash: Buffer
}

interface Lease {
  scope: Buffer
  leasedUntil: Date
}

interface StoredResponse extends Pick<FirstResponse, 'status'> {
  scope: Buffer
  text: string | undefined
}

interface Claim {
  mine: boolean
  same: boolean
  answer: FirstResponse | null
  operation: Id<'op'>
  mayHaveBegun: boolean
}

interface Row extends Request {
  operation: Id<'op'>
  status: number | null
  answer: unknown
}

/** An agent's key gets only that agent's own answers, never those of another agent of the account. */
export function accountOf({ issuer, subject, agentId }: Caller): string {
  return agentId === null ? `${issuer} ${subject}` : `${issuer} ${subject} ${agentId}`
}

function toRequest({ key, account, environment, method, path, body, query = {} }: IdempotentAsk): Request {
  if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must have 1 to 255 printable characters and no space' })
  const asked = Object.keys(query as object).length === 0 ? (body ?? null) : [body ?? null, query]
  return { scope: canonicalHash([account, environment, method, path, key]), hash: canonicalHash(asked) }
}

const KEY = /^[\x21-\x7e]{1,255}$/
const LEASE_MS = 30_000
const BATCH_MAX = 64
/** An answer of more characters is stored by a statement of its own. */
const LARGE = 65_536

// Claims a free scope, or one whose lease has expired, only for the same body; the operation keeps its name.
const CLAIM = `
INSERT INTO idempotent_request AS r (scope, request_hash, operation, leased_until, created_at)
SELECT scope, hash, operation, $4, $5 FROM unnest($1::bytea[], $2::bytea[], $3::text[]) AS ask(scope, hash, operation) ORDER BY scope
ON CONFLICT (scope) DO UPDATE SET leased_until = $4
WHERE r.status IS NULL AND r.leased_until <= $5 AND r.request_hash = excluded.request_hash
RETURNING r.scope, r.request_hash AS hash, r.operation, r.status, r.answer`

const FIND = `
SELECT scope, request_hash AS hash, operation, status, answer FROM idempotent_request WHERE scope = ANY ($1::bytea[])`

// Rows are locked in the order of their scopes, as claims lock them.
const HELD = `
WITH held AS MATERIALIZED (
  SELECT scope FROM idempotent_request WHERE scope = ANY ($1::bytea[]) ORDER BY scope FOR NO KEY UPDATE
)`

const RENEW = `${HELD}
UPDATE idempotent_request r SET leased_until = ask.leased_until
FROM unnest($1::bytea[], $2::timestamptz[]) AS ask(scope, leased_until) JOIN held USING (scope)
WHERE r.scope = ask.scope AND r.status IS NULL`

const RECORD = `${HELD}
UPDATE idempotent_request r SET status = ask.status, answer = ask.answer
FROM unnest($1::bytea[], $2::int[], $3::json[]) AS ask(scope, status, answer) JOIN held USING (scope)
WHERE r.scope = ask.scope`

function until(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}

export const apiTables: Tables = {
  retention: () => ({
    idempotent_request: {
      keptMs: KEY_MS,
      age: 'created_at',
      key: [
        ['created_at', 'timestamptz'],
        ['scope', 'bytea'],
      ],
      // $1 is the retention cutoff. The lease is compared with the service's clock, not with the database server's.
      unless: `t.status IS NULL AND t.leased_until >= $1::timestamptz + interval '26 hours'`,
      says: 'Keys of requests that were answered or abandoned.',
    },
  }),
}
