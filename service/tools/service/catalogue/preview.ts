import type { Environment } from '../../../kit/owner.ts'
import type { Reading } from '../../model/draft.ts'
import type { Source } from '../../model/provider.ts'
import { offeredOf } from '../../rules/collection.ts'
import type { CatalogueDeps } from './directory.ts'
import { baseOf, type ImportRequest } from './importing.ts'

export interface Preview {
  readonly operations: number
  /** How many operations are not among those that are offered. */
  readonly others: number
  readonly skipped: Reading['skipped']
  /** Whether the document says how its operations are authenticated. */
  readonly hasAuth: boolean
}

/** What an operator looks at before an import. Writes nothing. */
export function createPreview({ store, documents, fetching }: CatalogueDeps) {
  return {
    async previewDocument(request: ImportRequest, text: string): Promise<Preview> {
      const { source = null, server = null, auth = null, trusted = false } = request
      const reading = await documents.read(text, { base: baseOf(source), server, auth, trusted })
      const { offered, others } = offeredOf(reading.operations, request.offered ?? null)
      const hasAuth = offered.some(({ upstream }) => upstream.kind === 'http' && upstream.auth !== null)
      return { operations: offered.length, others, skipped: reading.skipped, hasAuth }
    },

    /** A document's text, by the guarded client. */
    async fetchDocument(address: string): Promise<string> {
      return await fetching.fetch(address)
    },

    /** Where the platform's provider was read from. Null where there is none. */
    async sourceOf(environment: Environment, slug: string): Promise<Source | null> {
      return (await store.provider({ environment, ownerId: null }, slug))?.source ?? null
    },
  }
}
