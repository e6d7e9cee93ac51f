import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'
import { post } from './mcp-client.ts'

/** The most bytes of one input schema, and the most tools of a page. */
const SCHEMA_MAX = 16_000
const PAGE_MAX = 100
/** What else stands in the list for a tool: its name, its title, its description and its price. */
const REST_MAX = 2_500

const LONG = 'Explained at length. '.repeat(50)

/** Ten fields on each of so many levels, each with its words. */
function deep(levels: number): { properties: Record<string, unknown> } {
  const inner = levels === 0 ? { type: 'string', description: LONG } : deep(levels - 1)
  const fields = Array.from({ length: 10 }, (_, place) => [`field${String(place)}`, { ...inner, description: LONG }])
  const properties = Object.fromEntries(fields) as Record<string, unknown>
  return { ...{ type: 'object', description: LONG }, properties }
}

const body = (schema: object) => ({ required: true, content: { 'application/json': { schema } } })
const operation = (operationId: string, schema: object) => ({
  post: {
    operationId,
    summary: LONG,
    description: LONG,
    requestBody: body(schema),
    responses: { 200: { description: LONG } },
  },
})

describe('imported tools with huge schemas, at MCP', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
    world.upstream.respondWith('/huge/0', { done: true })
    const flat = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, place) => [`field${String(place)}`, { type: 'string', description: LONG }]),
    ) as unknown
    const huge = { ...deep(1), required: ['name'] }
    huge.properties['name'] = { type: 'string', description: LONG }
    const { components, ...shared } = {
      components: { schemas: { Huge: huge, Flat: { type: 'object', properties: flat } } },
      openapi: '3.1.0',
    }
    const paths = Array.from({ length: PAGE_MAX + 20 }, (_, place) => [
      `/huge/${String(place)}`,
      operation(`huge${String(place)}`, { $ref: '#/components/schemas/Huge' }),
    ])
    const document = {
      ...shared,
      ...{ components, info: { title: 'Huge', version: '1' } },
      paths: {
        ...(Object.fromEntries(paths) as object),
        '/flat': operation('flat', { $ref: '#/components/schemas/Flat' }),
      },
    }
    const imported = importRequest(world.upstream.url, { slug: 'huge', name: 'Huge' })
    await world.service.catalogue.importDocument(imported, JSON.stringify(document))
  })
  afterAll(() => world.close())

  test('are listed within the size limit, at most a hundred per page, and can be called', async () => {
    const person = await world.caller()
    const address = `${world.service.origin}/tools/mcp?provider=huge`
    const names: string[] = []
    let cursor: string | undefined
    do {
      const params = cursor === undefined ? {} : { cursor }
      const { result } = (await post(address, person.key, { method: 'tools/list', params })).body
      const { tools, nextCursor } = result as { tools: { name: string; inputSchema: object }[]; nextCursor?: string }
      expect(tools.length).toBeLessThanOrEqual(PAGE_MAX)
      for (const { name, inputSchema, ...rest } of tools) {
        names.push(name)
        expect([name, JSON.stringify(inputSchema).length <= SCHEMA_MAX]).toEqual([name, true])
        expect([name, JSON.stringify(rest).length <= REST_MAX]).toEqual([name, true])
        expect(inputSchema).toMatchObject({ properties: { name: { type: 'string' } } })
      }
      cursor = nextCursor
    } while (cursor !== undefined)
    const huge = names.filter((name) => /^huge-huge-?\d+$/.test(name))
    expect(new Set(huge).size).toBe(PAGE_MAX + 20)
    // No schema of it fits: it is not offered, instead of being offered with a part of its fields.
    expect(names.filter((name) => name.includes('flat'))).toEqual([])
    const { result } = (
      await post(address, person.key, {
        method: 'tools/call',
        params: { name: huge.find((name) => /\D0$/.test(name))!, arguments: { name: 'x', field0: { field1: 'y' } } },
      })
    ).body
    expect(result).toMatchObject({ structuredContent: { done: true } })
    expect(world.upstream.to('/huge/0')).toHaveLength(1)
  })
})
