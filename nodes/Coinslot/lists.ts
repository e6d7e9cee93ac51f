import {
  NodeOperationError,
  type IDataObject,
  type ILoadOptionsFunctions,
  type INodeListSearchItems,
  type INodeListSearchResult,
} from 'n8n-workflow'
import { advice, ask, type Call } from '../shared/transport.ts'
import { text, usdc } from './failure.ts'

/** Published assets, the most popular first. */
export async function searchRdas(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  return await page(this, { path: '/rdas', list: 'rdas', filter, paginationToken }, ({ slug, name, pricing }) => ({
    name: `${text(name)} · ${priceOf(pricing as IDataObject)}`,
    value: text(slug),
  }))
}

/** Checkouts of the account, the newest first, with the state of those that take no payments now. */
export async function searchCheckouts(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const request = { path: '/checkouts', list: 'checkouts', filter: undefined, paginationToken }
  const found = await page(this, request, ({ id, product, price, url, status }) => ({
    name: `${text((product as IDataObject)['name'])} · ${usdc(price)}${status === 'active' ? '' : ` · ${text(status)}`}`,
    value: text(id),
    url: text(url),
  }))
  return withWords(found, filter)
}

/** Agents of the account, the newest first. */
export async function searchAgents(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const request = { path: '/agents', list: 'agents', filter: undefined, paginationToken }
  const found = await page(this, request, ({ id, name, status }) => ({
    name: `${text(name)} · ${text(status)}`,
    value: text(id),
  }))
  return withWords(found, filter)
}

/** For lists that the service does not search: each page is searched here. */
function withWords({ results, ...rest }: INodeListSearchResult, filter = ''): INodeListSearchResult {
  const wanted = filter.trim().toLowerCase()
  return {
    ...rest,
    results: results.filter(({ name, value }) => `${name} ${String(value)}`.toLowerCase().includes(wanted)),
  }
}

/** Tools, the best match first. */
export async function searchTools(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const request = { surface: 'tools' as const, path: '', list: 'tools', filter, paginationToken }
  return await page(this, request, ({ slug, name, provider, price }) => ({
    name: `${text(name)} (${text(provider)}) · ${priceOf({ amount: price })}`,
    value: text(slug),
  }))
}

/** The models that the chosen prompt may run on; all models while no prompt is chosen. */
export async function searchModels(this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
  const rda = chosen(this, 'rda')
  const models =
    rda === '' ? ((await load(this, { path: '/models' }))['models'] as IDataObject[]) : await modelsOf(this, rda)
  const results = models.map(({ id, name, tier }) => ({ name: `${text(name)} · ${text(tier)}`, value: text(id) }))
  return withWords({ results }, filter)
}

async function modelsOf(panel: ILoadOptionsFunctions, rda: string): Promise<IDataObject[]> {
  const body = await load(panel, { path: `/rda/${encodeURIComponent(rda)}` })
  const { promptConfig } = body['rda'] as { promptConfig: { allowedModels: IDataObject[] } | null }
  return promptConfig?.allowedModels ?? []
}

interface ListRequest {
  surface?: 'tools'
  path: string
  /** The name of the list in the answer. */
  list: string
  filter: string | undefined
  paginationToken: string | undefined
}

async function page(
  panel: ILoadOptionsFunctions,
  { list, filter, paginationToken, ...call }: ListRequest,
  toItem: (one: IDataObject) => INodeListSearchItems,
): Promise<INodeListSearchResult> {
  const offset = Number(paginationToken ?? 0)
  const query = { limit: PAGE, offset, ...(filter !== undefined && filter.trim() !== '' && { search: filter.trim() }) }
  const body = await load(panel, { ...call, query })
  const found = body[list] as IDataObject[]
  const next = offset + found.length
  const isLast = found.length === 0 || next >= Number(body['total'])
  return { results: found.map(toItem), ...(!isLast && { paginationToken: String(next) }) }
}

function priceOf({ model, amount }: IDataObject): string {
  if (model === 'free' || amount === 0) return 'free'
  const unit = { 'per-token': ' for 1,000 tokens', 'per-second': ' a second' }[text(model)] ?? ''
  return `${usdc(amount)}${unit}`
}

const PAGE = 50

/** Loads the data for a list or a form in the panel. */
export async function load(panel: ILoadOptionsFunctions, call: Omit<Call, 'method'>): Promise<IDataObject> {
  const answer = await ask(panel, { ...call, method: 'GET' })
  if (answer.reached && answer.status === 200) return answer.body
  throw new NodeOperationError(panel.getNode(), advice(answer))
}

/** The value chosen in the panel so far; empty if there is none. */
export function chosen(panel: ILoadOptionsFunctions, name: string): string {
  const value = panel.getCurrentNodeParameter(name, { extractValue: true })
  return typeof value === 'string' ? value.trim() : ''
}
