import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { toolWorld, type ToolWorld } from '../tools/calls/world.ts'
import { startFixtures, type Fixtures } from './fixtures.ts'

/*
 * The protocol's own suite for servers. Its scenarios want tools of certain names, so the very MCP code of the service
 * stands before a catalogue of those. Not asked, since the service says of itself that it does not have them: logging
 * (logging-set-level, tools-call-with-logging), completion, sampling and elicitation (four scenarios), prompts (five) and
 * subscriptions (two); and the resources at addresses of the suite's own (three), for its resources are the tools'
 * documentation; and several kinds of content in one result, for a tool's result is one thing.
 */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'resources-list',
  'dns-rebinding-protection',
]

/**
 * It asks as a client of 2025-03-26, which the SDK, and so the service, sends no events without data: they came later.
 * Who lost the connection comes back all the same (test/tools/mcp.test.ts).
 */
const WARNED: Readonly<Record<string, string>> = { 'server-sse-polling': '2' }

describe('@modelcontextprotocol/conformance', () => {
  const results = mkdtempSync(path.join(tmpdir(), 'coinslot-mcp-'))
  let server: Fixtures
  beforeAll(async () => {
    server = await startFixtures()
  })
  afterAll(async () => {
    await server.close()
    rmSync(results, { recursive: true, force: true })
  })

  test.each(SCENARIOS)('%s', async (scenario) => {
    const program = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'
    const words = [
      '--import',
      './old-node.mjs',
      program,
      'server',
      '--url',
      server.url,
      '--scenario',
      scenario,
      '-o',
      results,
    ]
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: HOME }).catch((error: unknown) => {
      const said = error as { stdout?: string; stderr?: string }
      throw new Error(`${said.stdout ?? ''}${said.stderr ?? ''}`)
    })
    const [, passed, of, warned] = /Passed: (\d+)\/(\d+), 0 failed, (\d+) warnings/.exec(stdout) ?? [stdout]
    expect([passed, warned]).toEqual([of, WARNED[scenario] ?? '0'])
  })
})

/** The newest that runs on Node 20; from its second version on it wants Node 22.19. */
describe('the command line of @modelcontextprotocol/inspector, against the whole service', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
    world.upstream.says('/notes', { id: 9 }, 201)
  })
  afterAll(async () => {
    await world.close()
  })

  test('lists the tools of both views and calls them', async () => {
    const { key } = await world.caller()
    async function inspect(query: string, method: string, ...words: string[]): Promise<Said> {
      const program = 'node_modules/@modelcontextprotocol/inspector/cli/build/index.js'
      const url = `${world.service.origin}/tools/mcp${query}`
      const asked = [program, url, '--transport', 'http', '--method', method, ...words]
      const { stdout } = await promisify(execFile)(process.execPath, asked, { cwd: HOME })
      return JSON.parse(stdout) as Said
    }
    const header = ['--header', `Authorization: Bearer ${key}`]
    const few = await inspect('', 'tools/list', ...header)
    expect(few.tools).toHaveLength(4)
    const all = await inspect(`?view=all&key=${key}`, 'tools/list')
    expect(all.tools?.map(({ name }) => name)).toContain('acme-create-note')
    const named = ['--tool-name', 'acme-create-note', '--tool-arg', 'title=By the inspector']
    const result = await inspect('?view=all', 'tools/call', ...named, ...header)
    expect(result).toMatchObject({
      structuredContent: { id: 9 },
      _meta: { 'coinslot/billing': { cost: 0.01, credits: 4.99 } },
    })
  })
})

const HOME = fileURLToPath(new URL('./mcp', import.meta.url))

interface Said {
  tools?: { name: string }[]
}
