/*
 * What a workflow answered, as people and models read it. n8n answers with a list of items, and a model's node with an
 * object of one text: a single value is shown without its wrapper.
 */

/** The value without the wrapper. */
export function unwrapped(value: unknown): unknown {
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof single !== 'object' || single === null || Array.isArray(single)) return single
  const values: unknown[] = Object.values(single)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : single
}

/** The single text of an answer. An answer that is more than that stays as it is. */
export function plainAnswer(answer: string): string {
  try {
    const value = unwrapped(JSON.parse(answer))
    return typeof value === 'string' ? value : answer
  } catch {
    return answer
  }
}

/** The beginning of a text, where it is longer. A surrogate pair is not cut in two. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}
