import { ELSEWHERE } from './found.ts'
import type { SizedCollection, SizedProvider } from '../service/catalogue/find.ts'

/** Describes this server to a model: what it offers and how to use it. See llmstxt.org. */
export function guideText({ address, mcpAddress, apiAddress, docs, providers, collections }: Guide): string {
  const total = providers.reduce((sum, { tools }) => sum + tools, 0)
  return `# Coinslot tools

> ${String(total)} tools of ${String(providers.length)} providers behind one key: each is priced per call in USDC, and only a success is charged.

Send an API key as \`Authorization: Bearer <key>\`; new accounts start with free credits. A call without a key is
answered with a 402 that states its price, and is paid at the same address by x402 or MPP. The client \`@x402/fetch\` pays
at most 1 USD at a time unless it has \`spendControls: { maxAmountPerPayment: '$5' }\`.

## How to use it

- [MCP](${mcpAddress}): Streamable HTTP. With \`?auth=oauth\` the client asks the owner of an
  account for access; else the key as bearer, or as \`?key=\` where no header can be sent (addresses end up in logs). Starts with five tools: search_tools,
  describe_tool, call_tool, get_result, get_balance. \`?collection=\` and \`?provider=\` list these tools themselves,
  \`?view=all\` every tool.
- [Search](${address}?search=create+an+issue): \`GET ${address}?search=…\`, the best first, with price, inputs, how well it
  fits (\`score\`) and how often it succeeds; \`note\` says when nothing fits. Also \`provider\`, \`category\`,
  \`collection\`, \`limit\`, \`offset\`, and \`view=full\` for the schemas.
- One tool: \`GET ${address}/{slug}\`. Call it: \`POST ${address}/{slug}\` with its inputs as a JSON object. An
  \`Idempotency-Key\` makes a repeated call harmless. \`?fields=items.id,items.title\` returns only these fields;
  \`?all=true\` reads all pages of a tool that is \`paged\` into one answer, each at the price of a call.
- A file among the inputs is \`{"url": "https://…"}\` or \`{"base64": "…", "name": "a.pdf"}\`.
- ${ELSEWHERE}
- Balances: \`GET ${apiAddress}/credits\` and \`GET ${apiAddress}/wallet/balance\`.
- [Reference](${docs}) of every endpoint, also as [OpenAPI](${docs.replace(/\/docs$/, '/openapi.json')}).

## Collections

${collections.map(({ slug, name, description, tools }) => `- [${line(name)}](${mcpAddress}?collection=${slug}): ${line(description)} ${String(tools)} tools.`).join('\n')}

## Providers

${providers.map(({ slug, name, description, tools }) => `- [${line(name)}](${address}?provider=${slug}): ${line(description)} ${String(tools)} tools.`).join('\n')}
`
}

export interface Guide {
  address: string
  mcpAddress: string
  apiAddress: string
  docs: string
  providers: readonly SizedProvider[]
  collections: readonly SizedCollection[]
}

/** The address of the MCP server and its options, for clients that look it up. */
export function mcpCard({ mcpAddress, docs }: Pick<Guide, 'mcpAddress' | 'docs'>) {
  return {
    name: 'coinslot',
    title: 'Coinslot tools',
    version: '1',
    description: 'Thousands of API tools behind one key, priced per call in USDC; only a success is charged.',
    websiteUrl: docs,
    remotes: [
      {
        type: 'streamable-http',
        url: mcpAddress,
        headers: [{ name: 'Authorization', value: 'Bearer {api_key}', isRequired: true, isSecret: true }],
      },
      { type: 'sse', url: `${mcpAddress}?key={api_key}` },
    ],
    authentication: { required: true, schemes: ['bearer'], query: 'key' },
    capabilities: { tools: { listChanged: false }, resources: {} },
  }
}

/** Names and descriptions come from foreign documents, so line breaks are removed. */
function line(text: string): string {
  return text.replaceAll(/[\s[\]()<>]+/g, ' ').trim()
}
