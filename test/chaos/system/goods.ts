import type { Hex } from '../../../service/chain/model.ts'
import type { Service } from '../../../service/wiring/compose.ts'
import { usdc } from '../../../service/kit/money.ts'
import { documentOf } from '../../tools/document.ts'
import { call } from './call.ts'
import { WORK, type Echo, type Receiver } from './strangers.ts'

/** What there is to buy. */
export interface Goods {
  checkout: string
  /** Its payments wait in the escrow while the workflow runs. */
  escrow: string
  tool: string
  agentAsset: string
  toolAsset: string
  /** One run of it costs a large part of what may leave an account in a day. */
  dearAsset: string
  gate: string
  /** Of another seller, whose refunds ask nobody. */
  generousGate: string
  /** Where strangers' payments for tools go. */
  treasury: Hex
  prices: { checkout: bigint; escrow: bigint; tool: bigint; exact: bigint; metered: bigint; draw: bigint }
}

export async function makeGoods(parts: {
  origin: string
  control: Service
  owner: { key: string }
  generous: { key: string }
  receiver: Receiver
  echo: Echo
  recipient: Hex
}): Promise<Goods> {
  const { origin, control, owner, generous, receiver, echo, recipient } = parts
  const make = (at: string, body: unknown) => call(origin, owner.key, 'POST', at, body)
  const terms = {
    product: { name: 'A thing' },
    price: 0.5,
    network: 'base',
    fields: [{ name: 'act', label: 'Act', type: 'text', required: true }],
  }
  const { checkout } = await make('/v1/checkouts', { ...terms, callbackUrl: `${receiver.origin}/paid`, recipient })
  const { checkout: escrow } = await make('/v1/checkouts', {
    ...terms,
    callbackUrl: `${receiver.origin}${WORK}`,
    // Of its own, since its transfers come from the escrow.
    recipient: '0x00000000000000000000000000000000000000c4',
    capture: 'escrow',
    responseMode: 'lastNode',
  })
  const input = (name: string) => [{ name, label: name, type: 'text', required: true }]
  const asset = async (slug: string, body: object): Promise<string> => {
    await make('/v1/rda', { slug, name: slug, description: 'Says what it hears', ...body })
    await make(`/v1/rda/${slug}/publish`, undefined)
    return slug
  }
  const agentAsset = await asset('chaos-agent', {
    type: 'agent',
    inputSchema: input('topic'),
    agentConfig: { webhookUrl: `${echo.origin}/agent`, basePrice: 0.25, timeoutSeconds: 10 },
  })
  const toolAsset = await asset('chaos-tool', {
    type: 'tool',
    inputSchema: input('act'),
    toolConfig: {
      ...{ apiEndpoint: `${echo.origin}/tool`, apiMethod: 'GET', basePrice: 0.1 },
      responseTransform: 'echo & " " & secret',
    },
  })
  const dearAsset = await asset('chaos-dear', {
    type: 'agent',
    inputSchema: input('topic'),
    agentConfig: { webhookUrl: `${echo.origin}/agent`, basePrice: 300, timeoutSeconds: 10 },
  })
  await control.catalogue.importDocument(
    {
      environment: 'production',
      ownerId: null,
      slug: 'chaos',
      name: 'Chaos',
      description: null,
      simulated: false,
      trusted: false,
      source: null,
      pricing: { otherwise: usdc(10_000n) },
      server: echo.origin,
      auth: null,
    },
    JSON.stringify(DOCUMENT),
  )
  const chat = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }
  await make('/v1/paywalls', {
    slug: 'chaos',
    name: 'Chaos',
    upstreamUrl: echo.origin,
    network: 'base',
    recipient,
    routes: [
      { method: 'GET', path: '/exact', pricing: { model: 'per-request', amount: 0.05 } },
      { method: 'GET', path: '/metered', pricing: chat },
    ],
  })
  await call(origin, generous.key, 'PATCH', '/v1/refund-policy', { agents: 'automatic' })
  await call(origin, generous.key, 'POST', '/v1/paywalls', {
    ...{ slug: 'chaos-generous', name: 'Generous', upstreamUrl: echo.origin, network: 'base' },
    recipient: GENEROUS,
    routes: [{ method: 'GET', path: '/exact', pricing: { model: 'per-request', amount: 0.05 } }],
  })
  return {
    checkout: checkout.id as string,
    escrow: escrow.id as string,
    tool: 'chaos-echo',
    agentAsset,
    toolAsset,
    dearAsset,
    gate: 'chaos',
    generousGate: 'chaos-generous',
    treasury: control.wallets.treasury() ?? recipient,
    prices: { checkout: 500_000n, escrow: 500_000n, tool: 10_000n, exact: 50_000n, metered: 20_000n, draw: 5_000n },
  }
}

/** Where the money of the generous seller goes. */
export const GENEROUS: Hex = '0x00000000000000000000000000000000000000c5'

const DOCUMENT = documentOf({ path: '/echo', operationId: 'echo', summary: 'Say it again', field: 'act' })
