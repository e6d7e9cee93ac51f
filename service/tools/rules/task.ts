import { actionOf, idiomsIn, isWeak, phrasesIn, type Action, type Idiom, type Phrase } from './concepts.ts'
import { firstStems, firstWords, isStop, stemsOf } from './words.ts'

/** What a search asks for. */
export interface Task {
  /** The words that it says. A tool should have each of them, or a synonym. */
  said: readonly TaskWord[]
  /** Words that it means without saying them. A tool that lacks them loses nothing. */
  meant: readonly TaskWord[]
  action: Action | null
}

export interface TaskWord {
  stem: string
  /** Any of these counts as well: the stem joined with its neighbours, as `pageviews`, or other verbs of an idiom. */
  others: readonly string[]
  weight: number
  /** The word may be incomplete: it is the last one. */
  isLast: boolean
}

/** Reads a query as a task in English. `#support` is a channel. */
export function readTask(text: string): Task {
  const query = text.replaceAll(/(^|\s)#(?=\p{L})/gu, '$1channel ')
  const stems = firstStems(query)
  const idioms = idiomsIn(query)
  const phrases = phrasesIn(stems)
  const left = new Set([...idioms.flatMap(({ places }) => places), ...negatedIn(stems)])
  const content = contentFrom(stems, idioms)
  const weigh = weigherOf(stems, phrases, content)
  const said = new Map<string, TaskWord>()
  for (const [place, stem] of stems.entries()) {
    if (left.has(place) || isStop(stem) || said.has(stem)) continue
    const [before, after] = [stems[place - 1], stems[place + 1]]
    const others = [...(before === undefined ? [] : [before + stem]), ...(after === undefined ? [] : [stem + after])]
    said.set(stem, { stem, others, weight: weigh(place), isLast: place === stems.length - 1 })
  }
  const idiomatic = meantBy(idioms, said)
  const meant = meantBy(phrases, said).filter(({ stem }) => !idiomatic.some((word) => word.stem === stem))
  const isEmpty = said.size === 0 && idiomatic.length === 0
  return {
    said: isEmpty ? [...new Set(stems)].map((stem) => wordOf([stem])) : [...said.values()],
    meant: [...idiomatic, ...meant],
    action: isList(firstWords(query)) ? 'read' : actionIn(stems.slice(0, content + 1), idioms, left),
  }
}

/** A task without a verb names what it wants to see: `my open tickets`, `orders of last week`. */
function isList([first = '', second = '']: readonly string[]): boolean {
  if (OWNED.has(first) || ASKED.has(first)) return second !== ''
  return /[a-rt-z]s$/.test(first) && !NO_PLURALS.has(first) && actionOf(stemsOf(first)) === null && second !== 'to'
}

/** What the word at a place counts for. */
function weigherOf(stems: readonly string[], phrases: readonly Phrase[], content: number): (place: number) => number {
  const covered = new Set(phrases.flatMap(({ words }) => words))
  const purpose = placeOf(stems, PURPOSE_BEGINS)
  return (place) => {
    const stem = stems[place] ?? ''
    const byPlace = place > content ? CONTENT : place > purpose ? PURPOSE : 1
    return (covered.has(stem) ? COVERED : 1) * (isWeak(stem) ? WEAK : 1) * byPlace
  }
}

/** Where that begins which is only to be written or said. */
function contentFrom(stems: readonly string[], idioms: readonly Idiom[]): number {
  const told = idioms.flatMap(({ places, tells }) => (tells ? [places.at(-1) ?? 0] : []))
  return Math.min(placeOf(stems, CONTENT_BEGINS), ...told)
}

/** The first action that is said, or that an idiom means. */
function actionIn(stems: readonly string[], idioms: readonly Idiom[], left: ReadonlySet<number>): Action | null {
  const begins = new Map(idioms.map((idiom) => [idiom.places[0], idiom]))
  for (const [place, stem] of stems.entries()) {
    const action = actionOf(begins.get(place)?.means.flat() ?? (left.has(place) ? [] : [stem]))
    if (action !== null) return action
  }
  return QUESTIONS.has(stems[0] ?? '') ? 'read' : null
}

/** The word that a task excludes: `prepare a mail without sending it`. */
function negatedIn(stems: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [place, stem] of stems.entries()) {
    if (!NEGATIONS.has(stem)) continue
    const next = stems.findIndex((other, nth) => nth > place && !isStop(other) && !isWeak(other))
    if (next >= 0 && next <= place + 2) found.add(next)
  }
  return found
}

function placeOf(stems: readonly string[], words: ReadonlySet<string>): number {
  const place = stems.findIndex((stem, nth) => nth >= BEGINS_AFTER && words.has(stem))
  return place < 0 ? Infinity : place
}

/** The verbs of an idiom are alternatives: a tool has one of them. */
function meantBy(idioms: readonly (Idiom | Phrase)[], said: ReadonlyMap<string, TaskWord>): TaskWord[] {
  const found = new Map<string, TaskWord>()
  for (const { means } of idioms) {
    const verbs = means.filter((stems) => actionOf(stems) !== null).flat()
    const nouns = means.filter((stems) => actionOf(stems) === null)
    for (const stems of [...nouns, ...(verbs.length === 0 ? [] : [verbs])]) {
      const word = wordOf(stems, MEANT)
      if (!said.has(word.stem)) found.set(word.stem, word)
    }
  }
  return [...found.values()]
}

function wordOf([stem = '', ...others]: readonly string[], weight = 1): TaskWord {
  return { stem, others, weight, isLast: false }
}

/** A word that means something else together with another: `text` in `text my customer`. */
const COVERED = 0.6
const WEAK = 0.4
/** What is written, and to whom, says little about the tool: `tell the team that …`. */
const CONTENT = 0.5
const CONTENT_BEGINS: ReadonlySet<string> = new Set(stemsOf('that about say because who which'))
const PURPOSE = 0.6
const PURPOSE_BEGINS: ReadonlySet<string> = new Set(['for', 'with'])
/** A question begins with these words. */
const BEGINS_AFTER = 2
const MEANT = 0.9
const QUESTIONS: ReadonlySet<string> = new Set(stemsOf('did do does is are was were will has have'))
const ASKED: ReadonlySet<string> = new Set(
  'did does is are was were has which what who whose where when how'.split(' '),
)
/** Words that stand before what is wanted, and never before a verb. */
const OWNED: ReadonlySet<string> = new Set(
  'all my our every each last latest recent newest upcoming today yesterday'.split(' '),
)
const NO_PLURALS: ReadonlySet<string> = new Set(
  'is was has does this his its sms dns news previous various status'.split(' '),
)
const NEGATIONS: ReadonlySet<string> = new Set(['without', 'not', 'never', 'no'])
