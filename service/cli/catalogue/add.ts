import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { parseArgs } from 'node:util'
import { invalid } from '../../kit/errors.ts'
import type { Environment } from '../../kit/owner.ts'
import type { ImportReport } from '../../tools/model/draft.ts'
import type { AuthScheme } from '../../tools/model/tool.ts'
import { connectingOf, CURATED, curatedProvider } from '../../tools/providers/curated.ts'
import type { CuratedProvider } from '../../tools/providers/model.ts'
import type { Catalogue } from '../../tools/service/catalogue/catalogue.ts'
import type { ImportRequest } from '../../tools/service/catalogue/importing.ts'
import type { Preview } from '../../tools/service/catalogue/preview.ts'

export const ADD_OPTIONS = {
  file: { type: 'string' },
  hash: { type: 'string' },
  accept: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
} as const

interface AddInput {
  catalogue: Catalogue
  environment: Environment
  names: readonly string[]
  flags: ReturnType<typeof parseArgs<{ options: typeof ADD_OPTIONS }>>['values'] & { server?: string | undefined }
}

/** False where arguments are missing, 1 where nothing was imported because the document is another one. */
export async function addCurated(
  input: AddInput,
  curated = CURATED,
): Promise<boolean | number | { report: ImportReport; next: readonly string[] }> {
  const { catalogue, environment, names, flags } = input
  const [slug] = names
  if (slug === undefined) return false
  const provider = curatedProvider(slug, curated)
  const { ownServer, document } = provider
  if (ownServer !== undefined && flags.server === undefined)
    throw invalid({ '--server': `must name your server at ${provider.name}, such as ${ownServer}` })
  console.log(flags.file === undefined ? `Fetching ${document} …` : `Reading ${flags.file} …`)
  const text = flags.file === undefined ? await catalogue.fetchDocument(document) : await readFile(flags.file, 'utf8')
  const sha256 = createHash('sha256').update(text).digest('hex')
  const pinned = (await catalogue.sourceOf(environment, slug))?.sha256 ?? null
  const request = requestOf(provider, environment, { from: document, sha256 }, flags.server ?? null)
  const preview = await catalogue.previewDocument(request, text)
  show(provider, preview, sha256)
  const fault = faultOf(sha256, flags.hash?.toLowerCase() ?? null, flags.accept === true ? null : pinned)
  if (fault !== null) {
    console.error(fault)
    return 1
  }
  if (flags['dry-run'] === true) {
    console.log('Nothing was imported.')
    return true
  }
  const auth = preview.hasAuth ? null : authOf(provider)
  const report = await catalogue.importDocument({ ...request, auth }, text)
  if (provider.isPublic === true) await catalogue.setPublic({ environment, ownerId: null, provider: slug }, true)
  return { report, next: connectingOf(provider) }
}

/** In the sandbox its calls are answered with examples, as those of the documents that come with the service. */
function requestOf(
  provider: CuratedProvider,
  environment: Environment,
  source: { from: string; sha256: string },
  server: string | null,
): ImportRequest {
  const { slug, name, description, pricing, offered } = provider
  return {
    environment,
    ownerId: null,
    slug,
    name,
    description,
    pricing,
    server,
    source,
    simulated: environment === 'sandbox',
    ...(offered === undefined ? {} : { offered }),
  }
}

/** How its tools are authenticated where the document does not say it. */
function authOf({ connect: [first] }: CuratedProvider): AuthScheme | null {
  if (first === undefined) return null
  return first.kind === 'key' ? first.place : { kind: 'bearer' }
}

function show({ name }: CuratedProvider, { operations, others, skipped }: Preview, sha256: string): void {
  const rest = others === 0 ? '' : `, ${String(others)} are not offered`
  console.log(`${name}: ${String(operations)} operations become tools${rest}, ${String(skipped.length)} are left out.`)
  console.log(`sha256 ${sha256}`)
}

function faultOf(sha256: string, wanted: string | null, pinned: string | null): string | null {
  if (wanted !== null)
    return wanted === sha256 ? null : `The document does not have the sha256 ${wanted}. Nothing was imported.`
  if (pinned === null || pinned === sha256) return null
  return `The document has changed since it was imported, with the sha256 ${pinned}. Nothing was imported. Read what is new, then repeat with --accept or with --hash ${sha256}.`
}
