import { DomainError, invalid } from '../../kit/errors.ts'
import { didYouMean } from '../../kit/nearest.ts'

export function toolNotFound(meant: string | null): DomainError {
  const sentence = `There is no such tool; search for one, or list the catalogue.${didYouMean(meant)}`
  return new DomainError('missing', 'tool_not_found', sentence, { didYouMean: meant })
}

export function toolRemoved(slug: string, successor: string | null): DomainError {
  const instead = successor === null ? 'it has no known replacement' : `use ${successor} instead`
  return new DomainError('expired', 'tool_removed', `The tool ${slug} was removed: ${instead}.`, { successor })
}

export function collectionNotFound(slug: string): DomainError {
  return new DomainError(
    'missing',
    'collection_not_found',
    `There is no collection ${slug}. List the collections to find one.`,
  )
}

/** `why` is the document reader's sentence. */
export function documentRefused(why: string): DomainError {
  return new DomainError('invalid', 'document_refused', `The document cannot be imported: ${why}`)
}

export function serverRefused(why: string): DomainError {
  return new DomainError('upstream', 'mcp_server_refused', `The MCP server cannot be imported: ${why}`)
}

export function slugsCollide(provider: string): DomainError {
  const fault = `its tools would have the same slugs as those of another provider, whose slug begins like ${provider}`
  return invalid({ provider: fault })
}

export function importsBusy(): DomainError {
  return new DomainError('unavailable', 'imports_busy', 'Other imports are in progress. Try again in a minute.', {
    retryAfterSeconds: 60,
  })
}
