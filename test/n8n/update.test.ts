import path from 'node:path'
import { act } from './programs.ts'
import { formOf, outputOf, paymentAt, simulate } from './payments.ts'
import { N8n, type Answer } from './n8n.ts'
import { credentialData, installPackage, openWorld, SETUP, until, type Credential, type World } from './world.ts'

/** The package as it was when the first workflows were made with it. */
const FIRST = path.join(import.meta.dirname, 'first-version.tar.gz')

describe.each(Object.keys(SETUP.n8n))('n8n %s', (version) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld(version, async (installed, home) => {
      await installPackage(home, FIRST)
      return await N8n.start(installed, home)
    })
  })
  afterAll(() => world.close())

  it('goes on unchanged after an update, with the workflows and the credential of version 0.1', async () => {
    expect(await versionsOfTrigger()).toEqual([1])
    const credential = await firstCredential()
    const workflow = await world.makeWorkflow({ options: { respond: 'lastNode' } }, credential, undefined, 1)
    await workflow.publish()
    const form = await formOf(workflow)
    const registered = await workflow.storedData()
    const bought = await buyStatistics(credential)

    await installPackage(world.n8n.home)
    await world.n8n.restart()
    expect(await versionsOfTrigger()).toEqual([1, 1.1])
    await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
    expect(await formOf(workflow)).toBe(form)
    expect(await workflow.storedData()).toEqual(registered)

    const payment = await simulate(form, { website: 'https://example.com' })
    expect(await workflow.runs(1)).toEqual([
      { mode: 'webhook', data: outputOf(payment, { website: 'https://example.com' }) },
    ])
    await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
    const { delivery } = await paymentAt(payment)
    expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
    expect(await buyStatistics(credential)).toEqual(bought)

    // Published again, it is still the same checkout.
    await workflow.unpublish()
    await workflow.publish()
    expect(await formOf(workflow)).toBe(form)
  })

  async function versionsOfTrigger(): Promise<number[]> {
    const { json } = await world.n8n.send('GET', '/types/nodes.json')
    return (json as Answer[])
      .filter(({ name }) => name === 'n8n-nodes-coinslot.payToRunTrigger')
      .flatMap((node) => node.version as number)
  }

  /** It had an address for each environment. */
  async function firstCredential(): Promise<Credential> {
    const { url, ...data } = credentialData(world.apiUrl)
    const body = { name: 'Coinslot of then', type: 'coinslotApi', data: { ...data, sandboxUrl: url } }
    const { id, name } = await world.n8n.request<Credential>('POST', '/rest/credentials', body)
    return { id, name }
  }

  /** What a step that buys hands on; the number of its run is its own. */
  async function buyStatistics(credential: Credential): Promise<unknown> {
    const rda = { __rl: true, mode: 'name', value: 'text-statistics' }
    const ran = await act(
      world,
      { resource: 'rda', operation: 'run', rda, specifyInputs: 'json', inputsJson: '{ "text": "One two." }' },
      { credential },
    )
    expect(ran.error('Coinslot')).toBeUndefined()
    return ran.items('Coinslot').map(({ cost, output, success }) => ({ cost, output, success }))
  }
})
