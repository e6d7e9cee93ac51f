import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { agreeOnSecrets } from '../../service/wiring/secret-consistency.ts'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig, ROLES, type Role } from '../../service/config.ts'
import { listen } from '../../service/api/server.ts'
import { newId } from '../../service/kit/ids.ts'
import { Upstream } from '../tools/calls/upstream.ts'
import { signed } from '../checkouts/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { walletKeys } from '../wallet/world.ts'

/*
 * A process for each role, as they would be on machines of their own: only the database connects them. `npm run chaos
 * -- system` tests them as real processes, with a Redis and every fault.
 */
describe('processes with one role each', () => {
  const upstream = new Upstream()
  let chain: TestChain
  let database: TestDatabase
  let members: Record<Role, Member>
  let second: Member
  let person: { key: string; userId: string }

  beforeAll(async () => {
    ;[chain, database] = await Promise.all([startChain(), testDatabase({ poolMax: 2 }), upstream.listen()])
    const opened: [Role, Member][] = []
    for (const role of ROLES) opened.push([role, await open([role])])
    members = Object.fromEntries(opened) as Record<Role, Member>
    second = await open(['api'])
    person = await signUp(members.api.service)
    await request(members.api, '/v1/wallet/deposit', { amount: 20 })
  })
  afterAll(async () => {
    for (const member of [...Object.values(members), second]) await member.close()
    await upstream.close()
    await database.close()
    await chain.stop()
  })

  async function open(roles: readonly Role[]): Promise<Member> {
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-role-'))
    const config = readConfig({
      AUTH_SECRET: 'the-secret-that-all-of-them-have-been-given',
      VAULT_KEY: VAULT,
      DATABASE_URL: database.url,
      DATABASE_POOL: '4',
      DATA_DIR: folder,
      PORT: '0',
      ROLES: roles.join(','),
      LOG_LEVEL: 'silent',
      ALLOW_HOSTS: '127.0.0.1',
      RATE_API_PER_MINUTE: '0',
      BASE_SEPOLIA_RPC_URLS: chain.url,
      // Only the facilitator has the keys that move money on chain.
      ...(roles.includes('facilitator') ? { SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey } : {}),
    })
    const service = await compose(config, { url: database.url, log: pino({ level: 'silent' }) })
    const server = await listen(service.app, 0, '127.0.0.1')
    await service.start()
    return {
      service,
      origin: `http://127.0.0.1:${String(server.port)}`,
      async close() {
        await server.drain(100)
        await service.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }

  async function request(
    { origin }: Member,
    at: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(origin + at, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { status: response.status, body: await response.json().catch(() => null) }
  }

  /** An address that is not served returns `not_found`; a served address may not know the thing, but names its kind. */
  const SURFACES: readonly [address: string, accept: string, role: Role][] = [
    ['/v1/rdas', 'application/json', 'api'],
    ['/v1/me', 'application/json', 'api'],
    ['/tools', 'application/json', 'tools'],
    ['/llms.txt', 'text/plain', 'tools'],
    ['/.well-known/mcp.json', 'application/json', 'tools'],
    ['/tools/mcp', 'text/event-stream', 'tools'],
    ['/facilitator/health', 'application/json', 'facilitator'],
    ['/facilitator/supported', 'application/json', 'facilitator'],
    ['/p/chk_none', 'application/json', 'pay'],
    ['/gate/none/', 'application/json', 'gate'],
    ['/', 'text/html', 'dashboard'],
    ['/auth/get-session', 'application/json', 'dashboard'],
    ['/trpc/wallet.balance', 'application/json', 'dashboard'],
  ]

  test.each(SURFACES)('%s (%s) is answered only by processes with the role %s', async (address, accept, role) => {
    for (const each of ROLES) {
      const response = await fetch(members[each].origin + address, { headers: { accept } })
      const type = response.headers.get('content-type') ?? ''
      const body = type.includes('json') ? ((await response.json()) as { code?: string } | null) : null
      if (!type.includes('json')) await response.body?.cancel()
      // A browser gets a page for a missing address.
      const isMissing = body?.code === 'not_found' || accept === 'text/html'
      const isServed = !(response.status === 404 && isMissing)
      expect([each, isServed]).toEqual([each, each === role])
    }
  })

  test('report liveness and readiness each by themselves', async () => {
    for (const role of ROLES) {
      expect((await request(members[role], '/healthz')).status).toBe(200)
      expect(await request(members[role], '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    }
  })

  test('an account created in one process, and its money, are known in all', async () => {
    expect((await request(second, '/v1/wallet/balance')).body.wallet.balance).toBe(20)
    const session = await request(members.dashboard, '/trpc/wallet.balance')
    expect(session.status).toBe(200)
  })

  test('a payment at the page reaches the chain through the one process with the sponsor’s key', async () => {
    upstream.respondWith('/paid', { message: 'ready' })
    const { body } = await request(members.api, '/v1/checkouts', {
      callbackUrl: `${upstream.url}/paid`,
      product: { name: 'A thing' },
      price: 1,
      network: 'base-sepolia',
      recipient: chain.accounts[3]!.address,
    })
    const checkout = String(body.checkout.id)
    const view = (await request(members.pay, `/p/${checkout}`)).body
    expect(view.available).toBe(true)
    const payer = await chain.payer(2_000_000n)
    const paymentPayload = await signed(payer, chain, view.paymentRequirements as Parameters<typeof signed>[2])
    const paid = await request(members.pay, `/p/${checkout}/pay`, { input: {}, paymentPayload })
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid' } } })
    // And the worker notifies the workflow.
    expect((await upstream.waitForRequest('/paid')).body).toContain(String(paid.body.payment.txHash))
  })

  test('a run that one process accepts and the worker executes is followed in a third', async () => {
    upstream.respondWith('/weather', { temperature: '12' })
    const slug = 'weather-of-roles'
    await request(members.api, '/v1/rda', {
      slug,
      type: 'tool',
      name: 'Weather',
      description: 'The weather of a city',
      inputSchema: [{ name: 'city', label: 'City', type: 'text', required: true }],
      toolConfig: { apiEndpoint: `${upstream.url}/weather`, apiMethod: 'GET', basePrice: 0.01 },
    })
    await request(members.api, `/v1/rda/${slug}/publish`, {})
    const queued = await request(members.api, '/v1/run', { rdaSlug: slug, inputs: { city: 'Rome' }, async: true })
    expect(queued.status).toBe(202)
    const events = await fetch(`${second.origin}/v1/runs/${String(queued.body.runId)}/events`, {
      headers: { authorization: `Bearer ${person.key}` },
    })
    expect(await events.text()).toContain('"status":"succeeded"')
  })

  test('a call that waits in one process continues when another process gets the approval', async () => {
    const { body } = await request(members.api, '/v1/agents', { name: 'Careful', approvalAbove: 0.001 })
    const { secret } = (await request(members.api, '/v1/keys', { name: 'k', agentId: body.agent.id })).body
    const waiting = request(
      members.api,
      '/v1/run',
      { rdaSlug: 'weather-of-roles', inputs: { city: 'Bern' } },
      { authorization: `Bearer ${String(secret)}`, prefer: 'wait=20' },
    )
    let approval: string | undefined
    while (approval === undefined) {
      approval = (await request(second, '/v1/approvals')).body.approvals[0]?.id as string | undefined
    }
    expect((await request(second, `/v1/approvals/${approval}/approve`, {})).status).toBe(200)
    expect((await waiting).status).toBe(200)
  })

  test('a price changed in one process is charged in another', async () => {
    const pricing = (amount: number) => [{ method: 'GET', path: '/x', pricing: { model: 'per-request', amount } }]
    const terms = { slug: 'roles', name: 'Roles', upstreamUrl: upstream.url, network: 'base-sepolia' }
    const created = await request(members.api, '/v1/paywalls', {
      ...terms,
      recipient: chain.accounts[3]!.address,
      routes: pricing(0.05),
    })
    expect(created.status).toBe(201)
    const price = async () => (await request(members.gate, '/gate/roles/x')).body.amount as string
    expect(await price()).toBe('0.05')
    const changed = await fetch(`${members.api.origin}/v1/paywalls/${String(created.body.paywall.id)}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ routes: pricing(0.5) }),
    })
    expect(changed.status).toBe(200)
    await until(async () => (await price()) === '0.5')
  })

  test('a process with another secret than the rest does not start', async () => {
    const { WALLET_XPUB } = await walletKeys()
    const environment = { VAULT_KEY: VAULT, WALLET_XPUB, DATABASE_URL: database.url }
    const config = (AUTH_SECRET: string) => readConfig({ ...environment, AUTH_SECRET })
    const quiet = pino({ level: 'silent' })
    const agreed = await agreeOnSecrets(config('a'.repeat(40)), database, quiet, 1_000)
    const again = await agreeOnSecrets(config('a'.repeat(40)), database, quiet, 1_000)
    await expect(agreeOnSecrets(config('b'.repeat(40)), database, quiet, 1_000)).rejects.toThrow(
      'Another process on this database has a different AUTH_SECRET',
    )
    agreed.end()
    again.end()
    // Once all of them have ended, new secrets may be set.
    ;(await agreeOnSecrets(config('b'.repeat(40)), database, quiet, 1_000)).end()
  })

  async function signUp(service: Service): Promise<{ key: string; userId: string }> {
    const { user } = await service.identity.signUp({
      issuer: 'coinslot',
      subject: 'person-of-roles',
      name: 'Person',
      email: 'roles@example.com',
      emailConfirmed: true,
    })
    const caller = {
      user,
      subject: user.subject,
      issuer: user.issuer,
      environment: 'sandbox' as const,
      via: 'session' as const,
      keyId: null,
      agentId: null,
    }
    const created = await service.identity.keys.create(
      caller,
      { name: 'test', agentId: null, expiresAt: null },
      newId('op', new Date()),
    )
    return { key: created.secret, userId: user.id }
  }
})

const VAULT = `roles:${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

interface Member {
  service: Service
  origin: string
  close(): Promise<void>
}

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers field by field
  body: any
}
