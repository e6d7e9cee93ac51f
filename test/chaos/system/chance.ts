/** Random numbers that follow from a seed (mulberry32): a failed run can be repeated. */
export interface Chance {
  /** From 0 up to 1. */
  draw(): number
  /** A whole number, from the least to the most. */
  whole(least: number, most: number): number
  of<Item>(items: readonly Item[]): Item
  /** A generator of its own, so that one user's speed does not change another's numbers. */
  apart(name: string): Chance
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const draw = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1))
  return {
    draw,
    whole,
    of: <Item>(items: readonly Item[]) => items[whole(0, items.length - 1)] as Item,
    apart: (name) => chanceOf(Buffer.from(name).reduce((sum, byte) => Math.imul(sum, 31) + byte, seed)),
  }
}
