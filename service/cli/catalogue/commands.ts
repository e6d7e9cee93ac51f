import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { parseArgs } from 'node:util'
import { invalid } from '../../kit/errors.ts'
import { isId } from '../../kit/ids.ts'
import { fromDecimal, toDecimal, type Usdc } from '../../kit/money.ts'
import { importShipped, shippedImport } from '../../wiring/tools-shipped.ts'
import type { Environment } from '../../kit/owner.ts'
import { SHIPPED, shippedText } from '../../openapi/shipped.ts'
import type { ImportReport } from '../../tools/model/draft.ts'
import type { PriceRule } from '../../tools/model/provider.ts'
import type { AuthScheme } from '../../tools/model/tool.ts'
import { CURATED } from '../../tools/providers/curated.ts'
import { CLIENT_OPTIONS, setOAuth, setPublic } from './access.ts'
import { ADD_OPTIONS, addCurated } from './add.ts'
import { TRIAL_OPTIONS, tryTools, type Trials } from './trial.ts'
import type { Catalogue } from '../../tools/service/catalogue/catalogue.ts'
import type { ImportRequest } from '../../tools/service/catalogue/importing.ts'

const text = { type: 'string' } as const

export const OPTIONS = {
  environment: text,
  help: { type: 'boolean' },
  provider: text,
  collection: text,
  name: text,
  description: text,
  server: text,
  auth: text,
  price: text,
  'price-get': text,
  mcp: text,
  'key-file': text,
  'no-key': { type: 'boolean' },
  ...CLIENT_OPTIONS,
  ...ADD_OPTIONS,
  ...TRIAL_OPTIONS,
} as const

export type Flags = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

export interface CommandInput {
  catalogue: Catalogue
  environment: Environment
  names: readonly string[]
  flags: Flags
  /** Requests to the tools' servers, and a question to the person at the terminal. */
  trials: Trials
}

/** Each answers false where arguments are missing, or the exit code. */
export const COMMANDS: Readonly<Record<string, (input: CommandInput) => Promise<boolean | number>>> = {
  list,
  providers,
  add: addProvider,
  test: testTools,
  import: importTools,
  key: setKey,
  public: setPublic,
  oauth: setOAuth,
  remove,
  drop,
  collection: saveCollection,
  'drop-collection': dropCollection,
}

async function addProvider(input: CommandInput): Promise<boolean | number> {
  const outcome = await addCurated(input)
  if (typeof outcome !== 'object') return outcome
  report(outcome.report)
  for (const line of outcome.next) console.log(line)
  return true
}

async function testTools({ catalogue, environment, names: [name], flags, trials }: CommandInput) {
  return name === undefined ? false : await tryTools({ catalogue, environment, name, flags, trials })
}

async function list({
  catalogue,
  environment,
  names,
  flags: { provider, collection },
}: CommandInput): Promise<boolean> {
  const search = names.join(' ')
  const { tools, total, nearest } = await catalogue.list({
    environment,
    viewer: null,
    search,
    provider,
    collection,
    limit: search === '' ? 10_000 : 20,
    offset: 0,
  })
  if (nearest.length > 0) console.log('No tool fits; these come nearest:')
  for (const { tool } of [...tools, ...nearest]) console.log(`${tool.slug}\t${toDecimal(tool.price)}\t${tool.name}`)
  console.log(
    `${String(total)} tools in ${environment}${total > tools.length ? `, the best ${String(tools.length)} above` : ''}.`,
  )
  return true
}

/** Those that are there, and those of the curated list that are not. */
async function providers(input: CommandInput): Promise<boolean> {
  await listProviders(input)
  const { catalogue, environment } = input
  const there = new Set((await catalogue.providers(environment, null)).map(({ slug }) => slug))
  for (const { slug, topic, name, connect } of CURATED.filter((one) => !there.has(one.slug))) {
    const ways = connect.map((way) => (way.kind === 'oauth' ? 'sign-in' : 'key'))
    console.log(`${slug}\tcan be added\t${topic}, ${[...new Set(ways)].join(' or ') || 'no key'}\t${name}`)
  }
  return true
}

async function listProviders({ catalogue, environment }: CommandInput): Promise<boolean> {
  for (const { slug, tools, kind, simulated, name } of await catalogue.providers(environment, null)) {
    console.log(`${slug}\t${String(tools)} tools\t${kind}${simulated ? ', simulated' : ''}\t${name}`)
  }
  return true
}

async function importTools(input: CommandInput): Promise<boolean> {
  const { catalogue, environment, names, flags } = input
  const [source] = names
  if (flags.mcp !== undefined) {
    if (flags.provider === undefined) return false
    const wanted = { ...wantedOf(input, flags.provider), ...(await credentialsOf(flags)) }
    report(await catalogue.importServer(wanted, flags.mcp))
    if (flags['key-file'] !== undefined) await setKey({ ...input, names: [flags.provider] })
    return true
  }
  if (source === undefined) return false
  if (source === 'shipped') {
    await importShipped(catalogue, environment, { restores: true })
    return await listProviders(input)
  }
  const shipped = SHIPPED.find(({ slug }) => slug === source)
  if (shipped !== undefined && flags.provider === undefined) {
    report(await catalogue.importDocument(shippedImport(source, environment), await shippedText(source)))
  } else if (flags.provider === undefined) return false
  else if (/^https?:\/\//.test(source)) {
    report(await catalogue.importAddress({ ...wantedOf(input, flags.provider), source: { from: source } }))
  } else {
    const text = await readFile(source, 'utf8')
    report(
      await catalogue.importDocument(
        { ...wantedOf(input, flags.provider), source: { from: path.basename(source) } },
        text,
      ),
    )
  }
  if (flags['key-file'] !== undefined) await setKey({ ...input, names: [flags.provider ?? source] })
  return true
}

