import type { Clock } from './clock.ts'

/**
 * Holds the most recently used values, up to a total weight and, where one is set, up to an age. The least recently used
 * value is dropped first.
 */
export class Recent<Key, Value> {
  private readonly weightMax: number
  private readonly age: { clock: Clock; forMs: number } | null
  private readonly values = new Map<Key, { value: Value; weight: number; until: number }>()
  private weight = 0

  constructor(weightMax: number, age: { clock: Clock; forMs: number } | null = null) {
    this.weightMax = weightMax
    this.age = age
  }

  get(key: Key): Value | undefined {
    const known = this.values.get(key)
    if (known === undefined) return undefined
    if (this.age !== null && known.until <= this.age.clock.now().getTime()) return undefined
    this.values.delete(key)
    this.values.set(key, known)
    return known.value
  }

  put(key: Key, value: Value, weight = 1): void {
    this.drop(key)
    const until = this.age === null ? 0 : this.age.clock.now().getTime() + this.age.forMs
    this.values.set(key, { value, weight, until })
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
