/** Holds the most recently used values, up to a total weight. The least recently used value is dropped first. */
export class Recent<Key, Value> {
  private readonly weightMax: number
  private readonly values = new Map<Key, { value: Value; weight: number }>()
  private weight = 0

  constructor(weightMax: number) {
    this.weightMax = weightMax
  }

  get(key: Key): Value | undefined {
    const known = this.values.get(key)
    if (known === undefined) return undefined
    this.values.delete(key)
    this.values.set(key, known)
    return known.value
  }

  put(key: Key, value: Value, weight = 1): void {
    this.drop(key)
    this.values.set(key, { value, weight })
    this.weight += weight
    for (const oldest of this.values.keys()) {
      if (this.weight <= this.weightMax) break
      this.drop(oldest)
    }
  }

  drop(key: Key): void {
    this.weight -= this.values.get(key)?.weight ?? 0
    this.values.delete(key)
  }
}
