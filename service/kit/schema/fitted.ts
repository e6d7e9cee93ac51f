import { Conversion, TooLarge, type JsonSchema, type Limits } from './bounded.ts'

/** The first of the tries that fits into so many characters, or null. */
export function fitted(
  tries: readonly Omit<Limits, 'bytes'>[],
  bytes: number,
  make: (conversion: Conversion) => JsonSchema,
): JsonSchema | null {
  for (const limits of tries) {
    try {
      const made = make(new Conversion({ ...limits, bytes }))
      if (JSON.stringify(made).length <= bytes) return made
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
  }
  return null
}
