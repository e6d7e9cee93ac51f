import { request, type Dispatcher } from 'undici'
import type { Chance } from '../chance.ts'
import type { Act } from '../journal.ts'
import type { World } from '../world.ts'

/** One attempt of a thief, and every byte it got back. */
export interface Theft {
  readonly name: string
  readonly kind: TheftKind
  /**
   * Pays for what is asked here, by this authorization or from an account. Null: nothing was paid, so nothing of what is
   * sold may come back.
   */
  readonly payment: { payer: string; nonce: string } | 'account' | null
  received: string
  status: number | null
  /** Started while no fault was made: then the order that the seller promises holds exactly. */
  quiet: boolean
  readonly beganMs: number
}

export interface Robbery {
  world: World
  book: TheftBook
  chance: Chance
  /** The requests of honest clients: a thief reads their authorizations on chain, and may guess the rest. */
  acts: readonly Act[]
}

export type TheftKind =
  | 'replay'
  | 'leave-run'
  | 'leave-tool'
  | 'leave-tool-x402'
  | 'leave-gate'
  | 'cancel'
  | 'empty-gate'
  | 'empty-tool'
  | 'lapse-gate'
  | 'lapse-tool'
  | 'stream'
  | 'flood'
  | 'withdraw'
  | 'stuff'
  | 'escrow'
  | 'take-back'
  | 'spend-out'
  | 'farm'
  | 'refund'
  | 'behind'
  | 'listing'

export interface TheftRequest {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string
}

/** Records what thieves did and got. */
export class TheftBook {
  readonly thefts: Theft[] = []
  private isQuiet = true
  private count = 0
  private readonly origin: string
  private readonly mark: string
  private readonly dispatcher: Dispatcher

  constructor(origin: string, mark: string, dispatcher: Dispatcher) {
    this.origin = origin
    this.mark = mark
    this.dispatcher = dispatcher
  }

  nextName(kind: TheftKind): string {
    return `${this.mark}-thief-${kind}-${String(++this.count)}`
  }

  begin(kind: TheftKind, name: string, payment: Theft['payment']): Theft {
    const theft: Theft = { name, kind, payment, received: '', status: null, quiet: this.isQuiet, beganMs: Date.now() }
    this.thefts.push(theft)
    return theft
  }

  /** Attempts that have just begun will overlap with faults as well. */
  endQuiet(): void {
    this.isQuiet = false
    for (const theft of this.thefts) theft.quiet &&= theft.beganMs < Date.now() - LONGEST_MS
  }

  /** Sends it and keeps the response with its headers; an incomplete response is kept as far as it came. */
  async send(
    theft: Theft,
    { method, path, headers = {}, body, raw }: TheftRequest,
    signal?: AbortSignal,
  ): Promise<void> {
    const content = raw ?? (body === undefined ? null : JSON.stringify(body))
    try {
      const answer = await request(this.origin + path, {
        method,
        dispatcher: this.dispatcher,
        headers: { ...(content === null ? {} : { 'content-type': 'application/json' }), ...headers },
        body: content,
        signal: AbortSignal.any([AbortSignal.timeout(LONGEST_SEND_MS), ...(signal === undefined ? [] : [signal])]),
      })
      theft.status = answer.statusCode
      theft.received += JSON.stringify(answer.headers)
      for await (const chunk of answer.body) theft.received += String(chunk)
    } catch {
      // One side closed the connection: the bytes before that count.
    }
  }
}

const LONGEST_MS = 15_000
/** Also limits streams, which would never end. */
const LONGEST_SEND_MS = 30_000
