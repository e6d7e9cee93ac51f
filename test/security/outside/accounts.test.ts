import { usdc } from '../../../service/kit/money.ts'
import { sendMcp } from '../../harness/mcp.ts'
import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

/** A thief with a stolen key, and an accomplice who sells on the same server: each door that a run has for an account. */
describe('an account that is emptied into another one', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld({ WITHDRAWAL_LIMIT_PER_DAY: '5', AGENT_DEFAULT_PER_DAY: '3' })
    await world.creator.call('PATCH', '/v1/me', { body: { handle: 'accomplice' } })
    await world.prompt({ slug: 'dear', name: 'Dear', pricing: { model: 'per-run', amount: 4 } })
    await world.service.catalogue.importAssets('sandbox', TOOL_OF_ASSET, new Map([['dear', usdc(4_000_000n)]]))
    await world.until(
      () => world.service.call('GET', '/tools/rda-dear'),
      ({ status }) => status === 200,
    )
  })
  afterAll(() => world.close())

  const say = (place: number) => ({ say: `take ${String(place)}` })
  const post = async (path: string, key: string, body: object) =>
    (await world.service.call('POST', path, { key, body })).text
  const mcp = async (path: string, key: string, params: Record<string, unknown>) =>
    JSON.stringify(
      await sendMcp(world.service.origin + path, { method: 'tools/call', params }, { authorization: `Bearer ${key}` }),
    )
  type Door = (key: string, place: number) => Promise<string>
  const doors: [string, Door][] = [
    ['REST', (key, n) => post('/v1/run', key, { rdaSlug: 'dear', inputs: say(n) })],
    ['REST, in the background', (key, n) => post('/v1/run', key, { rdaSlug: 'dear', inputs: say(n), async: true })],
    ['its tool', (key, n) => post('/tools/rda-dear', key, say(n))],
    [
      'its tool over MCP',
      (key, n) => mcp('/tools/mcp', key, { name: 'call_tool', arguments: { slug: 'rda-dear', input: say(n) } }),
    ],
    ["the accomplice's MCP address", (key, n) => mcp('/m/accomplice/mcp', key, { name: 'dear', arguments: say(n) })],
  ]

  test.each(doors)('with concurrent calls, by %s, loses no more than the daily limit', async (_name, take) => {
    const victim = await world.caller(90)
    const answers = await Promise.all([0, 1, 2, 3, 4].map((place) => take(victim.key, place)))
    expect(answers.filter((answer) => answer.includes('withdrawal_limit'))).toHaveLength(4)
    expect(await world.wallet(victim)).toMatchObject({ availableBalance: 86 })
  })

  test.each(doors)('by an agent without limits, by %s, loses nothing above its default', async (_name, take) => {
    const victim = await world.caller(90)
    const { agent } = (await victim.call('POST', '/v1/agents', { body: { name: 'A' } })).body
    const { secret } = (await victim.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body
    expect(await take(String(secret), 0)).toContain('limits_required')
    expect(await world.wallet(victim)).toMatchObject({ availableBalance: 90 })
  })

  test.each(doors)('while payouts are paused, by %s, loses nothing', async (_name, take) => {
    const victim = await world.caller(90)
    await world.service.outflow.setPaused(true)
    const answer = await take(victim.key, 0)
    await world.service.outflow.setPaused(false)
    expect(answer).toContain('payouts_paused')
    expect(await world.wallet(victim)).toMatchObject({ availableBalance: 90 })
  })
})

const TOOL_OF_ASSET = {
  ...{ name: 'Marketplace', description: '', version: null, skipped: [] },
  operations: [
    {
      ...{ operation: 'dear', name: 'Dear', description: 'Says it back', category: null, deprecated: false },
      input: { type: 'object', properties: { say: { type: 'string' } }, required: ['say'] },
      output: null,
      upstream: { kind: 'rda' as const, rdaSlug: 'dear' },
    },
  ],
}
