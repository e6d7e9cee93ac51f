import type { IBinaryData, IDataObject, IWebhookFunctions } from 'n8n-workflow'
import { apiAddress, isObject } from '../shared/transport.ts'
import { keyOf, type FieldParameters } from './form.ts'

/** What the item gets besides its json, or the reason why a file is not there. */
type Files = { binary: Record<string, IBinaryData> } | { missing: string }

export interface Time {
  /** All files are there by then, or none counts. */
  deadline: AbortSignal
  /** After so long without an answer the other address is tried. */
  answerMs: number
}

/**
 * The customer's uploads as binary data, by the names of their fields. Only those of this checkout are fetched: any other link
 * was written by a customer, and could lead anywhere.
 */
export async function filesOf(
  webhook: IWebhookFunctions,
  item: IDataObject,
  formUrl: string,
  time: Time,
): Promise<Files> {
  const { filesAsBinary } = webhook.getNodeParameter('options', {}) as { filesAsBinary?: boolean }
  if (filesAsBinary !== true) return { binary: {} }
  const { fields = [] } = webhook.getNodeParameter('customerFields', {}) as { fields?: FieldParameters[] }
  const input = isObject(item['input']) ? item['input'] : {}
  const uploads = fields
    .filter(({ type }) => type === 'file')
    .map((field) => ({ name: keyOf(field), link: input[keyOf(field)] }))
    .filter(isUpload(`${formUrl}/files/`))
  const binary: Record<string, IBinaryData> = {}
  const faults: string[] = []
  const from = await addressesOf(webhook, formUrl)
  const waiting = uploads.values()
  async function work(): Promise<void> {
    for (const { name, link } of waiting) {
      if (faults.length > 0) return
      const file = await fetched(webhook, link, { ...time, from })
      if ('missing' in file) faults.push(`The file of the field “${name}” cannot be fetched: ${file.missing}.`)
      else binary[name] = file.data
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const [missing] = faults
  return missing === undefined ? { binary } : { missing }
}

interface Upload {
  name: string
  link: string
}

function isUpload(prefix: string) {
  return (field: { name: string; link: unknown }): field is Upload =>
    typeof field.link === 'string' && field.link.startsWith(prefix)
}

/**
 * n8n in a container reaches the service under another name than customers do: under that of the credential. Addresses that do
 * not answer are removed from the list.
 */
async function addressesOf(webhook: IWebhookFunctions, formUrl: string): Promise<Set<string>> {
  const address = await apiAddress(webhook)
  const other = address !== undefined && URL.canParse(address) ? [new URL(address).origin] : []
  return new Set([new URL(formUrl).origin, ...other])
}

interface Fetching extends Time {
  from: Set<string>
}

async function fetched(webhook: IWebhookFunctions, link: string, { from, ...time }: Fetching): Promise<File> {
  const { pathname, search, searchParams } = new URL(link)
  for (const origin of [...from]) {
    if (time.deadline.aborted) break
    const content = await fetchedFrom(webhook, `${origin}${pathname}${search}`, time)
    if (content === null) {
      if (!time.deadline.aborted) from.delete(origin)
      continue
    }
    if ('missing' in content) return content
    // n8n may store it elsewhere, which takes its time too.
    const stored = webhook.helpers.prepareBinaryData(content.bytes, searchParams.get('name') ?? undefined, content.type)
    return await before(time.deadline, stored).then(
      (data) => ({ data }),
      () => ({ missing: 'n8n cannot store it in time' }),
    )
  }
  return { missing: time.deadline.aborted ? 'it took too long' : 'Coinslot cannot be reached' }
}

/** Null without an answer. The link needs no key, so none is sent. */
async function fetchedFrom(
  webhook: IWebhookFunctions,
  url: string,
  { deadline, answerMs }: Time,
): Promise<Content | null> {
  const ending = new AbortController()
  const request = webhook.helpers.httpRequest({
    method: 'GET',
    url,
    encoding: 'stream',
    abortSignal: ending.signal,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    disableFollowRedirect: true,
  }) as Promise<{ statusCode: number; headers?: IDataObject; body: Body }>
  try {
    const answered = AbortSignal.any([deadline, AbortSignal.timeout(answerMs)])
    const { statusCode, headers, body } = await before(answered, request)
    if (statusCode === 404) return { missing: 'it is stored no longer' }
    if (statusCode !== 200) return { missing: `Coinslot answered with status ${statusCode}` }
    const bytes = await before(deadline, bytesOf(body))
    if (bytes === null) return { missing: 'it is larger than a file may be' }
    const type = headers?.['content-type']
    return { bytes, type: typeof type === 'string' ? type : 'application/octet-stream' }
  } catch (error) {
    webhook.logger.warn(`No file from ${new URL(url).host}: ${error instanceof Error ? error.message : 'no answer'}`)
    return null
  } finally {
    // What is still on its way ends, also where this version of n8n does not follow the signal.
    ending.abort()
    request.then(
      ({ body }) => body.destroy(),
      () => undefined,
    )
  }
}

async function bytesOf(body: Body): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BYTES_MAX) return null
  }
  return Buffer.concat(chunks)
}

/** Throws where the signal comes first. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new Promise<never>((_, reject) => {
    const end = (): void => {
      reject(new Error('no answer in time'))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  return await Promise.race([work, over])
}

/** A stream of Node's. */
type Body = AsyncIterable<Buffer> & { destroy: () => unknown }

type Content = { bytes: Buffer; type: string } | { missing: string }
type File = { data: IBinaryData } | { missing: string }

const AT_ONCE = 3
/** As much as a customer may upload. */
const BYTES_MAX = 10_000_000
