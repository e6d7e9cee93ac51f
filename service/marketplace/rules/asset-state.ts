import { archivedStays } from '../errors.ts'
import { readInput, sampleInput } from '../../kit/fields.ts'
import type { AssetStatus, Content } from '../model/asset.ts'

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

/** Inputs that a run takes, to be shown: of the creator's first example that still fits, else made of the fields. */
export function exampleInputs({ inputs, config }: Content): Readonly<Record<string, unknown>> {
  const fitting = config.examples?.find((example) => 'values' in readInput(inputs, example.inputs))
  return fitting?.inputs ?? sampleInput(inputs)
}
