import { createHash } from 'node:crypto'

/** A row by the names of its columns, in the form that PostgreSQL takes. */
export type Row = Readonly<Record<string, unknown>>

const MINUTE_MS = 60_000
export const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE_MS)
export const EARLIER = ago(60)
export const ENDED = ago(59)
export const LATER = ago(-120)
export const AT = { created_at: EARLIER }
export const CHANGED = { created_at: EARLIER, updated_at: EARLIER }
export const DAY = EARLIER.toISOString().slice(0, 10)

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
/** Ids have no letters that look like digits. */
export const id = (prefix: string, name: string): string =>
  `${prefix}_${name.replaceAll(/[il]/g, '1').replaceAll('o', '0').replaceAll('u', 'v').padStart(26, '0')}`
export const json = JSON.stringify

export const USER = id('usr', 'aged')
export const CREATOR = id('usr', 'maker')
export const KEY = `csk_test_${'v'.repeat(43)}`
export const OWNED = { user_id: USER, environment: 'sandbox' }
export const PAYER = `0x${'1'.repeat(40)}`
export const SELLER = `0x${'2'.repeat(40)}`
export const ADDRESS = Buffer.alloc(20, 1)
export const HASH = Buffer.alloc(32, 2)
export const RDA = id('rda', 'aged')
export const CHECKOUT = id('chk', 'aged')
export const PAYWALL = id('pwl', 'aged')
export const TOOL = id('tool', 'aged')
export const AGENT = id('agt', 'aged')
export const RUN = id('run', 'aged')
/** A run whose process ended before its capture: its hold goes back. */
export const LOST_RUN = id('run', 'lost')

/** What a secret is sealed with: its plain text and what it is bound to. */
export type Seal = (plain: string, context: string) => string
