import { isDeepStrictEqual } from 'node:util'
import { cut, plainAnswer } from '../../kit/answer.ts'
import { invalid } from '../../kit/errors.ts'
import type { Field } from '../../kit/fields.ts'
import { tooManyTurns, turnUnderWay } from '../errors.ts'
import type { ChatContext, Terms, Turn } from '../model.ts'

/** The longest message, in characters. */
const MESSAGE_MAX = 4_000

/** The form of every chat. */
export const CHAT_FIELDS: readonly Field[] = [
  {
    name: 'message',
    label: 'Message',
    type: 'textarea',
    required: true,
    placeholder: null,
    options: null,
    description: null,
    default: null,
    min: null,
    max: MESSAGE_MAX,
    pattern: null,
    patternMessage: null,
  },
]

/** A chat is paid ahead, each answer is shown, and a turn that fails is given back: what does not fit is refused. */
export function assertChat(terms: Terms): void {
  const { chat, after, fields, pricing, plans, responseMode, capture, trialRuns, redirectUrl } = terms
  if (chat === null) return
  if (after.kind !== 'webhook') throw invalid({ after: 'must be webhook with chat: a workflow answers' })
  if (fields.length > 0 && !isDeepStrictEqual(fields, CHAT_FIELDS)) {
    throw invalid({ fields: 'must be absent with chat: its form is one message' })
  }
  if (pricing.kind !== 'fixed') throw invalid({ pricing: 'must be fixed with chat: buyers choose a plan' })
  if (plans.length === 0) throw invalid({ plans: 'must have a plan with chat: it is what turns are paid with' })
  if (responseMode !== 'lastNode') throw invalid({ responseMode: 'must be lastNode with chat: each answer is shown' })
  if (capture !== 'onPayment') throw invalid({ capture: 'must be onPayment with chat: turns are paid ahead' })
  if (trialRuns > 0) throw invalid({ trialRuns: 'must be 0 with chat: a turn is paid with a plan' })
  if (redirectUrl !== null) throw invalid({ redirectUrl: 'must be absent with chat: the customer stays in it' })
}

export function withChatForm<T extends Pick<Terms, 'chat' | 'fields'>>(terms: T): T {
  return terms.chat === null || terms.fields.length > 0 ? terms : { ...terms, fields: CHAT_FIELDS }
}

/** After it, a turn that was never answered does not keep the chat from going on. */
const WORKING_MS = 600_000
const RECENT_MS = 60_000
/** The most turns of one pass, and of all chats of an account, in a minute. */
const TURNS_OF_PASS = 30
export const TURNS_OF_ACCOUNT = 600

/** From when on turns count as under way, and as recent. */
export function loadSince(now: Date): { working: Date; recent: Date } {
  return { working: new Date(now.getTime() - WORKING_MS), recent: new Date(now.getTime() - RECENT_MS) }
}

export function assertTurn({ isWorking, ofPass, ofAccount }: Load): void {
  if (isWorking) throw turnUnderWay()
  if (ofPass >= TURNS_OF_PASS || ofAccount >= TURNS_OF_ACCOUNT) throw tooManyTurns()
}

interface Load {
  isWorking: boolean
  ofPass: number
  ofAccount: number
}

/** How many turns a history has at most, and how many characters of each answer. */
export const HISTORY_TURNS = 50
const ANSWER_CHARACTERS = 16_000
const HISTORY_BYTES = 65_536

/** The latest turns that fit, oldest first. */
export function bounded(turns: readonly Turn[]): Turn[] {
  const kept: Turn[] = []
  let bytes = 0
  for (const turn of turns.toReversed()) {
    bytes += Buffer.byteLength(turn.message) + Buffer.byteLength(turn.answer ?? '')
    if (kept.length === HISTORY_TURNS || bytes > HISTORY_BYTES) break
    kept.push(turn)
  }
  return kept.reverse()
}

/** What a model is told of the conversation: the turns that were answered. */
export function historyOf(turns: readonly Turn[]): ChatContext['history'] {
  return bounded(turns).flatMap(({ message, answer, status }) =>
    status === 'answered' ? [{ message, answer: answer ?? '' }] : [],
  )
}

/** A turn from its sale and its delivery. */
export function turnFrom(row: TurnRow): Turn {
  const { number, saleId, message, saleState, outcome, reported, deliveryState, answered, createdAt } = row
  const status = statusOf({ saleState, outcome, deliveryState })
  const text = status === 'answered' ? (outcome === null ? plainAnswer(answered ?? '') : (reported ?? '')) : null
  const answer = text === null ? null : cut(text, ANSWER_CHARACTERS)
  const isCut = answer !== text
  return { number, saleId, message: message ?? '', status, answer, isCut, createdAt }
}

function statusOf({ saleState, outcome, deliveryState }: Ends): Turn['status'] {
  if (saleState === 'failed' || saleState === 'refunded' || outcome === 'failed') return 'failed'
  if (outcome === 'succeeded' || deliveryState === 'delivered') return 'answered'
  return deliveryState === 'pending' || deliveryState === 'claimed' || saleState !== 'paid' ? 'working' : 'failed'
}

/** A turn's row, with its sale and its last delivery. */
export interface TurnRow extends Ends {
  number: number
  saleId: string
  message: string | null
  /** What the seller reported to the customer. */
  reported: string | null
  /** What the last node answered. */
  answered: string | null
  createdAt: Date
}

interface Ends {
  saleState: string
  /** `succeeded` or `failed`, as the seller reported. */
  outcome: string | null
  deliveryState: string | null
}
