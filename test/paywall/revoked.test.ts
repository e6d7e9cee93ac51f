import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { openWorld, type World } from './world.ts'

describe('a change of a paywall', () => {
  const VAULT_KEY = `k1:${randomBytes(32).toString('base64')}`
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-revoked-'))
  let world: World
  let other: Service

  beforeAll(async () => {
    world = await openWorld({ environment: { VAULT_KEY } })
    const { url } = world.service.testDatabase
    const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: url, PORT: '0', VAULT_KEY })
    other = await compose(config, { url, log: pino({ level: 'silent' }), clock: systemClock })
  })
  afterAll(async () => {
    await other.stop()
    await world.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const FREE = { path: '/*', pricing: { model: 'free' } }

  it('is effective in every process once it is answered: new terms, a new secret, a removal', async () => {
    const { id, paywall, gate } = await world.sell([FREE])
    const at = async () => await other.paywalls.gateOf(String(paywall.slug))
    const call = async (method: string, way = '', body?: object) => {
      const { status } = await world.seller.call(method, `/v1/paywalls/${id}${way}`, body === undefined ? {} : { body })
      expect(status).toBeLessThan(300)
    }
    expect((await world.request(`${gate}/x`)).status).toBe(200)

    expect((await at()).gate.name).toBe('Weather')
    await call('PATCH', '', { name: 'Rain' })
    expect((await at()).gate.name).toBe('Rain')

    const signature = async () => (await at()).sign({ at: new Date(0), amount: null } as never)[1].split('.')[2]
    const before = await signature()
    await call('POST', '/rotate-secret')
    expect(await signature()).not.toBe(before)

    await at()
    await call('DELETE')
    await expect(at()).rejects.toMatchObject({ code: 'paywall_not_found' })
    expect((await world.request(`${gate}/x`)).status).toBe(404)
  })
})
