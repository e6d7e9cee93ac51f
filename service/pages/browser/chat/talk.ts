import { randomHex, randomToken } from '../pay/authorization.ts'
import type { Api } from '../checkout/api.ts'
import { delayOf, wait } from '../checkout/found.ts'
import type { Refusal } from '../checkout/form.ts'
import { isOver, isPaid, type Acts, type State } from '../checkout/state.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { openWatched, remember, remembered, type Watched } from '../../../ui-kit/watched.ts'
import { sentenceOf } from '../words/reasons.ts'
import { say, type PlainKey } from '../words/say.ts'
import { isHeldUp, type Balance, type Talk, type Turn } from './model.ts'

/** The longest message; the service decides. */
const MESSAGE_MAX = 4_000

/** The conversation of this device: what was said, and the message that is sent next. */
export function openTalk({ store, api, home, acts, now }: TalkDeps) {
  const { id } = store.read().page.checkout
  const place = `coinslot:chat:${id}`
  const talk = openWatched<Talk>({
    token: null,
    balance: null,
    turns: [],
    lines: {},
    text: draftIn(place)?.message ?? '',
    sending: null,
    fault: null,
  })
  const followed = new Set<string>()

  async function load(token: string): Promise<void> {
    let read = await chatAt(home, token)
    for (let attempt = 0; read === 'unknown'; attempt++) {
      await wait(delayOf(null, attempt))
      read = await chatAt(home, token)
    }
    if (read === 'gone') talk.change({ token: null, balance: null, turns: [] })
    else talk.change({ token, balance: read.pass, turns: read.turns })
    for (const turn of talk.read().turns) if (turn.status === 'working') follow(turn, token)
  }

  function follow({ paymentId, token: proof }: Turn, token: string): void {
    if (followed.has(paymentId)) return
    followed.add(paymentId)
    const stop = api.follow(paymentId, proof, (state) => {
      const lines = state.delivery?.progress.map(({ text }) => text) ?? []
      talk.change({ lines: { ...talk.read().lines, [paymentId]: lines } })
      if (!isOver({ state, slow: false, live: true })) return
      stop()
      void load(token)
    })
  }

  /** Sends the same message with the same key until there is an answer, so that it is one turn. */
  async function send(): Promise<void> {
    const { text, token, sending } = talk.read()
    const message = text.trim()
    const fault = faultOf(message)
    if (sending !== null || token === null || fault !== null) {
      talk.change({ fault })
      return
    }
    const before = draftIn(place)
    const draft = before?.message === message && before.key !== undefined ? before : newDraft(message)
    write(place, draft)
    talk.change({ sending: message, fault: null })
    for (let attempt = 0; ; attempt++) {
      const outcome = await api.pay({ input: { message }, pass: token, token: draft.token ?? '' }, draft.key ?? null)
      if (outcome.kind === 'unknown') {
        await wait(delayOf(outcome.retryAfterMs, attempt))
        continue
      }
      const isRefused = outcome.kind === 'refused'
      // The next attempt is another request.
      write(place, isRefused ? { message } : null)
      await load(token)
      talk.change({ sending: null, ...(isRefused ? { fault: sentence(outcome.refusal) } : { text: '' }) })
      return
    }
  }

  /** The pass that a purchase gave, or that this device has. */
  let known: string | null = null
  let paid: string | null = null
  const look = (): void => {
    const { ahead, progress } = store.read()
    const token = ahead.pass?.token ?? null
    const payment = progress !== null && isPaid(progress) ? progress.state?.payment : undefined
    const bought = payment?.pass?.token ?? (payment?.pass == null ? null : talk.read().token)
    if (payment !== undefined && bought !== null && payment.id !== paid) {
      paid = payment.id
      known = bought
      write(place, null)
      // The purchase was the first turn: from here on the conversation shows it.
      void load(bought).then(() => {
        talk.change({ text: '', fault: null })
        acts.again()
      })
    } else if (token !== null && token !== known) {
      known = token
      void load(token)
    }
  }
  store.watch(look)
  look()

  return {
    talk,
    send,
    isBusy: () => isHeldUp(talk.read(), now()),
    enter(text: string): void {
      write(place, text === '' ? null : { message: text })
      talk.change({ text, fault: null })
    },
    faultIn: (text: string): string | null => faultOf(text.trim()),
  }
}

interface TalkDeps {
  store: Watched<State>
  api: Api
  /** The checkout's own path. */
  home: string
  acts: Pick<Acts, 'again'>
  /** The service's time. */
  now: () => number
}

interface Draft {
  message: string
  /** Set once it was sent. */
  key?: string
  token?: string
}

function newDraft(message: string): Draft {
  return { message, key: randomHex(), token: randomToken() }
}

function write(place: string, draft: Draft | null): void {
  remember(place, draft === null ? null : JSON.stringify(draft), ofTab)
}

function draftIn(place: string): Draft | null {
  try {
    const kept: unknown = JSON.parse(remembered(place, ofTab) ?? 'null')
    return isRecord(kept) && typeof kept['message'] === 'string' ? (kept as unknown as Draft) : null
  } catch {
    return null
  }
}

const ofTab = (): Storage => sessionStorage

function faultOf(message: string): string | null {
  if (message === '') return say('form.required')
  return Array.from(message).length > MESSAGE_MAX ? say('form.atMost', { count: MESSAGE_MAX }) : null
}

function sentence(refusal: Refusal): string {
  const key = SENTENCES[refusal.code]
  return key === undefined ? sentenceOf(refusal) : say(key)
}

const SENTENCES: Readonly<Record<string, PlainKey>> = {
  turn_under_way: 'chat.underWay',
  pass_used_up: 'chat.usedUp',
  pass_ended: 'chat.ended',
  pass_suspended: 'chat.ended',
}

async function chatAt(home: string, token: string): Promise<{ pass: Balance; turns: Turn[] } | 'gone' | 'unknown'> {
  try {
    const headers = { accept: 'application/json', 'x-pass': token }
    const response = await fetch(`${home}/chat`, { headers, cache: 'no-store', signal: AbortSignal.timeout(20_000) })
    if (response.status === 404) return 'gone'
    return response.ok ? ((await response.json()) as { pass: Balance; turns: Turn[] }) : 'unknown'
  } catch {
    return 'unknown'
  }
}