async function setKey({ catalogue, environment, names, flags }: CommandInput): Promise<boolean> {
  const [provider] = names
  const file = flags['key-file']
  if (provider === undefined || (file === undefined) === (flags['no-key'] !== true)) return false
  const secret = file === undefined ? null : (await readFile(file, 'utf8')).trim()
  await catalogue.setCredentials({ environment, ownerId: null, provider }, secret)
  console.log(
    `${provider} in ${environment} is called ${secret === null ? 'without a key' : 'with this key'} from now on.`,
  )
  return true
}

async function remove({ catalogue, environment, names: [provider] }: CommandInput): Promise<boolean> {
  if (provider === undefined) return false
  report(await catalogue.removeProvider(environment, null, provider))
  return true
}

/** An account's own tools are out of reach of `remove`, which is for the platform's. */
async function drop({ catalogue, environment, names: [account] }: CommandInput): Promise<boolean> {
  if (account === undefined) return false
  if (!isId('usr', account)) throw invalid({ account: 'must be the id of an account, usr_ and 26 characters' })
  const tools = await catalogue.dropTools(environment, account)
  console.log(`${account} in ${environment}: ${String(tools)} tools deleted, with their providers and collections.`)
  return true
}

async function saveCollection({ catalogue, environment, names, flags }: CommandInput): Promise<boolean> {
  const [slug, ...patterns] = names
  if (slug === undefined || patterns.length === 0) return false
  const { name = slug, description = '' } = flags
  await catalogue.saveCollection({ environment, ownerId: null, slug, name, description, patterns })
  const { total } = await catalogue.list({ environment, viewer: null, collection: slug, limit: 1, offset: 0 })
  console.log(`${slug} in ${environment} has ${String(total)} tools.`)
  return true
}

async function dropCollection({ catalogue, environment, names: [slug] }: CommandInput): Promise<boolean> {
  if (slug === undefined) return false
  await catalogue.removeCollection(environment, null, slug)
  console.log(`${slug} in ${environment} was removed; its tools remain.`)
  return true
}

function wantedOf({ environment, flags }: CommandInput, slug: string): ImportRequest {
  const { name = null, description = null, server = null, auth } = flags
  return {
    environment,
    ownerId: null,
    slug,
    name,
    description,
    server,
    simulated: false,
    source: null,
    pricing: pricingOf(flags),
    auth: auth === undefined ? null : schemeOf(auth),
    trusted: false,
  }
}

async function credentialsOf(flags: Flags): Promise<Pick<ImportRequest, 'credentials'>> {
  const file = flags['key-file']
  if (file === undefined) return {}
  const secret = (await readFile(file, 'utf8')).trim()
  return { credentials: { headers: { authorization: `Bearer ${secret}` } } }
}

function pricingOf({ price, 'price-get': get }: Flags): Partial<PriceRule> {
  return {
    ...(price === undefined ? {} : { otherwise: amountOf(price, '--price') }),
    ...(get === undefined ? {} : { byMethod: { GET: amountOf(get, '--price-get') } }),
  }
}

function amountOf(text: string, flag: string): Usdc {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text))
    throw invalid({ [flag]: 'must be an amount of USDC with at most 6 decimals' })
  return fromDecimal(text)
}

function schemeOf(text: string): AuthScheme {
  if (text === 'bearer' || text === 'basic') return { kind: text }
  const [, place, name] = /^(header|query|cookie):([A-Za-z0-9_.-]+)$/.exec(text) ?? []
  if (name === undefined)
    throw invalid({ '--auth': 'must be bearer, basic, header:<name>, query:<name> or cookie:<name>' })
  return { kind: 'apiKey', in: place as 'header' | 'query' | 'cookie', name }
}

function report(imported: ImportReport): void {
  const { provider, environment, added, changed, removed, unchanged, skipped, keyRemoved } = imported
  const counts = { added: added.length, changed: changed.length, removed: removed.length, unchanged }
  const words = Object.entries(counts).map(([what, count]) => `${String(count)} ${what}`)
  console.log(`${provider} in ${environment}: ${words.join(', ')}.`)
  for (const [what, slugs] of Object.entries({ changed, removed })) {
    for (const slug of slugs.slice(0, SHOWN)) console.log(`  ${what}: ${slug}`)
    if (slugs.length > SHOWN) console.log(`  … and ${String(slugs.length - SHOWN)} more`)
  }
  for (const { operation, why } of skipped) console.log(`  left out: ${operation}: ${why}`)
  if (keyRemoved) console.log('  The stored key was removed too.')
}

const SHOWN = 20
