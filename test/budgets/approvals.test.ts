import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import { startSmtp } from '../harness/smtp.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { callOf, outcomeOf } from './harness.ts'

/** The approver's view and actions; the calls themselves are made without HTTP. */
describe('approvals', () => {
  let service: TestService
  let person: TestPerson
  let smtp: Awaited<ReturnType<typeof startSmtp>>
  beforeAll(async () => {
    smtp = await startSmtp()
    service = await testService({ SMTP_URL: smtp.url, MAIL_FROM: 'coinslot@example.com', RATE_API_PER_MINUTE: '0' })
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 100 } })
    await service.start()
  })
  afterAll(async () => {
    await service.close()
    await smtp.close()
  })

  const approvalOf = async (id: string) =>
    (await person.call('GET', `/v1/approvals/${id}`)).body.approval as { status: string; reference: string | null }

  async function newAgent(rules: object) {
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'Buyer <b>', ...rules } })).body
    return await service.budgets.agents.find(person.caller, String(agent.id))
  }

  /** Makes a call that needs approval; returns the approval's id. */
  async function hold(amount = 2_000_000n, hash: string = randomUUID()) {
    const agent = await newAgent({ approvalAbove: 1 })
    const call = callOf(agent, amount, { target: '<script>alert(1)</script>', requestHash: hash })
    const error = await service.budgets.reserve(call).catch((thrown: unknown) => thrown)
    const { approvalId } = (error as { fields: { approvalId: string } }).fields
    return { agent, call, hash, id: approvalId }
  }

  async function link(id: string): Promise<string> {
    for (const end = Date.now() + 60_000; Date.now() < end; await new Promise(setImmediate)) {
      const mail = smtp.received
        .map((one) => one.replace(/=\n/g, '').replace(/=3D/g, '='))
        .find((one) => one.includes(id))
      const found = mail === undefined ? null : /http:\/\/\S+/.exec(mail)
      if (found !== null) {
        const { pathname, search } = new URL(found[0])
        return pathname + search
      }
    }
    throw new Error(`no mail about ${id} came`)
  }

  test('once refused, refuse the same request until their time is over, and no other', async () => {
    const { agent, call, id } = await hold()
    await person.call('POST', `/v1/approvals/${id}/refuse`)
    const again = (more: object = {}) =>
      service.budgets
        .reserve({ ...call, id: `run_${randomUUID()}`, ...more })
        .then(() => null)
        .catch((thrown: unknown) => thrown as DomainError)
    for (const more of [{}, { amount: usdc(1_500_000n) }, { amount: usdc(5_000_000n) }]) {
      const error = await again(more)
      expect([error?.kind, error?.code, error?.fields['approvalId']]).toEqual(['forbidden', 'approval_refused', id])
    }
    expect((await person.call('GET', `/v1/approvals?agentId=${agent.id}`)).body).toMatchObject({ total: 1 })
    const other = await again({ spender: { ...call.spender!, requestHash: 'another act' } })
    expect(other?.code).toBe('approval_required')
    const [decision] = (await person.call('GET', `/v1/agents/${agent.id}/decisions?outcome=refused`)).body.decisions
    expect(decision).toMatchObject({ rule: 'approvalRefused', approvalId: id })
    service.clock.forward(15 * 60_000 + 1)
    const later = await again()
    expect([later?.code, later?.fields['approvalId'] === id]).toEqual(['approval_required', false])
  })

  test('are listed with agent, kind and amount, and decided once', async () => {
    const { id, agent } = await hold()
    const { body } = await person.call('GET', `/v1/approvals?status=pending&agentId=${agent.id}`)
    expect(body).toMatchObject({ total: 1 })
    expect(body.approvals[0]).toMatchObject({
      id,
      status: 'pending',
      agentName: 'Buyer <b>',
      amount: 2,
      kind: 'run',
      reference: null,
    })
    const decisions = await Promise.all(
      Array.from({ length: 10 }, (_, count) =>
        person.call('POST', `/v1/approvals/${id}/${count % 2 === 0 ? 'approve' : 'refuse'}`),
      ),
    )
    expect(new Set(decisions.map(({ status }) => status))).toEqual(new Set([200, 409]))
    const state = (await approvalOf(id)).status
    for (const { status, body: decision } of decisions) if (status === 200) expect(decision.approval.status).toBe(state)
  })

  test('allow the approved request once, up to its price', async () => {
    const { id, agent, hash } = await hold()
    await person.call('POST', `/v1/approvals/${id}/approve`)
    const again = (amount: bigint, run: string, requestHash = hash) =>
      outcomeOf(service.budgets.reserve(callOf(agent, amount, { requestHash }, run)))
    expect(await again(2_000_000n, `other.${id}`, 'another request')).toBe('approval_required')
    const both = await Promise.all([again(2_000_000n, `one.${id}`), again(2_000_000n, `two.${id}`)])
    expect(both.sort()).toEqual(['allowed', 'approval_required'])
    expect((await approvalOf(id)).status).toBe('used')
    // The approved call may place its hold again.
    const reference = String((await approvalOf(id)).reference)
    expect(await again(2_000_000n, reference)).toBe('allowed')
  })

  test('lapse when the price rises, and a new one is opened', async () => {
    const { id, agent, hash } = await hold(2_000_000n)
    await person.call('POST', `/v1/approvals/${id}/approve`)
    const dearer = callOf(agent, 2_000_001n, { requestHash: hash })
    expect(await outcomeOf(service.budgets.reserve(dearer))).toBe('approval_required')
    expect((await approvalOf(id)).status).toBe('lapsed')
    expect(
      (await person.call('GET', `/v1/approvals?status=pending&agentId=${agent.id}`)).body.approvals[0].amount,
    ).toBe(2.000001)
  })

  test('do not override limits', async () => {
    const agent = await newAgent({ approvalAbove: 1, limits: { perDay: 3 } })
    const held = callOf(agent, 2_000_000n)
    const error = (await service.budgets.reserve(held).catch((thrown: unknown) => thrown)) as {
      fields: { approvalId: string }
    }
    await service.budgets.reserve(callOf(agent, 1_000_000n))
    await service.budgets.reserve(callOf(agent, 1_000_000n))
    await person.call('POST', `/v1/approvals/${error.fields.approvalId}/approve`)
    expect(await outcomeOf(service.budgets.reserve(held))).toBe('perDay')
    expect((await approvalOf(error.fields.approvalId)).status).toBe('approved')
  })

  test('lapse after fifteen minutes, by reading or by the sweeper', async () => {
    const { id } = await hold()
    const approved = await hold()
    await person.call('POST', `/v1/approvals/${approved.id}/approve`)
    service.clock.forward(15 * 60_000)
    expect((await approvalOf(id)).status).toBe('lapsed')
    const late = await person.call('POST', `/v1/approvals/${id}/approve`)
    expect([late.status, late.body.code, late.body.state]).toEqual([409, 'approval_over', 'lapsed'])
    await service.budgets.approvals.lapse()
    const [row] = await service.testDatabase.statements.run<{ states: string[] }>(
      'SELECT array_agg(state::text) AS states FROM spending_approval WHERE id = ANY ($1)',
      [[id, approved.id]],
    )
    expect(row?.states).toEqual(['lapsed', 'lapsed'])
    expect(await outcomeOf(service.budgets.reserve(approved.call))).toBe('approval_required')
  })

  test('of another account answer 404 to reading, approving and refusing', async () => {
    const { id } = await hold()
    const other = await service.person()
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/approve'],
      ['POST', '/refuse'],
    ] as const) {
      const answer = await other.call(method, `/v1/approvals/${id}${path}`)
      expect([answer.status, answer.body.code]).toEqual([404, 'approval_not_found'])
    }
    expect((await approvalOf(id)).status).toBe('pending')
  })

  test('are not decided by opening the mailed link, also by a scanner', async () => {
    const { id } = await hold()
    const path = await link(id)
    for (const method of ['GET', 'HEAD', 'GET']) await fetch(service.origin + path, { method })
    const page = await service.call('GET', path, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.text).toContain('2 USDC')
    expect(page.text).toContain('Buyer &#60;b&#62;')
    expect(page.text).not.toContain('<script')
    expect((await approvalOf(id)).status).toBe('pending')
    // As a browser sends the page's button: a form, to the address that the page says.
    const action = /action="(page\/approve[^"]*)"/.exec(page.text)?.[1] ?? ''
    const target = new URL(action, service.origin + path)
    const pressed = await fetch(target, {
      method: 'POST',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      body: '',
    })
    expect(await pressed.text()).toContain('Approved')
    expect((await approvalOf(id)).status).toBe('approved')
  })

  test('a link without its ticket, or with another’s, is a 404 page', async () => {
    const [one, other] = [await hold(), await hold()]
    const wrong = (await link(other.id)).replace(other.id, one.id)
    for (const path of [wrong, `/v1/approvals/${one.id}/page?ticket=x`]) {
      const page = await service.call('GET', path, { headers: { accept: 'text/html' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      const pressed = await service.call('POST', path.replace('/page', '/page/approve'), {
        headers: { accept: 'text/html' },
      })
      expect(pressed.status).toBe(404)
    }
    expect((await approvalOf(one.id)).status).toBe('pending')
  })

  test('alerts reach the account’s endpoint, signed, and its mailbox', async () => {
    const received: { event: string; data: Record<string, unknown> }[] = []
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        received.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof received)[number])
        response.end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/`
    const events = ['agent.spending.warning', 'agent.spending.exceeded', 'agent.paused']
    expect((await person.call('POST', '/v1/webhook-endpoints', { body: { url, events } })).status).toBe(201)
    const agent = await newAgent({ limits: { perMonth: 2 }, alerts: [{ at: 0.5 }], onExceeded: 'pause' })
    await service.budgets.reserve(callOf(agent, 1_500_000n))
    await outcomeOf(service.budgets.reserve(callOf(agent, 1_500_000n)))
    for (const end = Date.now() + 60_000; received.length < 3 && Date.now() < end;) await new Promise(setImmediate)
    expect(received.map(({ event }) => event).sort()).toEqual([...events].sort())
    expect(received.find(({ event }) => event === 'agent.spending.warning')?.data).toMatchObject({
      agentId: agent.id,
      name: 'Buyer <b>',
      limit: 'perMonth',
      at: 0.5,
      spent: 1.5,
      allowed: 2,
    })
    for (
      const end = Date.now() + 60_000;
      Date.now() < end && !smtp.received.some((mail) => mail.includes('is paused'));
    ) {
      await new Promise(setImmediate)
    }
    expect(smtp.received.some((mail) => mail.includes('is near its limit'))).toBe(true)
    expect(smtp.received.some((mail) => mail.includes('is paused'))).toBe(true)
    await new Promise((resolve) => receiver.close(resolve))
  })
})
