import { mkdtemp, readFile, rm, stat, chmod, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { authSecretOf } from '../../service/wiring/keys.ts'
import { callerOf, grantsOf, openWorld, post, type World } from './world.ts'

describe('the demo account', () => {
  let world: World
  beforeEach(async () => {
    world = await openWorld()
  })
  afterEach(() => world.close())

  it('gets its key once, also when processes start concurrently', async () => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => world.identity.ensureDemoAccount()))
    const secrets = keys.filter((secret) => secret !== null)
    expect(secrets).toHaveLength(1)
    const caller = await callerOf(world, secrets[0]!)
    expect(caller).toMatchObject({ environment: 'sandbox', user: { issuer: 'coinslot', email: 'demo@coinslot.local' } })
    expect(await grantsOf(world, caller.user!.id)).toEqual([5, 0])
    expect(await world.identity.ensureDemoAccount()).toBeNull()
    await world.deliver()
    expect(world.mails).toEqual([])
  })

  it('accepts a fixed key of the operator, and a later one, and keeps both', async () => {
    const [one, two] = ['csk_test_a_fixed_key_for_ci', 'csk_test_another-fixed-key']
    expect(await world.identity.ensureDemoAccount({ apiKey: one })).toBe(one)
    expect(await world.identity.ensureDemoAccount({ apiKey: one })).toBeNull()
    expect(await world.identity.ensureDemoAccount({ apiKey: two })).toBe(two)
    const users = await Promise.all([one, two].map(async (key) => (await callerOf(world, key)).user?.id))
    expect(new Set(users).size).toBe(1)
  })

  it('gets no new key at a restart after its key was revoked', async () => {
    const secret = (await world.identity.ensureDemoAccount())!
    const caller = await callerOf(world, secret)
    await world.identity.keys.revoke(caller, caller.keyId!)
    expect(await world.identity.ensureDemoAccount()).toBeNull()
    await expect(callerOf(world, secret)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('cannot be signed in to or signed up as', async () => {
    await world.identity.ensureDemoAccount()
    const body = { email: 'demo@coinslot.local', password: 'correct horse battery', name: 'Demo' }
    expect((await post(world, '/sign-in/email', body)).status).toBe(401)
    expect((await post(world, '/sign-up/email', body)).status).toBe(422)
  })

  it('does not exist on a live server', async () => {
    const live = await openWorld({ live: true })
    await expect(live.identity.ensureDemoAccount()).rejects.toThrow(/live/)
    await live.close()
  })
})

describe('the sandbox’s own AUTH_SECRET', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'coinslot auth '))
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  it('is created once for concurrent starts, persists, and is readable by its owner only', async () => {
    const folder = path.join(dataDir, 'deeper')
    const secrets = await Promise.all(Array.from({ length: 8 }, () => secretIn(folder)))
    expect(new Set(secrets).size).toBe(1)
    expect(secrets[0]!.length).toBeGreaterThanOrEqual(43)
    const file = path.join(folder, 'auth.secret')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readFile(file, 'utf8')).trim()).toBe(secrets[0])
    expect(await secretIn(folder)).toBe(secrets[0])
  })

  it('is refused when others can read its file, or when it is too short', async () => {
    await secretIn(dataDir)
    const file = path.join(dataDir, 'auth.secret')
    await chmod(file, 0o644)
    await expect(secretIn(dataDir)).rejects.toMatchObject({ code: 'auth_secret_file' })
    await chmod(file, 0o600)
    await writeFile(file, 'short')
    await expect(secretIn(dataDir)).rejects.toMatchObject({ code: 'auth_secret_file' })
  })
})

function secretIn(folder: string): Promise<string> {
  return authSecretOf({ AUTH_SECRET: undefined, DATA_DIR: folder })
}
