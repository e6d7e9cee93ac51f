import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'

type Properties = Record<string, object>

function input(properties: Properties, required?: string[]): McpTool['inputSchema'] {
  return { type: 'object', properties, ...(required === undefined ? {} : { required }), additionalProperties: false }
}

/** An output schema in which all properties are required. */
function output(properties: Properties): McpTool['inputSchema'] {
  return { type: 'object', properties, required: Object.keys(properties) }
}

const SLUG = { type: 'string', description: 'As search_tools returned it' }
const FREE = { readOnlyHint: true, openWorldHint: false }

/** The five tools of the default view. A model's context has room for these, but not for thousands. */
export const OWN = [
  {
    name: 'search_tools',
    title: 'Search tools',
    description:
      'Find tools by what you want to do, best first. Describe the task in a few words ("create a GitHub issue"). Says so when none fits. Costs nothing.',
    inputSchema: input(
      {
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'What you want to do' },
        provider: { type: 'string', description: 'Only tools of this provider' },
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 8 },
      },
      ['query'],
    ),
    outputSchema: output({ tools: { type: 'array', items: { type: 'object' } } }),
    annotations: FREE,
  },
  {
    name: 'describe_tool',
    title: 'Describe a tool',
    description:
      'Shows what a tool takes, what it returns and what it costs. Read it before the first call. Costs nothing.',
    inputSchema: input({ slug: SLUG }, ['slug']),
    outputSchema: output({ slug: { type: 'string' }, price: { type: 'number' }, inputSchema: { type: 'object' } }),
    annotations: FREE,
  },
  {
    name: 'call_tool',
    title: 'Call a tool',
    description:
      'Call a tool by its slug with the input that describe_tool shows. Charged only when it succeeds; With maxCost, a more expensive call is refused.',
    inputSchema: input(
      {
        slug: SLUG,
        input: { type: 'object', description: "The tool's own input" },
        maxCost: { type: 'number', minimum: 0, description: 'The most that the call may cost, in USDC' },
        fields: {
          type: 'array',
          items: { type: 'string' },
          maxItems: 100,
          description: 'Return only these fields, such as ["items.id", "items.title"]; saves you reading the rest',
        },
        all: {
          type: 'boolean',
          description: 'For a tool that is "paged": read all pages into one answer; each page costs as much as a call',
        },
        maxPages: { type: 'integer', minimum: 1, maximum: 50, description: 'With all: the most pages to read' },
      },
      ['slug'],
    ),
    annotations: { readOnlyHint: false, openWorldHint: true },
  },
  {
    name: 'get_result',
    title: 'Get the result of a call',
    description:
      'The result of a call whose tool was still at work: waits for it up to waitSeconds, and says how far it is when that is not enough. Costs nothing.',
    inputSchema: input(
      {
        callId: { type: 'string', description: 'As the call returned it' },
        waitSeconds: { type: 'integer', minimum: 0, maximum: 120, default: 20 },
        fields: { type: 'array', items: { type: 'string' }, maxItems: 100, description: 'As in call_tool' },
      },
      ['callId'],
    ),
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  {
    name: 'get_balance',
    title: 'Get the balance',
    description: 'Shows the remaining free credits and the wallet balance, in USDC. Costs nothing.',
    inputSchema: input({}),
    outputSchema: output({ credits: { type: 'number' }, balance: { type: 'number' }, available: { type: 'number' } }),
    annotations: FREE,
  },
] as const satisfies readonly McpTool[]

export type OwnToolName = (typeof OWN)[number]['name']

export const OWN_TOOLS: ReadonlySet<string> = new Set(OWN.map(({ name }) => name))
