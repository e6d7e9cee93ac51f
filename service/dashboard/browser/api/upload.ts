import { environment } from '../settings.ts'
import { Fault, fromAnswer, silence } from './fault.ts'
import type { Output } from './procedures.ts'
import { accountHeaders, sessionEnded } from './session.ts'

export type StoredFile = Output<'files.get'>

interface Uploading {
  purpose: StoredFile['purpose']
  /** From 0 to 1. */
  progress: (share: number) => void
  signal: AbortSignal
}

/** Sends a file's bytes. `fetch` cannot tell how much of a body was sent, so an older request object does it. */
export function upload(file: File, { purpose, progress, signal }: Uploading): Promise<StoredFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const query = new URLSearchParams({ name: nameOf(file), purpose })
    request.open('POST', `/trpc/files?${query.toString()}`)
    request.setRequestHeader('coinslot-environment', environment())
    for (const [name, value] of Object.entries(accountHeaders())) request.setRequestHeader(name, value)
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type)
    request.upload.onprogress = ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(silence())
    request.onabort = () => reject(new Fault('The upload was canceled.', { code: 'canceled' }))
    request.onload = () => {
      const answer = jsonOf(request.responseText)
      if (request.status === 201) resolve(answer as StoredFile)
      else {
        const fault = fromAnswer(request.status, answer)
        if (fault.isSessionOver) sessionEnded()
        reject(fault)
      }
    }
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

/** The service refuses folders and longer names. */
function nameOf({ name }: File): string {
  const plain = name.replaceAll(/[/\\]/g, '_')
  return plain.length <= NAME_MAX ? plain : plain.slice(plain.length - NAME_MAX)
}

const NAME_MAX = 200

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
