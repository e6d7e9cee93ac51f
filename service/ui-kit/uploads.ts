/*
 * Files that customers upload into the form of a checkout. The value of such a field is a link: of this service for what was uploaded,
 * or any other one that the customer has typed.
 */

/** Uploads a file and answers the link that is the field's value. */
type Uploading = (
  file: File,
  progress: { stop: AbortSignal; onPart: (part: number) => void },
) => Promise<{ url: string } | { fault: UploadFault }>

export type UploadFault = 'large' | 'empty' | 'full' | 'failed'

/** The service's own limit, for a sentence before anything is sent. */
const FILE_BYTES_MAX = 10_000_000

/** `at`: the checkout's own address. By XMLHttpRequest, because only that says how much has been sent. */
export function openUploads(at: string): Uploading {
  return async (file, { stop, onPart }) => {
    if (file.size === 0) return { fault: 'empty' }
    if (file.size > FILE_BYTES_MAX) return { fault: 'large' }
    return await new Promise((resolve) => {
      const request = new XMLHttpRequest()
      request.open('POST', `${at}/files?name=${encodeURIComponent(file.name.slice(-NAME_MAX))}`)
      request.setRequestHeader('accept', 'application/json')
      request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type)
      request.upload.addEventListener('progress', ({ loaded, total }) => {
        onPart(total === 0 ? 0 : loaded / total)
      })
      request.addEventListener('load', () => {
        resolve(resultOf(request))
      })
      request.addEventListener('error', () => {
        resolve({ fault: 'failed' })
      })
      stop.addEventListener('abort', () => {
        request.abort()
        resolve({ fault: 'failed' })
      })
      request.send(file)
    })
  }
}

const NAME_MAX = 200

function resultOf({ status, responseText }: XMLHttpRequest): { url: string } | { fault: UploadFault } {
  if (status === 413) return { fault: 'large' }
  if (status === 429) return { fault: 'full' }
  if (status !== 201) return { fault: 'failed' }
  try {
    const { file } = JSON.parse(responseText) as { file: { url: string } }
    return { url: file.url }
  } catch {
    return { fault: 'failed' }
  }
}
