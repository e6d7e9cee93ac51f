import type { Entry } from '../../model/tool.ts'
import { nearest } from '../../../kit/nearest.ts'
import { actionOf, partOf, synonymsOf, type Action } from '../../rules/concepts.ts'
import { readTask, type TaskWord } from '../../rules/task.ts'
import { fitOf } from '../../rules/rank.ts'
import { queryStems, stemsOf } from '../../rules/words.ts'

/**
 * Maps words to the tools that contain them. It is in this process and not in PostgreSQL, because a model asks in
 * sentences, and the right tool may lack any of the words. So thousands of tools match in part and all have to be
 * ranked, which no database index makes faster. Here it takes some ten thousand additions in existing arrays.
 */
export class WordIndex {
  private readonly postings = new Map<string, Postings>()
  private readonly entries: (Entry | null)[] = []
  private readonly lengths: number[] = []
  /** The number of meaningful words in each name. */
  private readonly named: number[] = []
  private readonly actions: (Action | null)[] = []
  /** The thing that each name is about: `alias` in `Create email alias`. */
  private readonly things: string[] = []
  /** The words of each provider's name. */
  private readonly providers: (readonly string[])[] = []
  /** How many tools have a provider of this name. */
  private readonly providerNames = new Map<string, number>()
  private readonly places = new Map<string, number>()
  private length = 0
  private live = 0
  private sums = new Sums(0)
  /** The words of the current query that tools have, with their synonyms. */
  private readonly known = new Set<string>()
  /** A second index in which the rarity of words is also measured, for the current query. */
  private beside: WordIndex | null = null

  put(entry: Entry): void {
    this.drop(entry.id)
    const place = this.entries.length
    const named = new Set(queryStems(entry.name.replace(OWNER, '')))
    let length = 0
    for (const [stem, weight] of weigh(entry)) {
      length += weight
      let list = this.postings.get(stem)
      if (list === undefined) this.postings.set(stem, (list = { places: [], weights: [], inName: [] }))
      list.places.push(place)
      list.weights.push(weight)
      list.inName.push(named.has(stem) ? 1 : 0)
    }
    this.entries.push(entry)
    this.lengths.push(length)
    this.named.push(Math.max(1, named.size))
    this.actions.push(actionIn(entry.name))
    this.things.push(thingOf(entry.name))
    this.providers.push(this.nameProvider(entry.provider, 1))
    this.places.set(entry.id, place)
    this.length += length
    this.live++
  }

  drop(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    this.places.delete(id)
    this.nameProvider(this.entries[place]?.provider ?? '', -1)
    this.entries[place] = null
    this.length -= this.lengths[place] ?? 0
    this.live--
    // The lists still refer to removed entries. When those are a third of all, the index is rebuilt, which frees their
    // memory.
    if (this.entries.length > 1.5 * this.live + 200) this.compact()
  }

  /**
   * Calls back with each entry that contains any of the words, in any order. The scores of two indexes are comparable
   * when the smaller one is searched with the larger one as `beside`.
   */
  find(query: string, found: Found, beside: WordIndex | null = null): void {
    const { said, meant, action } = readTask(query)
    if ((said.length === 0 && meant.length === 0) || this.live === 0) return
    this.beside = beside
    if (this.sums.size < this.entries.length) this.sums = new Sums(this.entries.length * 2)
    const { sums } = this
    sums.clear()
    this.known.clear()
    for (const word of said) {
      this.score(word)
      sums.add(word.weight)
    }
    // Words that the task means without saying them add to the score of a tool. A tool that lacks them loses nothing.
    for (const word of meant) {
      this.score(word)
      sums.add(0)
    }
    const providers = said.map(({ stem }) => stem).filter((stem) => this.isProvider(stem))
    const asked = said.reduce((sum, { weight }) => sum + weight, 0)
    const ideal = [...said, ...meant].reduce((sum, { stem, weight }) => sum + weight * this.rarity([stem]), 0)
    for (let nth = 0; nth < sums.count; nth++) {
      const place = sums.touched[nth] ?? 0
      const entry = this.entries[place]
      if (entry == null) continue
      // A match of half the words is worth much less than half of the score, because the query asked for all of them. A
      // tool whose name is exactly the query comes before one whose name has additional words.
      const words = sums.words[place] ?? 0
      const exact = (sums.names[place] ?? 0) / (this.named[place] ?? 1)
      const has = this.actions[place] ?? null
      const isTheirs = providers.length === 0 || providers.some((stem) => this.providers[place]?.includes(stem))
      const fits = (suits(has, action) ? 1 : OTHER_ACTION) * (isTheirs ? 1 : OTHER_PROVIDER)
      const matched = (sums.scores[place] ?? 0) * (1 + EXACT * exact) * fits
      const score = (matched * (words + PART)) / (asked + PART)
      const about = this.known.has(this.things[place] ?? '') ? 1 : OTHER_THING
      // Whether it fits at all is judged more strictly than its place among others.
      const fit = fitOf((matched * about * (words + FIT_PART)) / (asked + FIT_PART) / ideal)
      found(entry, { score, all: words > asked - ROUNDING, fit })
    }
  }

