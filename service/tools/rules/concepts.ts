import { IDIOMS, LEADING, MEANINGS, TOGETHER, WEAK } from './lexicon.ts'
import { firstStems, firstWords, isStop, stemsOf } from './words.ts'

/** Stems that mean nearly the same as this one, or that a tool for it is described with. */
export function synonymsOf(stem: string): Meanings {
  return SYNONYMS.get(stem) ?? NONE
}

/** Of a compound that no tool is described with, the first part that has meanings: `rain` of `rainfall`. */
export function partOf(stem: string): string | null {
  for (let length = stem.length - PART_MIN + 1; length >= PART_MIN; length--) {
    const part = stem.slice(0, length)
    if (SYNONYMS.has(part)) return part
  }
  return null
}

const PART_MIN = 4

export interface Meanings {
  /** Either may stand for the other. */
  same: readonly string[]
  /** What else it may mean. */
  also: readonly string[]
}

const NONE: Meanings = { same: [], also: [] }

/** The stems that a tool for this task is described with, when the task's own words together mean something else. */
export function phrasesIn(stems: readonly string[]): Phrase[] {
  const asked = new Set(stems)
  return PHRASES.filter(({ words }) => words.every((word) => asked.has(word)))
}

export interface Phrase {
  words: readonly string[]
  /** Of each group a tool has one. */
  means: readonly (readonly string[])[]
  tells: boolean
}

/** What a task does to its thing. */
export type Action = 'read' | 'create' | 'update' | 'delete' | 'start' | 'stop'

/** The action that these words begin with, or null. */
export function actionOf(stems: readonly string[]): Action | null {
  for (const stem of stems) {
    const action = ACTIONS.get(stem)
    if (action !== undefined) return action
  }
  return null
}

const ACTION_WORDS: Readonly<Record<Action, string>> = {
  read: `get read fetch retrieve show view list find search query look see check which what who how where download export
    lists returns return browse enumerate history latest most`,
  create: `create add make new insert open file post send submit publish upload write put save store invite propose register
    generate draw set give share buy rent assign spread distribute spin raise leave shoot ship log provision launch enroll block reserve mail phone text email render transcribe translate convert follow react order subscribe append schedule book fork copy deploy announce jot`,
  update: 'update edit change modify patch rename move replace configure',
  delete: 'delete remove destroy erase drop unassign clear empty purge unstar scrap ditch unfollow kick wipe discard',
  start: 'start run trigger dispatch execute rerun restart reboot',
  stop: 'stop kill halt quit cancel abort terminate disable end',
}

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  Object.entries(ACTION_WORDS).flatMap(([action, words]) => stemsOf(words).map((stem) => [stem, action as Action])),
)

const SYNONYMS = readMeanings()

function readMeanings(): ReadonlyMap<string, Meanings> {
  const found = new Map<string, { same: string[]; also: string[] }>()
  for (const line of MEANINGS.trim().split('\n')) {
    const [left = '', right] = line.split(' > ')
    const from = stemsOf(left)
    const to = right === undefined ? from : stemsOf(right)
    for (const stem of from) {
      const meanings = found.get(stem) ?? { same: [], also: [] }
      const list = right === undefined ? meanings.same : meanings.also
      for (const other of to) if (other !== stem && !list.includes(other)) list.push(other)
      found.set(stem, meanings)
    }
  }
  return found
}

/** Idioms and what they mean, with the place of their words in the task. */
export function idiomsIn(query: string): Idiom[] {
  const stems = firstStems(query)
  const found: Idiom[] = []
  const taken = new Set<number>()
  const leading = stems.findIndex((stem) => !isStop(stem))
  for (const [nth, stem] of stems.entries()) {
    for (const { words, means, tells } of IDIOMS_BY_FIRST.get(stem) ?? []) {
      const places = placesOf(words, stems, nth)
      if (places === null || places.some((place) => taken.has(place))) continue
      for (const place of places) taken.add(place)
      found.push({ places, means, tells })
      break
    }
  }
  const words = firstWords(query)
  const verb = words[leading + 1] === 'of' ? undefined : LEADING_MEANS.get(words[leading] ?? '')
  if (verb !== undefined && !taken.has(leading)) found.push({ places: [leading], ...verb })
  return found
}

export interface Idiom {
  places: readonly number[]
  /** Of each group a tool has one. */
  means: readonly (readonly string[])[]
  /** What follows is what to write, to whom or for when. */
  tells: boolean
}

/** Where the words stand, from this place on and in their order, with at most two telling words between. */
function placesOf(words: readonly string[], stems: readonly string[], start: number): number[] | null {
  const places = [start]
  for (const word of words.slice(1)) {
    let others = 0
    let place = (places.at(-1) ?? start) + 1
    for (; place < stems.length && stems[place] !== word; place++) {
      if (!isStop(stems[place] ?? '') && ++others > GAP_MAX) return null
    }
    if (place === stems.length) return null
    places.push(place)
  }
  return places
}

const GAP_MAX = 2

export function isWeak(stem: string): boolean {
  return WEAK_STEMS.has(stem)
}

const WEAK_STEMS: ReadonlySet<string> = new Set(stemsOf(WEAK))

const PHRASES = readPhrases(TOGETHER)

/** The longest first: `up for sale` before `up`. */
const IDIOMS_BY_FIRST: ReadonlyMap<string, readonly Phrase[]> = byFirst(
  readPhrases(IDIOMS).sort((one, other) => other.words.length - one.words.length),
)

function byFirst(phrases: readonly Phrase[]): ReadonlyMap<string, readonly Phrase[]> {
  const found = new Map<string, Phrase[]>()
  for (const phrase of phrases) {
    const first = phrase.words[0] ?? ''
    found.set(first, [...(found.get(first) ?? []), phrase])
  }
  return found
}

const LEADING_MEANS: ReadonlyMap<string, Phrase> = new Map(
  readPhrases(LEADING).map((phrase, nth) => [LEADING.trim().split('\n')[nth]?.split(' ')[0] ?? '', phrase]),
)

function readPhrases(lines: string): Phrase[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [words = '', means = ''] = line.split(' >')
      return {
        words: stemsOf(words),
        means: means
          .split(/\s+/)
          .map(stemsOf)
          .filter((stems) => stems.length > 0),
        tells: means.endsWith('…'),
      }
    })
}
