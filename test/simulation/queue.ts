/** First come, first served; shifting an array of a million would be what the simulation measures. */
export class Queue<Item> {
  private items: Item[] = []
  private head = 0

  get length(): number {
    return this.items.length - this.head
  }

  push(item: Item): void {
    this.items.push(item)
  }

  take(most: number): Item[] {
    const batch = this.items.slice(this.head, this.head + most)
    this.head += batch.length
    if (this.head > 10_000 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return batch
  }
}

/** Of what was measured; 0 where nothing was. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
