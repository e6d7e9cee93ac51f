import { inspect } from 'node:util'

/**
 * A value that can only be read by an explicit call. When it is logged, thrown, put into JSON or copied by accident,
 * the result is `[secret]`, because a #private field is not a property.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
    // Frozen, so that no code can replace `reveal` by a function that leaks the value.
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
