import type { Place } from '../model/tool.ts'

/** An input's value, and where it goes. */
export interface Given {
  name: string
  place: Place
  value: unknown
}

/** A value where only text can stand. */
export function asText(value: unknown, json = false): string {
  if (!json && typeof value === 'string') return value
  return JSON.stringify(value)
}

/** The style `simple`: a list by commas, an object by its keys and values in turn, or as `key=value` when exploded. */
export function joined(value: unknown, explode: boolean): string[] {
  if (Array.isArray(value)) return value.map((item) => asText(item))
  if (typeof value !== 'object' || value === null) return [asText(value)]
  return Object.entries(value).flatMap(([key, inner]) => (explode ? [`${key}=${asText(inner)}`] : [key, asText(inner)]))
}

/** A tree as form fields: `name[key][inner]`, as most servers read them. */
export function fields(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => fields(typeof item === 'object' ? `${name}[]` : name, item))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => fields(`${name}[${key}]`, inner))
  }
  return [[name, asText(value)]]
}
