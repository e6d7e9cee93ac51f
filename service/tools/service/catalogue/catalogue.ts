import type { Environment } from '../../../kit/owner.ts'
import { collectionNotFound } from '../../errors/catalogue.ts'
import type { Collection } from '../../model/draft.ts'
import type { Tool, ToolId, UserId } from '../../model/tool.ts'
import { createAccess } from './access.ts'
import { createCredentials } from './credentials.ts'
import { createDirectory, type CatalogueDeps } from './directory.ts'
import { createFinding } from './find.ts'
import { createImporting } from './importing.ts'
import { createPreview } from './preview.ts'
import { checkCollection } from '../../rules/collection.ts'

/** All tools: imported from documents and servers, and found by their purpose. */
export function createCatalogue(deps: CatalogueDeps) {
  const { store, clock, simulator } = deps
  const directory = createDirectory(deps)
  const credentials = createCredentials({ ...deps, directory })
  const importing = createImporting({ ...deps, directory, credentials })

  return {
    ...createFinding(directory),
    ...importing,
    ...createPreview(deps),

    /** Resolves once the platform's tools are in memory. */
    async load(environment: Environment): Promise<void> {
      await directory.viewOf(environment, null)
    },

    /** Opened from the vault for the request of one call. */
    credentials: credentials.forTool,
    setCredentials: credentials.set,
    ...createAccess({ ...deps, directory }),

    /** Whether `simulate` answers the calls of this tool, so that nothing is sent. */
    async isSimulated({ environment, upstream, provider, ownerId }: Tool): Promise<boolean> {
      if (environment !== 'sandbox' || upstream.kind !== 'http') return false
      return (await directory.provider({ environment, ownerId }, provider))?.simulated ?? false
    },

    /** The same for a call of the past, whose tool may be removed by now. Only the platform's tools are simulated. */
    async wasSimulated({ environment, slug, toolId }: PastCall): Promise<boolean> {
      if (environment !== 'sandbox') return false
      const view = await directory.viewOf(environment, null)
      const entry = view.bySlug(slug)
      return entry?.id === toolId && view.isSimulated(entry)
    },

    simulate(tool: Tool, input: unknown) {
      if (tool.upstream.kind !== 'http') throw new Error('only an HTTP tool can be simulated')
      return simulator.simulate(tool, tool.upstream, input)
    },

    async saveCollection(collection: Collection): Promise<void> {
      checkCollection(collection)
      await store.saveCollection(collection, clock.now())
      await directory.refresh(collection.environment)
    },

    async removeCollection(environment: Environment, ownerId: UserId | null, slug: string): Promise<void> {
      if (!(await store.dropCollection({ environment, ownerId }, slug))) throw collectionNotFound(slug)
      await directory.refresh(environment)
    },
  }
}

interface PastCall {
  environment: Environment
  slug: string
  toolId: ToolId
}

export type Catalogue = ReturnType<typeof createCatalogue>
