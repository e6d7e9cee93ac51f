import { FILE_BYTES_MAX, type UploadFault, type Uploading } from './form.ts'

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
