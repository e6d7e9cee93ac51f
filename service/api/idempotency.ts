import { HOUR_MS, type Tables } from '../kit/tables.ts'
import { canonicalHash } from '../kit/hash.ts'
import type { Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { DomainError, invalid } from '../kit/errors.ts'
import { newId, type Id } from '../kit/ids.ts'
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

  constructor(statements: Statements, clock: Clock) {
    this.statements = statements
    this.clock = clock
  }

  /** Runs `work` once for this request, or returns the answer of its first run. */
  async once(
    ask: IdempotentAsk,
    work: (operation: Id<'op'>) => Promise<Outcome>,
  ): Promise<FirstResponse & { replayed: boolean }> {
    const { scope, request } = hashesOf(ask)
    try {
      for (let attempt = 0; ; attempt++) {
        const claim = await this.claim(scope, request)
        if (!claim.same) {
          throw new DomainError(
            'conflict',
            'idempotency_conflict',
            'This Idempotency-Key was used with another body. Use a new key for a new request.',
          )
        }
        if (claim.answer !== null) return { ...claim.answer, replayed: true }
        if (claim.mine) return { ...(await this.work(scope, claim.operation, work)), replayed: false }
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
    const { scope, request } = hashesOf(ask)
    const claim = await this.claim(scope, request)
    if (claim.mine) await this.abandon(scope)
    return claim.same ? claim.operation : null
  }

  private async work(
    scope: Buffer,
    operation: Id<'op'>,
    work: (operation: Id<'op'>) => Promise<Outcome>,
  ): Promise<FirstResponse> {
    // A run may take longer than one lease, so this process renews the lease while it lives.
    const renewal = setInterval(() => void this.renew(scope).catch(() => undefined), LEASE_MS / 3).unref()
    try {
      const outcome = await work(operation)
      if (outcome.keep) await this.record(scope, { status: outcome.status, body: outcome.replayBody ?? outcome.body })
      else await this.abandon(scope)
      return { status: outcome.status, body: outcome.body }
    } catch (error) {
      await this.abandon(scope).catch(() => undefined)
      throw error
    } finally {
      clearInterval(renewal)
    }
  }

  private async claim(scope: Buffer, request: Buffer): Promise<Claim> {
    const now = this.clock.now()
    const operation = newId('op', now)
    const [row] = await this.statements.run<ClaimRow>(
      CLAIM,
      [scope, request, operation, until(now), now],
      'idempotency_claim',
    )
    // No row: another process holds a lease that has not expired.
    const found = row ?? (await this.statements.run<ClaimRow>(FIND, [scope, request], 'idempotency_find'))[0]
    if (found === undefined) return { mine: false, same: true, answer: null, operation }
    return {
      mine: row !== undefined && found.status === null,
      same: found.same,
      answer: found.status === null ? null : { status: found.status, body: found.answer },
      operation: found.operation,
    }
  }

  private async record(scope: Buffer, answer: FirstResponse): Promise<void> {
    await this.statements.run(
      'UPDATE idempotent_request SET status = $2, answer = $3::json WHERE scope = $1',
      [scope, answer.status, JSON.stringify(answer.body)],
      'idempotency_record',
    )
  }

  private async renew(scope: Buffer): Promise<void> {
    await this.statements.run(
      'UPDATE idempotent_request SET leased_until = $2 WHERE scope = $1 AND status IS NULL',
      [scope, until(this.clock.now())],
      'idempotency_renew',
    )
  }

  /** The next request may take over at once. The operation keeps its name, so nothing it created is created again. */
  private async abandon(scope: Buffer): Promise<void> {
    await this.statements.run(
      'UPDATE idempotent_request SET leased_until = $2 WHERE scope = $1 AND status IS NULL',
      [scope, this.clock.now()],
      'idempotency_renew',
    )
  }
}

export interface Outcome extends FirstResponse {
  /** False when the answer may differ next time: our own faults, rate limits, an unavailable dependency. */
  keep: boolean
  replayBody?: unknown
}

interface Claim {
  mine: boolean
  same: boolean
  answer: FirstResponse | null
  operation: Id<'op'>
}

interface ClaimRow {
  same: boolean
  operation: Id<'op'>
  status: number | null
  answer: unknown
}

/** An agent's key gets only that agent's own answers, never those of another agent of the account. */
export function accountOf({ issuer, subject, agentId }: Caller): string {
  return agentId === null ? `${issuer} ${subject}` : `${issuer} ${subject} ${agentId}`
}

function hashesOf({
  key,
  account,
  environment,
  method,
  path,
  body,
  query = {},
}: IdempotentAsk): Record<'scope' | 'request', Buffer> {
  if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must have 1 to 255 printable characters and no space' })
  const asked = Object.keys(query as object).length === 0 ? (body ?? null) : [body ?? null, query]
  return { scope: canonicalHash([account, environment, method, path, key]), request: canonicalHash(asked) }
}

const KEY = /^[\x21-\x7e]{1,255}$/
const LEASE_MS = 30_000

// Claims a free scope, or one whose lease has expired, only for the same body; the operation keeps its name.
const CLAIM = `
INSERT INTO idempotent_request AS r (scope, request_hash, operation, leased_until, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope) DO UPDATE SET leased_until = $4
WHERE r.status IS NULL AND r.leased_until <= $5 AND r.request_hash = $2
RETURNING r.request_hash = $2 AS same, r.operation, r.status, r.answer`

const FIND = `
SELECT request_hash = $2 AS same, operation, status, answer FROM idempotent_request WHERE scope = $1`

function until(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}

export const apiTables: Tables = {
  retention: () => ({
    idempotent_request: {
      // The API promises 24 hours. Two more hours allow for clock differences and slow requests.
      keptMs: 26 * HOUR_MS,
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
