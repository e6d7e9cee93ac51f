import type { Entry } from '../../model/tool.ts'
import { queryStems, queryWords, stemsOf, synonymsOf, type QueryWord } from '../../rules/words.ts'

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
  private readonly places = new Map<string, number>()
  private length = 0
  private live = 0
  private sums = new Sums(0)
  /** A second index in which the rarity of words is also measured, for the current query. */
  private beside: WordIndex | null = null

  put(entry: Entry): void {
    this.drop(entry.id)
    const place = this.entries.length
    const named = new Set(queryStems(entry.name))
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
    this.places.set(entry.id, place)
    this.length += length
    this.live++
  }

  drop(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    this.places.delete(id)
    this.entries[place] = null
    this.length -= this.lengths[place] ?? 0
    this.live--
    // The lists still refer to removed entries. When those are a third of all, the index is rebuilt, which frees their
    // memory.
    if (this.entries.length > 1.5 * this.live + 200) this.compact()
  }

  /**
   * Calls back with each entry that contains any of the words, in any order. `all` says whether it contains every word.
   * The scores of two indexes are comparable when the smaller one is searched with the larger one as `beside`.
   */
  find(
    query: string,
    found: (entry: Entry, score: number, all: boolean) => void,
    beside: WordIndex | null = null,
  ): void {
    const asked = queryWords(query)
    if (asked.length === 0 || this.live === 0) return
    this.beside = beside
    if (this.sums.size < this.entries.length) this.sums = new Sums(this.entries.length * 2)
    const { sums } = this
    sums.clear()
    for (const word of asked) {
      this.score(word, word === asked.at(-1))
      sums.add()
    }
    for (let nth = 0; nth < sums.count; nth++) {
      const place = sums.touched[nth] ?? 0
      const entry = this.entries[place]
      if (entry == null) continue
      // A match of half the words is worth much less than half of the score, because the query asked for all of them. A
      // tool whose name is exactly the query comes before one whose name has additional words.
      const words = sums.words[place] ?? 0
      const exact = (sums.names[place] ?? 0) / (this.named[place] ?? 1)
      found(entry, ((sums.scores[place] ?? 0) * words * (1 + EXACT * exact)) / asked.length, words === asked.length)
    }
  }

  /** A word counts once for a tool, either as itself or as a synonym, whichever scores better. */
  private score({ stem, joined }: QueryWord, isLast: boolean): void {
    this.look(stem, 1, this.rarity([stem]))
    for (const word of joined) this.look(word, 1, this.rarity([word]))
    // A synonym is as rare as its most common equivalent: `add` is rarer than `create`, but that does not matter to a
    // user who wants to create something.
    const synonyms = synonymsOf(stem)
    const shared = this.rarity([stem, ...synonyms])
    for (const other of synonyms) this.look(other, SYNONYM, shared)
    // The query may be incomplete, or contain a short form such as `kube` for `kubernetes`.
    if (this.sums.isEmpty || (isLast && !this.postings.has(stem)))
      for (const word of this.beginningWith(stem)) this.look(word, PREFIX, this.rarity([word]))
  }

  private look(word: string, factor: number, rarity: number): void {
    const list = this.postings.get(word)
    if (list === undefined) return
    const { places, weights, inName } = list
    const mean = (this.length + (this.beside?.length ?? 0)) / Math.max(1, this.total)
    for (let nth = 0; nth < places.length; nth++) {
      const place = places[nth] ?? 0
      const weight = weights[nth] ?? 0
      const long = 0.5 + (0.5 * (this.lengths[place] ?? mean)) / mean
      this.sums.offer(place, factor * rarity * ((weight * (K + 1)) / (weight + K * long)), (inName[nth] ?? 0) * factor)
    }
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
    this.entries.length = this.lengths.length = this.named.length = this.length = this.live = 0
    this.sums = new Sums(0)
    for (const entry of left) this.put(entry)
  }
}

/** The occurrences of one word, place by place: three lists of numbers instead of one list of objects. */
interface Postings {
  places: number[]
  weights: number[]
  inName: number[]
}

/** The position of a word decides its weight for the tool. A repeated word counts less than twice (see K). */
function weigh({ slug, name, provider, category, description, terms }: Entry): Map<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const stem of new Set(stemsOf(text))) weights.set(stem, (weights.get(stem) ?? 0) + weight)
  }
  add(name, 4)
  add(slug, 2)
  add(provider, 2)
  add(category ?? '', 1.5)
  add(description.slice(0, DESCRIPTION_MAX), 1)
  add(terms, 0.5)
  return weights
}

const K = 3
const EXACT = 0.6
const SYNONYM = 0.6
const PREFIX = 0.5
const PREFIXES_MAX = 50
const DESCRIPTION_MAX = 400

/**
 * The scores of the current query, by place. The arrays are reused between queries, because clearing them is cheaper
 * than allocating.
 */
class Sums {
  readonly size: number
  readonly scores: Float64Array
  readonly words: Uint8Array
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
    this.words = new Uint8Array(size)
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

  /** Ends the current word. */
  add(): void {
    for (let nth = 0; nth < this.offers; nth++) {
      const place = this.offered[nth] ?? 0
      if (this.words[place] === 0) this.touched[this.count++] = place
      this.scores[place] = (this.scores[place] ?? 0) + (this.best[place] ?? 0)
      this.names[place] = (this.names[place] ?? 0) + (this.bestName[place] ?? 0)
      this.words[place] = (this.words[place] ?? 0) + 1
      this.best[place] = 0
    }
    this.offers = 0
  }
}
