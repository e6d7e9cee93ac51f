import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CreatorServer } from '../../marketplace/runs/creator.ts'
import { openVictim, type Victim } from '../victim.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 5)
const RUNS = 200

describe(`kill -9 during ${String(RUNS)} runs, ${String(KILLS)} times`, () => {
  const creator = new CreatorServer()
  let victim: Victim

  beforeAll(async () => {
    victim = await openVictim({ port: 4973, atOnce: RUNS })
    await creator.listen()
  })
  afterAll(async () => {
    await victim.close()
    await creator.close()
  })

  const call = (method: 'GET' | 'POST', at: string, body?: unknown, name?: string) =>
    victim.call(method, `/v1${at}`, body, name)

  test('leaves no hold and no charge without a result after a restart, and the ledger is sound', async () => {
    await victim.begin()
    await call('POST', '/wallet/deposit', { amount: 1_000 })
    const input = [{ name: 'say', label: 'Say', type: 'text', required: true }]
    const common = {
      name: 'Chaos',
      description: 'Chaos',
      inputSchema: input,
      pricing: { model: 'per-run', amount: 0.01 },
    }
    let open: (() => void)[] = []
    const slow = creator.on('/slow', async () => {
      await new Promise<void>((resolve) => open.push(resolve))
      return { body: { status: 'completed', output: 'slow' } }
    })
    const quick = creator.on('/quick', () => ({ body: 'quick' }))
    for (const rda of [
      { slug: 'slow', type: 'agent', agentConfig: { webhookUrl: slow } },
      { slug: 'quick', type: 'tool', toolConfig: { apiEndpoint: quick, apiMethod: 'POST' } },
      { slug: 'echo', type: 'prompt', promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'] } },
    ]) {
      expect((await call('POST', '/rda', { ...common, ...rda })).status).toBe(201)
    }
    const outputs = new Map<string, string>()
    let cutOff = 0
    for (let kill = 0; kill < KILLS; kill++) {
      open = []
      let answered = 0
      const calls = Array.from({ length: RUNS }, async (_, place) => {
        const slug = ['slow', 'quick', 'echo', 'echo'][place % 4]
        const name = `chaos-${String(kill)}-${String(place)}`
        const order = { rdaSlug: slug, inputs: { say: name }, async: place % 5 === 0 }
        try {
          const { status, body } = await call('POST', '/run', order, name)
          answered++
          if (status === 200) outputs.set(String(body['runId']), String(body['output']))
        } catch {
          cutOff++
        }
      })
      // Kill in the middle: some runs have their result, the slow ones are all under way, the rest is in any state.
      while (answered < RUNS / 4 || open.length < 5) await new Promise(setImmediate)
      victim.kill()
      await Promise.all(calls)
      for (const answer of open) answer()
      await victim.begin()
    }
    expect(cutOff).toBeGreaterThan(KILLS * 10)

    const openRuns = () =>
      victim.database.statements
        .run(`SELECT id FROM run WHERE status IN ('queued', 'running')`, [])
        .then((rows) => rows.length)
    // The slow runs that a worker has resumed wait for their creator.
    while ((await openRuns()) > 0) {
      for (const answer of open.splice(0)) answer()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(await victim.database.statements.run(`SELECT id FROM ledger_hold WHERE state = 'open'`, [])).toEqual([])
    expect(
      await victim.database.statements.run(
        `SELECT r.id FROM run r JOIN ledger_hold h ON h.id = r.id
         WHERE r.cost <> h.captured OR (h.captured > 0) <> (r.output IS NOT NULL)`,
        [],
      ),
    ).toEqual([])
    // Every response that a caller received matches the stored output and the charge.
    const stored = await victim.database.statements.run<{ id: string; output: string; cost: bigint }>(
      'SELECT id, output, cost FROM run WHERE id = ANY ($1)',
      [[...outputs.keys()]],
    )
    expect(new Map(stored.map(({ id, output }) => [id, output]))).toEqual(outputs)
    expect(stored.every(({ cost }) => cost === 10_000n)).toBe(true)
    const { body } = await call('GET', '/wallet/balance')
    expect(body['wallet']).toMatchObject({ pendingLocks: {}, totalLocked: 0 })
    const check = await promisify(execFile)(process.execPath, ['service/dist/cli/ledger.js', 'check'], {
      env: { PATH: process.env['PATH'] ?? '', ...victim.settings },
    })
    console.log(`${String(outputs.size)} answered, ${String(cutOff)} cut off; ${check.stdout.trim()}`)
  }, 600_000)
})
