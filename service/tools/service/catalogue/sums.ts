/** What a question has come to so far, by place: kept between questions, since clearing is cheaper than making. */
export class Sums {
  readonly size: number
  readonly scores: Float64Array
  readonly words: Uint8Array
  /** How many of the words are in the name. */
  readonly names: Float64Array
  /** Places that any word led to; only the first `count` of them. */
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

  /** Whether the present word has led nowhere yet. */
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

  /** The present word leads there; the best of its offers counts. */
  offer(place: number, score: number, name: number): void {
    const before = this.best[place] ?? 0
    if (score <= before) return
    if (before === 0) this.offered[this.offers++] = place
    this.best[place] = score
    this.bestName[place] = name
  }

  /** The present word is done. */
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
