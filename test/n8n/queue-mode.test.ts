import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { hasRedis } from '../queue/redis.ts'
import { deliver, formOf, paymentAt, redelivered, simulate } from './payments.ts'
import { startPage, type Page } from './pages.ts'
import { startScaled, type Scaled } from './scaled.ts'
import { openWorld, TRIGGER, until, type Workflow, type World } from './world.ts'

if (!hasRedis()) process.stderr.write('redis-server is not installed: n8n in queue mode is not tested\n')

/** Several processes take deliveries, and several run workflows: each payment still runs once. */
;(hasRedis() ? describe : describeNothing)('n8n 2.8.4 in queue mode', () => {
  let world: World
  let scaled: Scaled
  let page: Page
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-queue-mode-'))
  /** How often the workflows' first step ran, whatever became of the rest. */
  let begun = 0

  beforeAll(async () => {
    page = await startPage((response) => {
      begun++
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    world = await openWorld('2.8.4', async (installed) => {
      scaled = await startScaled(installed, folder)
      return scaled.main
    })
  })
  beforeEach(() => {
    begun = 0
    Object.assign(scaled.network, { arrived: 0, gathers: 1, loses: 0 })
  })
  afterAll(async () => {
    await world.close()
    await scaled.close()
    await page.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('runs once for each payment, though each delivery comes twice, at two processes and in reverse order', async () => {
    scaled.network.gathers = 6
    const workflow = await selling({})
    const form = await formOf(workflow)
    const payments = await Promise.all(WEBSITES.map((website) => simulate(form, { website })))
    const runs = (await workflow.runs(WEBSITES.length)) as { data: { metadata: { paymentId: string } } }[]
    expect(runs.map(({ data }) => data.metadata.paymentId).sort()).toEqual(payments.map(({ id }) => id).sort())
    for (const payment of payments) await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
    expect(begun).toBe(WEBSITES.length)
    // None of them ran in the main or in the process for webhooks.
    expect(scaled.workers.flatMap(({ output }) => output.match(/Worker finished execution/g) ?? []).length).toBe(begun)
  })

  it('shows the payer the answer of the one run', async () => {
    const workflow = await selling({ respond: 'lastNode' })
    const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
    await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
    const { delivery } = await paymentAt(payment)
    expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
    expect(await workflow.runs(1)).toHaveLength(1)
    expect(begun).toBe(1)
  })

  it('answers the payer once, and does not run again, when the answer of n8n to the delivery gets lost', async () => {
    scaled.network.loses = 1
    const workflow = await selling({}, [
      'Answer',
      'n8n-nodes-coinslot.coinslot',
      1,
      { resource: 'payment', operation: 'answer', answerWith: 'item' },
    ])
    const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
    await until(async () => {
      const { delivery } = await paymentAt(payment)
      return delivery?.status === 'unconfirmed' && delivery.answer !== null
    })
    const { delivery } = await paymentAt(payment)
    expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
    // What was claimed and not confirmed is not sent again by itself, and the same message again runs nothing.
    expect(scaled.network.arrived).toBe(1)
    const again = await redelivered(world, workflow, payment)
    for (let time = 0; time < 2; time++) {
      expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
    }
    expect(await workflow.runs(1)).toHaveLength(1)
    expect(begun).toBe(1)
  })

  it('keeps its link and runs nothing again after all of its processes were restarted', async () => {
    const workflow = await selling({})
    const form = await formOf(workflow)
    const payment = await simulate(form, { website: 'https://example.com' })
    await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
    await workflow.runs(1)
    const again = await redelivered(world, workflow, payment)

    await scaled.restart()
    await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
    expect(await formOf(workflow)).toBe(form)
    expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
    const next = await simulate(form, { website: 'https://example.org' })
    await until(async () => (await paymentAt(next)).delivery?.status === 'delivered')
    expect(await workflow.runs(2)).toHaveLength(2)
    expect(begun).toBe(2)
  })

  it('charges nothing and runs nothing twice when a worker is killed, and continues afterwards', async () => {
    const workflow = await selling({ respond: 'lastNode', capture: 'onSuccess', runSeconds: 60 }, [
      'Long work',
      'n8n-nodes-base.wait',
      1.1,
      { amount: 20, unit: 'seconds' },
    ])
    const form = await formOf(workflow)
    const payment = await simulate(form, { website: 'https://example.com' })
    await until(async () => begun === 1)
    await workerOf(workflow).crash()
    await until(async () => (await paymentAt(payment)).payment.status === 'failed')
    expect((await paymentAt(payment)).payment).toMatchObject({ reason: { code: 'workflow_failed' } })

    const next = await simulate(form, { website: 'https://example.org' })
    await until(async () => (await paymentAt(next)).payment.status === 'paid')
    // The first one did not come back meanwhile.
    expect(begun).toBe(2)
    expect((await paymentAt(payment)).payment.status).toBe('failed')
  })

  /** A published workflow: the trigger, a step that is counted, the report, and one more step. */
  async function selling(
    parameters: Record<string, unknown>,
    last?: [name: string, type: string, typeVersion: number, parameters: Record<string, unknown>],
  ): Promise<Workflow> {
    const credentials = { coinslotApi: world.credential }
    const trigger = { productName: 'SEO audit', price: 5, customerFields: FIELDS, testMode: true, ...parameters }
    const jsonOutput = `={{ JSON.stringify({ report: "Audit of " + $('${TRIGGER}').first().json.input.website }) }}`
    const nodes = [
      [TRIGGER, 'n8n-nodes-coinslot.payToRunTrigger', 1.1, trigger],
      ['Count', 'n8n-nodes-base.httpRequest', 4.2, { url: page.url, options: {} }],
      ...(last?.[0] === 'Long work' ? [last] : []),
      ['Report', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput, options: {} }],
      ...(last?.[0] === 'Answer' ? [last] : []),
    ] as [string, string, number, Record<string, unknown>][]
    const workflow = await world.importWorkflow({
      name: 'Audit for sale',
      nodes: nodes.map(([name, type, typeVersion, parameters], at) => ({
        ...{ id: randomUUID(), name, type, typeVersion, position: [at * 220, 0], parameters },
        ...(type.includes('coinslot') && { credentials }),
        ...(name === TRIGGER && { webhookId: randomUUID() }),
      })),
      connections: Object.fromEntries(
        nodes.slice(1).map(([name], at) => [nodes[at]![0], { main: [[{ node: name, type: 'main', index: 0 }]] }]),
      ),
      settings: {},
    })
    await workflow.publish()
    return workflow
  }

  /** The worker whose last job has not ended. */
  function workerOf(workflow: Workflow) {
    const busy = scaled.workers.filter(({ output }) => {
      const count = (word: string): number => output.split(`Worker ${word} execution`).length
      return count('started') > count('finished')
    })
    if (busy.length !== 1) throw new Error(`${busy.length} workers are busy with ${workflow.id}`)
    return busy[0]!
  }
})

const WEBSITES = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `https://${name}.example`)

const FIELDS = { fields: [{ label: 'Website', type: 'url', required: true }] }

/** Without Redis the file still says that it was here. */
function describeNothing(name: string): void {
  describe(name, () => it('needs redis-server', () => expect(hasRedis()).toBe(false)))
}
