import { invalid } from '../../kit/errors.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import type { FieldTree } from '../model/call.ts'

/** Reads `items.id`: a dot steps into an object, and lists on the way are gone through. Throws what is wrong. */
export function fieldTree(paths: readonly string[]): FieldTree {
  if (paths.length > PATHS_MAX) throw invalid({ fields: `must name at most ${String(PATHS_MAX)} fields` })
  const tree: Growing = new Map()
  for (const path of paths) {
    const steps = path.trim().split('.')
    if (path.length > LENGTH_MAX || steps.length > STEPS_MAX || steps.includes(''))
      throw invalid({ fields: 'must be names of fields with dots between them, such as items.id' })
    grow(tree, steps)
  }
  return tree
}

type Growing = Map<string, Growing | null>

/** A field that is kept whole stays whole, whatever else is said of its parts. */
function grow(tree: Growing, [step, ...rest]: readonly string[]): void {
  if (step === undefined || tree.get(step) === null) return
  if (rest.length === 0) {
    tree.set(step, null)
    return
  }
  const inner: Growing = tree.get(step) ?? new Map<string, Growing | null>()
  tree.set(step, inner)
  grow(inner, rest)
}

/** A value with nothing but these fields. What is not an object or a list has none, and stays as it is. */
export function cutTo(tree: FieldTree, value: unknown, depth = 0): unknown {
  if (depth > DEPTH_MAX) return value
  if (Array.isArray(value)) return value.map((item) => cutTo(tree, item, depth + 1))
  if (!isRecord(value)) return value
  // By the value's own names: a large answer of small objects costs no more than its size.
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name)
    return below === undefined ? [] : [[name, below === null ? inner : cutTo(below, inner, depth + 1)] as const]
  })
  return Object.fromEntries(kept)
}

const PATHS_MAX = 100
const LENGTH_MAX = 200
const STEPS_MAX = 10
/** Lists within lists beyond this are left as they are. */
const DEPTH_MAX = 100
