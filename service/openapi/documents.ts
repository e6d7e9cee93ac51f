import { breathing } from '../kit/breath.ts'
import { documentRefused } from '../tools/errors/catalogue.ts'
import { bytesOf, type Operation, type Reading, type Skipped } from '../tools/model/draft.ts'
import type { Documents } from '../tools/ports/sources.ts'
import { isRecord, type Raw } from '../kit/schema/merge.ts'
import { operationsOf } from './operations.ts'
import { DOCUMENT_LIMITS } from './references.ts'
import { plain } from '../kit/schema/bounded.ts'
import { schemesOf } from './security.ts'
import { fromSwagger, isSwagger } from './swagger.ts'
import { linkedDocument } from './thread.ts'

/** OpenAPI 3 and Swagger 2.0, as JSON or YAML. */
export function createDocuments({ limitMs = LIMIT_MS }: { limitMs?: number } = {}): Documents {
  return {
    edition: EDITION,

    async read(text, options): Promise<Reading> {
      const longest = options.trusted ? CHARACTERS_MAX : (options.charactersMax ?? CHARACTERS_MAX)
      if (text.length > longest) throw documentRefused(`it is longer than ${String(longest)} characters.`)
      const result = await linkedDocument(text, { limitMs })
      if ('fault' in result) throw documentRefused(sentence(result.fault))
      const document = inVersion3(result.document)
      const info = isRecord(document['info']) ? document['info'] : {}
      const operations: Operation[] = []
      const skipped: Skipped[] = []
      let bytes = 0
      const end = performance.now() + limitMs
      const breathe = breathing()
      for (const found of operationsOf(document, options)) {
        if ('why' in found) skipped.push(found)
        else operations.push(found)
        if (options.check !== undefined && !('why' in found)) {
          bytes += bytesOf(found)
          options.check({ tools: operations.length, bytes })
        }
        if (operations.length + skipped.length > OPERATIONS_MAX)
          throw documentRefused(`it has more than ${String(OPERATIONS_MAX)} operations.`)
        if (performance.now() > end) throw documentRefused('it takes too long to read.')
        await breathe()
      }
      return {
        name: textOf(info['title'], 80),
        description: textOf(info['description'], 400),
        version: info['version'] === undefined ? null : textOf(info['version'], 40),
        operations,
        skipped,
        schemes: schemesOf(document, options.auth),
      }
    },
  }
}

function inVersion3(document: unknown): Raw {
  if (isSwagger(document)) return fromSwagger(document)
  if (isRecord(document) && /^3(\.[0-2])?(\.|$)/.test(String(document['openapi']))) return document
  const said = isRecord(document) ? (document['openapi'] ?? document['swagger']) : undefined
  const version =
    typeof said === 'string' || typeof said === 'number' ? `says ${plain(String(said), 40)}` : 'says neither'
  throw documentRefused(`it must say openapi 3.0, 3.1 or 3.2, or swagger 2.0; it ${version}.`)
}

/** Increase it with every change to how documents are read: then all are read again. */
const EDITION = '3'
const LIMIT_MS = 60_000
const CHARACTERS_MAX = 40_000_000
const OPERATIONS_MAX = DOCUMENT_LIMITS.operations

function textOf(value: unknown, longest: number): string {
  return typeof value === 'string' ? plain(value, longest) : ''
}

function sentence(text: string): string {
  const short = plain(text, 600)
  return /[.!?…]$/.test(short) ? short : `${short}.`
}
