import type { Field } from '../../model.ts'
import { check, type Choice } from './form.ts'

/** What a link fills into the form. It is a draft: nothing is sent by it, and the server checks what the form sends. */
export interface Prefill {
  /** By field; a checkbox has `true` or `false`. */
  values: ReadonlyMap<string, string | boolean>
  /** Shown and not changed. This is for the buyer's convenience: another link, or another program, can send anything. */
  locked: ReadonlySet<string>
  /** What was chosen besides the fields, where it does not come from the address. */
  choice?: Choice
  /** Names the draft, so that what was typed after one link is not shown after another. */
  key: string
}

/**
 * From the address: `?site=…` or `?f.site=…` for the field `site`, and `lock=site,other`. Only the seller's fields are
 * read, so no link changes the price, the recipient or the network. Names that the page itself uses need the `f.`.
 */
export function prefillIn(search: string, fields: readonly Field[]): Prefill {
  const query = new URLSearchParams(search)
  const found = fields.flatMap((field): [Field, string][] => {
    const text = query.get(`f.${field.name}`) ?? (RESERVED.has(field.name) ? null : query.get(field.name))
    return text === null || text.length > LENGTH_MAX ? [] : [[field, text]]
  })
  const values = new Map(found.map(([field, text]) => [field.name, valueOf(field, text)] as const))
  const wanted = new Set((query.get('lock') ?? '').split(',').map((name) => name.trim()))
  // A value that the form would refuse must stay changeable, or nobody could pay.
  const { errors } = check(fields, Object.fromEntries(values))
  const locked = [...values.keys()].filter((name) => wanted.has(name) && values.get(name) !== '' && !(name in errors))
  const key = found.map(([{ name }, text]) => `${name}=${text}`).join('&')
  return { values, locked: new Set(locked), key: key === '' ? '' : `:${key.slice(0, KEY_MAX)}` }
}

function valueOf({ type, options }: Field, text: string): string | boolean {
  if (type === 'boolean') return TICKED.has(text.toLowerCase())
  return type === 'select' && options?.includes(text) !== true ? '' : text
}

const TICKED = new Set(['true', '1', 'yes', 'on'])
/** The page's own parameters. */
const RESERVED = new Set(['lang', 'lock', 'token', 'payment', 'embed', 'tab', 'plan'])
const LENGTH_MAX = 2_000
const KEY_MAX = 500