  /** A word counts once for a tool, either as itself or as a synonym, whichever scores better. */
  private score({ stem, others, weight, isLast }: TaskWord): void {
    this.look(stem, weight, this.rarity([stem]))
    for (const word of others) this.look(word, weight, this.rarity([word]))
    // A synonym is as rare as its most common equivalent: `add` is rarer than `create`, but that does not matter to a
    // user who wants to create something.
    const { same, also } = synonymsOf(stem)
    const shared = this.rarity([stem, ...same])
    for (const other of same) this.look(other, SYNONYM * weight, shared)
    for (const other of also) this.look(other, SYNONYM * weight, this.rarity([other]))
    // The query may be incomplete, or contain a short form such as `kube` for `kubernetes`.
    if (this.sums.isEmpty || (isLast && !this.postings.has(stem)))
      for (const word of this.beginningWith(stem)) this.look(word, PREFIX, this.rarity([word]))
    if (this.sums.isEmpty && stem.length >= MISSPELT_MIN) {
      const word = nearest(stem, this.alike(stem))
      if (word !== null) this.look(word, MISSPELT, this.rarity([word]))
    }
    const part = this.sums.isEmpty ? partOf(stem) : null
    if (part !== null) {
      const { same: alike, also: more } = synonymsOf(part)
      for (const other of [part, ...alike, ...more]) this.look(other, SYNONYM * weight, this.rarity([other]))
    }
  }

  private look(word: string, factor: number, rarity: number): void {
    const list = this.postings.get(word)
    if (list === undefined) return
    this.known.add(word)
    const { places, weights, inName } = list
    const mean = (this.length + (this.beside?.length ?? 0)) / Math.max(1, this.total)
    for (let nth = 0; nth < places.length; nth++) {
      const place = places[nth] ?? 0
      const weight = weights[nth] ?? 0
      const long = 0.5 + (0.5 * (this.lengths[place] ?? mean)) / mean
      this.sums.offer(place, factor * rarity * ((weight * (K + 1)) / (weight + K * long)), (inName[nth] ?? 0) * factor)
    }
  }

  private nameProvider(provider: string, tools: 1 | -1): readonly string[] {
    const stems = stemsOf(provider)
    for (const stem of stems) this.providerNames.set(stem, (this.providerNames.get(stem) ?? 0) + tools)
    return stems
  }

  /** The name of a provider that is no word for a thing, as `weather` is: who says it wants that provider's tools. */
  private isProvider(stem: string): boolean {
    const isNamed = (this.providerNames.get(stem) ?? 0) > 0 || (this.beside?.providerNames.get(stem) ?? 0) > 0
    return isNamed && stem.length > 3 && synonymsOf(stem).same.length === 0
  }

  /** The rarity of the most common of these words. */
  private rarity(words: readonly string[]): number {
    const count = Math.max(...words.map((word) => this.countOf(word) + (this.beside?.countOf(word) ?? 0)))
    return Math.max(0.1, Math.log(1 + Math.max(0, this.total - count + 0.5) / (count + 0.5)))
  }

  private countOf(word: string): number {
    return this.postings.get(word)?.places.length ?? 0
  }

  private get total(): number {
    return this.live + (this.beside?.live ?? 0)
  }

  /** The words that may be misspelt so: people rarely miss the first letter. */
  private *alike(stem: string): Generator<string> {
    for (const word of this.postings.keys())
      if (word.startsWith(stem.charAt(0)) && word.length > 3 && Math.abs(word.length - stem.length) <= 1) yield word
  }

  private *beginningWith(stem: string): Generator<string> {
    if (stem.length < 3) return
    let found = 0
    for (const word of this.postings.keys()) {
      if (!word.startsWith(stem)) continue
      yield word
      if (++found === PREFIXES_MAX) return
    }
  }

  private compact(): void {
    const left = this.entries.filter((entry) => entry !== null)
    this.postings.clear()
    this.places.clear()
    this.entries.length = this.lengths.length = this.named.length = this.actions.length = 0
    this.things.length = this.providers.length = this.length = this.live = 0
    this.providerNames.clear()
    this.sums = new Sums(0)
    for (const entry of left) this.put(entry)
  }
}

export type Found = (entry: Entry, match: Match) => void

export interface Match {
  /** By this the matches of one query are ranked. */
  score: number
  /** It contains every word of the query. */
  all: boolean
  /** From 0 to 1, comparable between queries. */
  fit: number
}

