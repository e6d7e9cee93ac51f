import { usdc } from '../../service/kit/money.ts'
import type { Upstream } from '../paywall/upstream.ts'
import { toolBody } from '../marketplace/bodies.ts'
import { importRequest } from '../tools/calls/world.ts'
import { documentOf } from '../tools/document.ts'
import type { TestPerson, TestService } from './service.ts'

export const PRODUCTS = ['checkout', 'gate', 'tool', 'asset'] as const
export type Product = (typeof PRODUCTS)[number]
export interface Goods {
  url: string
  requestOf(title: string): RequestInit
}
export type Shop = Readonly<Record<Product, Goods>>

/** In micro-dollars, of each product; the older client of x402 pays at most a tenth of a dollar by itself. */
export const PRICE = 20_000n
const AMOUNT = 0.02

/** One of each product, at the same price and paid to the same address: what one signature could buy, if it could. */
export async function openShop({
  origin,
  upstream,
  post,
  importTool,
  network = 'base-sepolia',
}: ShopDeps): Promise<Shop> {
  for (const path of ['/hook', '/ran']) {
    upstream.on(path, (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":"done"}'),
    )
  }
  const inputSchema = [{ name: 'title', label: 'Title', type: 'text', required: false }]
  const toolConfig = { apiEndpoint: `${upstream.url}/ran`, apiMethod: 'POST', basePrice: AMOUNT }
  await post('/v1/rda', toolBody({ slug: 'shop-asset', inputSchema, toolConfig }))
  await post('/v1/rda/shop-asset/publish', {})
  const asset = `${origin}/v1/rda/shop-asset/run`
  const unpaid = (await (await fetch(asset, json({ inputs: {} }))).json()) as { accepts: { payTo: string }[] }
  const terms = { network, recipient: unpaid.accepts[0]!.payTo }
  const { checkout } = await post('/v1/checkouts', {
    ...{ callbackUrl: `${upstream.url}/hook`, product: { name: 'A report' }, price: AMOUNT, ...terms },
    fields: [{ name: 'title', type: 'text' }],
  })
  await post('/v1/paywalls', {
    ...{ slug: 'shop-gate', name: 'Weather', upstreamUrl: upstream.url, ...terms },
    routes: [{ method: 'POST', path: '/weather', pricing: { model: 'per-request', amount: AMOUNT } }],
  })
  const notes = { path: '/notes', operationId: 'createNote', summary: 'Write a note down', field: 'title' }
  await importTool(documentOf(notes), upstream.url)
  return {
    checkout: { url: `${origin}/p/${(checkout as { id: string }).id}`, requestOf: (title) => json({ title }) },
    gate: { url: `${origin}/gate/shop-gate/weather`, requestOf: (title) => json({ title }) },
    tool: { url: `${origin}/tools/acme-create-note`, requestOf: (title) => json({ title }) },
    asset: { url: asset, requestOf: (title) => json({ inputs: { title } }) },
  }
}

/** The same in a service of this process. */
export async function openShopIn(service: TestService, seller: TestPerson, upstream: Upstream): Promise<Shop> {
  const { environment } = seller.caller
  return await openShop({
    origin: service.origin,
    network: environment === 'production' ? 'base' : 'base-sepolia',
    upstream,
    post: (path, body) => posted(seller, path, body),
    importTool: async (document, server) => {
      const request = importRequest(server, { environment, pricing: { otherwise: usdc(PRICE) } })
      await service.catalogue.importDocument(request, JSON.stringify(document))
    },
  })
}

/** What the API answers; throws where it refuses. */
export async function posted(person: TestPerson, path: string, body: object): Promise<Record<string, unknown>> {
  const { status, body: answer, text } = await person.call('POST', path, { body })
  if (status >= 300) throw new Error(`${path}: ${text}`)
  return answer as Record<string, unknown>
}

interface ShopDeps {
  origin: string
  network?: 'base' | 'base-sepolia'
  upstream: Upstream
  /** As the seller. */
  post(path: string, body: object): Promise<Record<string, unknown>>
  /** Imports a document as the provider `acme`, at that price. */
  importTool(document: object, server: string): Promise<void>
}

function json(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
