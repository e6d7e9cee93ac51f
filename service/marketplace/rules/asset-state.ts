import { archivedStays } from '../errors.ts'
import type { AssetStatus } from '../model/asset.ts'

export type Action = 'publish' | 'unpublish' | 'archive'

/** Where an action leads. Doing what is done already changes nothing. */
export function after(action: Action, status: AssetStatus): AssetStatus {
  switch (action) {
    case 'publish':
      return 'published'
    case 'archive':
      return 'archived'
    case 'unpublish':
      if (status === 'archived') throw archivedStays()
      return 'draft'
  }
}

/** The second place for what runs depend on, the third for what is only read. */
export function nextVersion(version: string, runsChange: boolean): string {
  const [major = 1, minor = 0, patch = 0] = version.split('.').map(Number)
  return runsChange ? [major, minor + 1, 0].join('.') : [major, minor, patch + 1].join('.')
}

export const FIRST_VERSION = '1.0.0'
