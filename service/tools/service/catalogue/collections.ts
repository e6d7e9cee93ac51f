import { invalid } from '../../../kit/errors.ts'
import type { Collection } from '../../model/draft.ts'
import { patternFault } from '../../rules/collection.ts'

/** Refuses what could not be named or would hold nothing. */
export function checkCollection({ slug, patterns }: Collection): void {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || slug.length > 64)
    throw invalid({ slug: 'must be words of lower-case letters and digits with hyphens, at most 64 characters' })
  if (patterns.length === 0 || patterns.length > 100) throw invalid({ patterns: 'must list 1 to 100 patterns' })
  for (const pattern of patterns) {
    const fault = patternFault(pattern)
    if (fault !== null) throw invalid({ patterns: `${pattern}: ${fault}` })
  }
}
