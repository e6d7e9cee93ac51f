import { inspect } from 'node:util'

/**
 * A value that is used by asking for it and in no other way. It can be logged, thrown, put into JSON or
 * copied by accident: `[secret]` is all that comes out, since a #private field is no property.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
    // Nobody swaps `reveal` for one that also tells somebody else.
    Object.freeze(this)
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return MASK
  }

  toJSON(): string {
    return MASK
  }

  [Symbol.toPrimitive](): string {
    return MASK
  }

  [inspect.custom](): string {
    return MASK
  }
}

const MASK = '[secret]'