/** The occurrences of one word, place by place: three lists of numbers instead of one list of objects. */
interface Postings {
  places: number[]
  weights: number[]
  inName: number[]
}

/** What a tool does, by the verb that its name begins with. Moving to the trash is deleting. */
function actionIn(name: string): Action | null {
  const stems = stemsOf(name)
  const action = actionOf(stems.slice(0, 1))
  return action === 'update' && stems.includes(TRASH) ? 'delete' : action
}

/** Whether a tool's action may be the one that a task asks for: what an API creates is often what it starts, as a call or a run. */
function suits(has: Action | null, asked: Action | null): boolean {
  if (has === null || has === asked) return true
  return asked === null ? has !== 'delete' : asked === 'start' && has === 'create'
}

function thingOf(name: string): string {
  const about = name.search(ABOUT)
  return queryStems(about < 0 ? name : name.slice(0, about)).at(-1) ?? ''
}

/** The position of a word decides its weight for the tool. A repeated word counts less than twice (see K). */
function weigh({ slug, name, provider, category, description, terms }: Entry): Map<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const stem of new Set(stemsOf(text))) weights.set(stem, (weights.get(stem) ?? 0) + weight)
  }
  add(name, 4)
  const words = slug.split('-').filter((word) => !METHODS.has(word))
  add(words.join(' '), SLUG)
  add(provider, 2)
  add(category ?? '', 1.5)
  add(description.slice(0, DESCRIPTION_MAX), 1)
  add(terms, 0.5)
  return weights
}

const TRASH = 'trash'
const K = 3
const EXACT = 0.6
const SYNONYM = 0.6
const PREFIX = 0.5
/** Names the owner, which a task rarely does. */
const OWNER = / (?:for|in|of) (?:the |an? )?(?:authenticated user|organization|repository|enterprise)\b/i
const ABOUT = / (?:for|of|in|by|from|to|with|on|at|via|using)\b/i
const PREFIXES_MAX = 50
const MISSPELT = 0.6
const MISSPELT_MIN = 5
/** Deleting is rarely what a task that creates something needs, or that names no action. */
const OTHER_ACTION = 0.6
const OTHER_THING = 0.5
const OTHER_PROVIDER = 0.5
/** In a slug they are how a tool is called, not what for. */
const METHODS: ReadonlySet<string> = new Set(['post', 'put', 'patch'])
/** Keeps a tool that has only meant words in the results. */
const PART = 2
const FIT_PART = 1
const SLUG = 2
/** Weights are added in another order for each tool. */
const ROUNDING = 1e-9
const DESCRIPTION_MAX = 400

/**
 * The scores of the current query, by place. The arrays are reused between queries, because clearing them is cheaper
 * than allocating.
 */
class Sums {
  readonly size: number
  readonly scores: Float64Array
  readonly words: Float64Array
  /** How many of the words occur in the name. */
  readonly names: Float64Array
  /** The places that any word matched. Only the first `count` items are valid. */
  readonly touched: Int32Array
  count = 0
  private readonly best: Float64Array
  private readonly bestName: Float64Array
  private readonly offered: Int32Array
  private offers = 0

  constructor(size: number) {
    this.size = size
    this.scores = new Float64Array(size)
    this.words = new Float64Array(size)
    this.names = new Float64Array(size)
    this.touched = new Int32Array(size)
    this.best = new Float64Array(size)
    this.bestName = new Float64Array(size)
    this.offered = new Int32Array(size)
  }

  /** Whether the current word has matched no place yet. */
  get isEmpty(): boolean {
    return this.offers === 0
  }

  clear(): void {
    for (let nth = 0; nth < this.count; nth++) {
      const place = this.touched[nth] ?? 0
      this.scores[place] = this.words[place] = this.names[place] = 0
    }
    this.count = 0
  }

  /** The current word matches at this place. Its best score counts. */
  offer(place: number, score: number, name: number): void {
    const before = this.best[place] ?? 0
    if (score <= before) return
    if (before === 0) this.offered[this.offers++] = place
    this.best[place] = score
    this.bestName[place] = name
  }

  /** Ends the current word, which counts this much among those that the query says. */
  add(weight: number): void {
    for (let nth = 0; nth < this.offers; nth++) {
      const place = this.offered[nth] ?? 0
      if (this.scores[place] === 0) this.touched[this.count++] = place
      this.scores[place] = (this.scores[place] ?? 0) + (this.best[place] ?? 0)
      this.names[place] = (this.names[place] ?? 0) + (this.bestName[place] ?? 0)
      this.words[place] = (this.words[place] ?? 0) + weight
      this.best[place] = 0
    }
    this.offers = 0
  }
}
