import type { IBinaryData, IDataObject, IWebhookFunctions } from 'n8n-workflow'
import { apiAddress, isObject } from '../shared/transport.ts'
import { keyOf, type FieldParameters } from './form.ts'

/** What the item gets besides its json, or the reason why a file is not there. */
type Files = { binary: Record<string, IBinaryData> } | { missing: string }

/**
 * The customer's uploads as binary data, by the names of their fields. Only those of this checkout are fetched: any other link
 * was written by a customer, and could lead anywhere.
 */
export async function filesOf(webhook: IWebhookFunctions, item: IDataObject, formUrl: string): Promise<Files> {
  const { filesAsBinary } = webhook.getNodeParameter('options', {}) as { filesAsBinary?: boolean }
  if (filesAsBinary !== true) return { binary: {} }
  const { fields = [] } = webhook.getNodeParameter('customerFields', {}) as { fields?: FieldParameters[] }
  const input = isObject(item['input']) ? item['input'] : {}
  const binary: Record<string, IBinaryData> = {}
  for (const field of fields.filter(({ type }) => type === 'file')) {
    const name = keyOf(field)
    const link = input[name]
    if (typeof link !== 'string' || !link.startsWith(`${formUrl}/files/`)) continue
    const file = await fetched(webhook, link)
    if ('missing' in file) return { missing: `The file of the field “${name}” cannot be fetched: ${file.missing}.` }
    const fileName = new URL(link).searchParams.get('name') ?? undefined
    binary[name] = await webhook.helpers.prepareBinaryData(file.content, fileName, file.type)
  }
  return { binary }
}

async function fetched(webhook: IWebhookFunctions, link: string): Promise<File> {
  const first = await fetchedFrom(webhook, link)
  if (first !== null) return first
  // n8n in a container reaches the service under another name than customers do: under that of the credential.
  const address = await apiAddress(webhook)
  if (address === undefined || !URL.canParse(address)) return { missing: UNREACHED }
  const { pathname, search } = new URL(link)
  return (await fetchedFrom(webhook, `${new URL(address).origin}${pathname}${search}`)) ?? { missing: UNREACHED }
}

/** Null without an answer. The link needs no key, so none is sent. */
async function fetchedFrom(webhook: IWebhookFunctions, url: string): Promise<File | null> {
  try {
    const answer: unknown = await webhook.helpers.httpRequest({
      method: 'GET',
      url,
      encoding: 'stream',
      // Both addresses may be tried within the time of one attempt.
      timeout: 6_000,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
      disableFollowRedirect: true,
    })
    const { statusCode, headers, body } = answer as { statusCode: number; headers?: IDataObject; body: Body }
    if (statusCode !== 200) {
      body.destroy()
      const why = statusCode === 404 ? 'it is stored no longer' : `Coinslot answered with status ${statusCode}`
      return { missing: why }
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > BYTES_MAX) return { missing: 'it is larger than a file may be' }
    }
    const type = headers?.['content-type']
    return { content: Buffer.concat(chunks), type: typeof type === 'string' ? type : 'application/octet-stream' }
  } catch (error) {
    webhook.logger.warn(`No file from ${new URL(url).host}: ${error instanceof Error ? error.message : 'no answer'}`)
    return null
  }
}

/** A stream of Node's. */
type Body = AsyncIterable<Buffer> & { destroy: () => unknown }

type File = { content: Buffer; type: string } | { missing: string }

const UNREACHED = 'Coinslot cannot be reached'
/** As much as a customer may upload. */
const BYTES_MAX = 10_000_000
