import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { respond, Upstream } from '../../tools/calls/upstream.ts'
import { documentOf } from '../../tools/document.ts'
import { openVictim, type Victim } from '../victim.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 2)
const CALLS = 100

describe(`kill -9 during ${String(CALLS)} calls of tools, ${String(KILLS)} times`, () => {
  const upstream = new Upstream()
  let victim: Victim

  beforeAll(async () => {
    victim = await openVictim({
      port: 4977,
      atOnce: CALLS,
      settings: {
        DEMO_PORT: '0',
        RATE_TOOLS_PER_MINUTE: '0',
        TOOL_CALLS_AT_ONCE: '0',
        TOOL_PROVIDER_AT_ONCE: '1000',
        TOOL_TIMEOUT_MS: '2000',
      },
    })
    await upstream.listen()
  })
  afterAll(async () => {
    await victim.close()
    await upstream.close()
  })

  async function run(file: string, ...words: string[]): Promise<string> {
    const node = [`service/dist/cli/${file}.js`, ...words]
    const env = { PATH: process.env['PATH'] ?? '', ...victim.settings }
    return (await promisify(execFile)(process.execPath, node, { env })).stdout.trim()
  }
  const post = (at: string, body: unknown, name?: string) => victim.call('POST', at, body, name)

  test('no lock is left, each call is charged at most once, and asking again gives every answer', async () => {
    await victim.begin()
    await post('/v1/wallet/deposit', { amount: 1_000 })
    const document = path.join(victim.folder, 'document.json')
    writeFileSync(document, JSON.stringify(DOCUMENT))
    await run('tools', 'import', document, '--provider', 'chaos', '--price', '0.01', '--server', upstream.url)
    let waiting: (() => void)[] = []
    upstream.on('/echo', async ({ body }, response) => {
      // Every third call is slow, so that the kill finds calls in every state.
      if (upstream.requests.length % 3 === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      respond(response, body, 'application/json')
    })
    while ((await post('/tools/chaos-echo', { say: 'there?' })).status !== 200) {
      for (const release of waiting.splice(0)) release()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }

    const callIds = new Map<string, unknown>()
    const cutOff: string[] = []
    const callTool = async (name: string): Promise<number> => {
      const { status, body } = await post('/tools/chaos-echo', { say: name }, name)
      if (status === 200) {
        expect(body['output']).toEqual({ say: name })
        callIds.set(name, body['callId'])
      }
      return status
    }
    for (let kill = 0; kill < KILLS; kill++) {
      waiting = []
      let answered = 0
      const calls = Array.from({ length: CALLS }, async (_, place) => {
        const name = `chaos-${String(kill)}-${String(place)}`
        try {
          // On a slow machine some of the slow calls end at their time limit before the kill: they failed, at no charge.
          if ((await callTool(name)) === 200) answered++
          else cutOff.push(name)
        } catch {
          cutOff.push(name)
        }
      })
      while (answered < CALLS / 4 || waiting.length < 5) await new Promise(setImmediate)
      victim.kill()
      await Promise.all(calls)
      for (const release of waiting) release()
      await victim.begin()
    }
    expect(cutOff.length).toBeGreaterThan(KILLS * 10)

    // Callers without an answer repeat the call under the same name; no call is slow any more.
    upstream.on('/echo', ({ body }, response) => respond(response, body, 'application/json'))
    const again = await Promise.all(cutOff.map((name) => callTool(name)))
    expect(new Set(again)).toEqual(new Set([200]))
    expect(callIds.size).toBe(KILLS * CALLS)

    const count = async (text: string): Promise<number> => {
      const [row] = await victim.database.statements.run<{ count: bigint }>(text, [])
      return Number(row!.count)
    }
    while ((await count(`SELECT count(*) FROM ledger_hold WHERE state = 'open'`)) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const charged = await count(`SELECT count(*) FROM ledger_hold WHERE state = 'captured'`)
    const succeeded = await count('SELECT count(*) FROM tool_call WHERE error_code IS NULL')
    // The calls that checked whether the service is up are charged as well.
    const before = await count(`SELECT count(*) FROM tool_call c WHERE error_code IS NULL AND NOT EXISTS (
      SELECT FROM tool_answer a WHERE a.call_id = c.id)`)
    expect([charged, succeeded - before]).toEqual([succeeded, KILLS * CALLS])
    console.log(
      `${String(callIds.size - cutOff.length)} answered at once, ${String(cutOff.length)} cut off; ${await run('ledger', 'check')}`,
    )
  }, 300_000)
})

const DOCUMENT = documentOf({ path: '/echo', operationId: 'echo', summary: 'Say it again', field: 'say' })
