import { isRecord } from '../../../ui-kit/provider.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { randomToken } from '../pay/authorization.ts'
import type { Api } from './api.ts'
import type { Raw } from './form.ts'
import { hashOf } from './order.ts'
import type { Prefill } from './prefill.ts'
import type { Handover, State } from './state.ts'

/** Stores what stands in the form for an hour, so that no address has to contain it. */
export async function handOver(api: Api, { page, order, wish }: State, raw: Raw): Promise<Handover | null> {
  // The address for the receipt is left out: a link must not say where that goes.
  const values = Object.fromEntries(page.checkout.fields.map(({ name }) => [name, raw[name] ?? '']))
  const content = order === null ? { values, choice: wish.choice } : { order: hashOf(order) }
  return await api.putDraft(randomToken(), JSON.stringify(content))
}

/** Fills the form in with what another device has stored. It is a draft, like what a link fills in: nothing is sent by it. */
export async function takeOver({ store, api, draft, home }: TakeOver): Promise<void> {
  const content = read(await api.draft(draft))
  if (content === null) {
    store.change({ continued: false })
    return
  }
  const { order, values, choice } = content
  // The page of an order is another address.
  if (typeof order === 'string' && order.startsWith('#')) location.replace(home + order)
  if (!isRecord(values)) return
  const { fields } = store.read().page.checkout
  const known = fields.flatMap(({ name, type }): [string, string | boolean][] => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === (type === 'boolean' ? 'boolean' : 'string') ? [[name, value as string | boolean]] : []
  })
  const prefill: Prefill = {
    values: new Map(known),
    locked: new Set(),
    choice: isRecord(choice) ? choice : {},
    key: `:${draft.slice(0, KEY_CHARACTERS)}`,
  }
  store.change({ prefill, continued: true })
}

interface TakeOver {
  store: Watched<State>
  api: Api
  /** The token in the address. */
  draft: string
  /** The checkout's own path. */
  home: string
}

function read(text: string | null): Record<string, unknown> | null {
  try {
    const content: unknown = JSON.parse(text ?? 'null')
    return isRecord(content) ? content : null
  } catch {
    return null
  }
}

/** Enough to tell two of them apart. */
const KEY_CHARACTERS = 16
