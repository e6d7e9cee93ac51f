import { setImmediate } from 'node:timers/promises'
import { documentRefused } from '../tools/errors/catalogue.ts'
import type { Operation, Reading, Skipped } from '../tools/model/draft.ts'
import type { Documents } from '../tools/ports/sources.ts'
import { isRecord } from '../kit/schema/merge.ts'
import { operationsOf } from './operations.ts'
import { plain } from '../kit/schema/bounded.ts'
import { dereference } from './thread.ts'

/** OpenAPI 3.0 and 3.1, as JSON or YAML. */
export function createDocuments({ limitMs = LIMIT_MS }: { limitMs?: number } = {}): Documents {
  return {
    edition: EDITION,

    async read(text, options): Promise<Reading> {
      if (text.length > CHARACTERS_MAX) throw documentRefused('it is too large.')
      const result = await dereference({ text, validate: !options.trusted }, { limitMs })
      if ('fault' in result) throw documentRefused(sentence(result.fault))
      const { document } = result
      if (!isRecord(document) || !/^3\.[01](\.|$)/.test(String(document['openapi'])))
        throw documentRefused('it is not OpenAPI 3.0 or 3.1.')
      const info = isRecord(document['info']) ? document['info'] : {}
      const operations: Operation[] = []
      const skipped: Skipped[] = []
      let count = 0
      let bytes = 0
      const end = performance.now() + limitMs
      for (const found of operationsOf(document, options)) {
        if ('why' in found) skipped.push(found)
        else operations.push(found)
        if (options.check !== undefined && !('why' in found)) {
          bytes += bytesOf(found)
          options.check({ tools: operations.length, bytes })
        }
        if (operations.length > OPERATIONS_MAX)
          throw documentRefused(`it has more than ${String(OPERATIONS_MAX)} operations.`)
        // Lets other requests run in between.
        if (++count % BREATH === 0) await setImmediate()
        if (performance.now() > end) throw documentRefused('it takes too long to read.')
      }
      return {
        name: textOf(info['title'], 80),
        description: textOf(info['description'], 400),
        version: info['version'] === undefined ? null : textOf(info['version'], 40),
        operations,
        skipped,
      }
    },
  }
}

function bytesOf({ input, output, upstream, description }: Operation): number {
  return Buffer.byteLength(JSON.stringify([input, output, upstream, description]))
}

/** Increase it with every change to how documents are read: then all are read again. */
const EDITION = '1'
const LIMIT_MS = 60_000
const CHARACTERS_MAX = 40_000_000
const OPERATIONS_MAX = 10_000
const BREATH = 4

function textOf(value: unknown, longest: number): string {
  return typeof value === 'string' ? plain(value, longest) : ''
}

function sentence(text: string): string {
  const short = plain(text, 600)
  return /[.!?…]$/.test(short) ? short : `${short}.`
}
