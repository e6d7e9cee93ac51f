import { DomainError, invalid } from '../../../kit/errors.ts'
import type { HttpUpstream } from '../../model/tool.ts'
import type { Upstreams } from '../../ports/calls.ts'
import { bytesIn, fileOf, type NamedFile, type SentFile } from '../../rules/files.ts'

/** Brings the files of an input here before its tool is asked, by the guarded client and without any credential. */
export function createFiles({
  upstreams,
  fileBytesMax,
}: {
  upstreams: Pick<Upstreams, 'fetch'>
  fileBytesMax: number
}) {
  /** All files of one call together have one limit. */
  async function withFiles(upstream: HttpUpstream, input: Input, signal: AbortSignal): Promise<Input> {
    const fields = Object.entries(upstream.where).filter(([field, { file }]) => file === true && field in input)
    if (fields.length === 0) return input
    const brought: Record<string, SentFile | SentFile[]> = {}
    let left = fileBytesMax
    for (const [field] of fields) {
      const given = input[field] as NamedFile | NamedFile[]
      const files: SentFile[] = []
      for (const one of [given].flat()) {
        const file = await bring(field, one, left, signal)
        left -= file.bytes.length
        if (left < 0) throw tooLarge(field)
        files.push(file)
      }
      const [only = files] = files
      brought[field] = Array.isArray(given) ? files : only
    }
    return { ...input, ...brought }
  }

  async function bring(field: string, file: NamedFile, bytesMax: number, signal: AbortSignal): Promise<SentFile> {
    const { url, base64 } = file
    if (url === undefined) return fileOf(bytesIn(field, base64 ?? ''), file, null)
    try {
      const { status, contentType, body } = await upstreams.fetch(url, bytesMax, signal)
      if (status !== 200) throw invalid({ [field]: `its address answered with ${String(status)}` })
      return fileOf(body, file, contentType)
    } catch (error) {
      if (!(error instanceof DomainError) || signal.aborted || error.code === 'invalid_input') throw error
      if (error.code === 'response_too_large') throw tooLarge(field)
      throw invalid({ [field]: 'cannot be fetched from its address' }).causedBy(error)
    }
  }

  function tooLarge(field: string): DomainError {
    return invalid({ [field]: `the files of a call may have ${String(fileBytesMax)} bytes together` })
  }

  return withFiles
}

type Input = Readonly<Record<string, unknown>>
