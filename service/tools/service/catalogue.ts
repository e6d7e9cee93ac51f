import type { Environment } from '../../kit/owner.ts'
import { collectionNotFound } from '../errors/catalogue.ts'
import type { Collection } from '../model/draft.ts'
import type { Tool, UserId } from '../model/tool.ts'
import type { Simulator } from '../ports/sources.ts'
import { createCredentials, type CredentialDeps } from './catalogue/credentials.ts'
import { createDirectory, type DirectoryDeps } from './catalogue/directory.ts'
import { createFinding } from './catalogue/find.ts'
import { createImporting, type ImportingDeps } from './catalogue/importing.ts'
import { checkCollection } from './catalogue/collections.ts'

/** All tools there are: brought in from documents and servers, found by what they do. */
export function createCatalogue(deps: CatalogueDeps) {
  const { store, clock, simulator } = deps
  const directory = createDirectory(deps)
  const credentials = createCredentials({ ...deps, directory })
  const importing = createImporting({ ...deps, directory, credentials })

  return {
    ...createFinding(directory),
    ...importing,

    /** Resolves once the platform's tools are in memory. */
    async load(environment: Environment): Promise<void> {
      await directory.viewOf(environment, null)
    },

    credentials: credentials.forTool,
    setCredentials: credentials.set,

    async isSimulated({ environment, upstream, provider, ownerId }: Tool): Promise<boolean> {
      if (environment !== 'sandbox' || upstream.kind !== 'http') return false
      return (await directory.provider({ environment, ownerId }, provider))?.simulated ?? false
    },

    simulate(tool: Tool, input: unknown) {
      if (tool.upstream.kind !== 'http') throw new Error('only what a document describes can be simulated')
      return simulator.simulate(tool, tool.upstream, input)
    },

    async saveCollection(collection: Collection): Promise<void> {
      checkCollection(collection)
      await store.saveCollection(collection, clock.now())
      await directory.refresh(collection.environment)
    },

    async removeCollection(environment: Environment, ownerId: UserId | null, slug: string): Promise<void> {
      if (!(await store.dropCollection(environment, ownerId, slug))) throw collectionNotFound(slug)
      await directory.refresh(environment)
    },
  }
}

export type Catalogue = ReturnType<typeof createCatalogue>

export type CatalogueDeps = DirectoryDeps &
  Omit<ImportingDeps, 'directory' | 'credentials'> &
  Omit<CredentialDeps, 'directory'> & { simulator: Simulator }
