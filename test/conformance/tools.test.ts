import { createRequire } from 'node:module'
import { plausible } from '../../service/openapi/plausible.ts'
import { importShipped } from '../../service/wiring/tools-shipped.ts'
import type { Tool } from '../../service/tools/model/tool.ts'
import { newAjv } from '../tools/ajv.ts'
import { toolWorld, type ToolWorld } from '../tools/calls/world.ts'

/** Calls every tool that comes with the sandbox over REST, with only its schema to go by. */
describe('the tools of the sandbox', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
    await importShipped(world.service.catalogue, 'sandbox')
  }, 300_000)
  afterAll(async () => {
    await world.close()
  })

  test('each answers by its own schema or refuses with details; none fails', async () => {
    const { catalogue } = world.service
    const caller = await world.caller(1_000)
    const counts = new Map<string, number>()
    const faults: string[] = []
    const one = async (tool: Tool): Promise<void> => {
      const input = inputFor(tool)
      const { status, body } = await world.call(caller, tool.slug, input)
      counts.set(String(status), (counts.get(String(status)) ?? 0) + 1)
      if (status === 400) {
        if (Object.keys((body.details ?? {}) as object).length === 0)
          faults.push(`${tool.slug}: ${JSON.stringify(body)}`)
      } else if (status !== 200) faults.push(`${tool.slug}: ${String(status)} ${JSON.stringify(body)}`)
      else if (tool.output !== null && body.output?.base64 === undefined) {
        for (const fault of implausibleIn(body.output)) faults.push(`${tool.slug}: ${fault}`)
        const ajv = newAjv()
        const check = ajv.compile(tool.output)
        if (!check(body.output)) faults.push(`${tool.slug}: ${ajv.errorsText(check.errors)}`)
      }
    }
    let total = 0
    for (let offset = 0; ;) {
      const page = await catalogue.list({ environment: 'sandbox', viewer: null, limit: 100, offset })
      const tools = page.tools.map(({ tool }) => tool).filter(({ provider }) => provider !== 'acme')
      for (let place = 0; place < tools.length; place += 16) await Promise.all(tools.slice(place, place + 16).map(one))
      total += tools.length
      offset += page.tools.length
      if (offset >= page.total) break
    }
    console.log(`${String(total)} tools: ${JSON.stringify(Object.fromEntries(counts))}`)
    expect(faults).toEqual([])
    expect(total).toBeGreaterThanOrEqual(1_000)
    expect(counts.get('200')! / total).toBeGreaterThan(0.95)
    expect(await world.locks()).toBe(0)
  }, 600_000)
})

/** An example of the required fields, by the tool's own schema, in words that a caller could write. */
function inputFor({ input, slug }: Tool): unknown {
  return plausible(input, sample(input, { skipNonRequired: true, quiet: true }), slug)
}

/** What no server answers: a placeholder, a date or an address that is none, a list of nothing. */
function implausibleIn(value: unknown, path = ''): string[] {
  // The type of a field may be just that.
  if (value === 'string' && !path.endsWith('type')) return [`${path} is a placeholder`]
  if (
    typeof value === 'string' &&
    /(^|\/)(year|month|[a-z_]*(email|url|_at))$/.test(path) &&
    value.startsWith('Example ')
  )
    return [`${path} is ${value}`]
  if (Array.isArray(value))
    return value.flatMap((item, place) =>
      item === null ? [`${path}/${String(place)} is null`] : implausibleIn(item, `${path}/${String(place)}`),
    )
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => implausibleIn(field, `${path}/${name}`))
}

/** Resolved from the service: the package is not installed at the root. */
const require = createRequire(new URL('../../service/package.json', import.meta.url))
const { sample } = require('openapi-sampler') as { sample: (schema: unknown, options: object) => unknown }
