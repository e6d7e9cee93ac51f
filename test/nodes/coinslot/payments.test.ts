import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow'
import type { ServiceAnswer } from '../n8n.ts'
import { execute, mapped, named, type Executed } from './execution.ts'

const RUN: IDataObject = { resource: 'rda', operation: 'run', rda: named('seo-audit'), inputs: mapped({ site: 'x' }) }
const OK: ServiceAnswer = { status: 200, body: { runId: 'run_1' } }
const LOW: ServiceAnswer = {
  status: 402,
  body: { error: 'x', code: 'insufficient_balance', required: 1, available: 0 },
}

describe('a paid call has an idempotency key, so that a retry by n8n pays once', () => {
  it.each<[string, IDataObject]>([
    ['Marketplace Asset: Run', RUN],
    ['Tool: Call', { resource: 'tool', operation: 'call', tool: named('t'), inputs: mapped({}) }],
    ['Run: Cancel', { resource: 'run', operation: 'cancel', runId: 'run_1' }],
    [
      'Paid URL: Fetch',
      { resource: 'paidUrl', operation: 'fetch', url: 'https://x.example', maxAmount: 1, method: 'GET' },
    ],
  ])('%s sends a key, the same in every try of an execution', async (_, parameters) => {
    // The connection fails: it is unknown whether the call arrived.
    const first = await execute({ parameters, answers: [new Error('connect ECONNREFUSED')] })
    const again = await execute({ parameters, answers: [OK], kept: first.kept })
    expect(keyOf(again.calls[0])).toMatch(/^n8n-[0-9a-f]{64}$/)
    expect(keyOf(again.calls[0])).toBe(keyOf(first.calls[0]))
  })

  it('a worker that restarts the execution sends the same key', async () => {
    const [first, second] = [await execute({ parameters: RUN }), await execute({ parameters: RUN })]
    expect(keyOf(first.calls[0])).toBe(keyOf(second.calls[0]))
  })

  it('other executions, loop runs and items have other keys', async () => {
    const { calls } = await execute({ parameters: RUN, input: [{}, {}] })
    const [other] = (await execute({ parameters: RUN, execution: '8' })).calls
    const [looped] = (await execute({ parameters: RUN, runIndex: 1 })).calls
    expect(new Set([...calls, other, looped].map(keyOf)).size).toBe(4)
  })

  it('a retried batch repeats the keys of its items, except of the one that certainly failed', async () => {
    const played: Executed = { parameters: RUN, input: [{}, {}, {}], continueOnFail: true }
    const first = await execute({ ...played, answers: [OK, LOW, OK] })
    const again = await execute({ ...played, answers: [OK], kept: first.kept })
    const same = first.calls.map((call, place) => keyOf(call) === keyOf(again.calls[place]))
    // The call that certainly failed gets a new key: under its old key it would be refused again.
    expect(same).toEqual([true, false, true])
  })

  it.each<[string, ServiceAnswer, boolean]>([
    ['a balance that is too low', LOW, true],
    ['a limit', { status: 403, body: { error: 'x', code: 'spending_limit' } }, true],
    ['a run that failed', { status: 500, body: { error: 'x', code: 'run_timeout', runId: 'run_1' } }, true],
    ['a tool that failed', { status: 502, body: { error: 'x', code: 'upstream_error' } }, true],
    ['an unknown fault', { status: 500, body: { error: 'x', code: 'internal', runId: 'run_1' } }, false],
    [
      'a payment that may have left',
      { status: 504, body: { error: 'x', code: 'response_timeout', paymentId: 'pay_1' } },
      false,
    ],
    [
      'a payment that was given back',
      { status: 410, body: { error: 'x', code: 'payment_returned', paymentId: 'pay_1' } },
      true,
    ],
    ['a run that is not settled', { status: 503, body: { error: 'x', code: 'run_unsettled', runId: 'run_1' } }, false],
    [
      'an answer that was paid for and is forgotten',
      { status: 410, body: { error: 'x', code: 'answer_forgotten' } },
      false,
    ],
    ['a page of some proxy', { status: 502, body: '<html>' }, false],
    ['other inputs under the same name', { status: 409, body: { error: 'x', code: 'idempotency_conflict' } }, false],
    ['a canceled run', { status: 409, body: { error: 'x', code: 'run_canceled', runId: 'run_1' } }, false],
    ['an approval that is awaited', { status: 202, body: { error: 'x', code: 'approval_required' } }, false],
    ['a line that is down', new Error('connect ECONNREFUSED'), false],
  ])('after %s the next try is another act only if nothing can have been paid', async (_, answer, isNew) => {
    const first = await execute({ parameters: RUN, answers: [answer] })
    expect(first.error).toBeDefined()
    const again = await execute({ parameters: RUN, answers: [OK], kept: first.kept })
    expect(keyOf(again.calls[0]) !== keyOf(first.calls[0])).toBe(isNew)
  })

  it.each<[string, IDataObject | null, IDataObject, boolean]>([
    ['an error of an address that was not paid', null, {}, true],
    ['an error of an address that was paid', { id: 'pay_1', status: 'pending' }, {}, false],
    ['an error of an unpaid address that is passed on as it is', null, { neverError: true }, false],
  ])('after %s the next try asks the address again only if it was not paid and failed', async (...each) => {
    const [, payment, options, isNew] = each
    const parameters = {
      ...{ resource: 'paidUrl', operation: 'fetch', url: 'https://x.example', maxAmount: 1, method: 'GET' },
      options,
    }
    const response = { status: 503, headers: {}, body: 'later', encoding: 'utf8' }
    const first = await execute({ parameters, answers: [{ status: 200, body: { payment, response } }] })
    const again = await execute({ parameters, answers: [OK], kept: first.kept })
    expect(keyOf(again.calls[0]) !== keyOf(first.calls[0])).toBe(isNew)
  })

  it('a lost connection is retried once, under the same key', async () => {
    const broken = Object.assign(new Error('x'), { cause: { code: 'ECONNRESET' } })
    const done = await execute({ parameters: RUN, answers: [broken, OK] })
    expect(done.items).toHaveLength(1)
    expect(new Set(done.calls.map(keyOf)).size).toBe(1)
    expect(done.calls).toHaveLength(2)
  })

  describe('as a tool that an agent invokes itself, where n8n counts each try as a run', () => {
    const invoked: Executed = { parameters: RUN, tool: 'invoked' }

    it('a retry sends the same key', async () => {
      const first = await execute({ ...invoked, answers: [new Error('connect ECONNREFUSED')] })
      const again = await execute({ ...invoked, runIndex: 1, kept: first.kept })
      expect(keyOf(again.calls[0])).toBe(keyOf(first.calls[0]))
    })

    it('the same call after a success has another key, and so have other inputs', async () => {
      const first = await execute(invoked)
      const second = await execute({ ...invoked, runIndex: 1, kept: first.kept })
      const other = await execute({ ...invoked, parameters: { ...RUN, inputs: mapped({ site: 'y' }) } })
      expect(new Set([first, second, other].map(({ calls }) => keyOf(calls[0]))).size).toBe(3)
    })

    it('and so has a call for another part of the answer', async () => {
      const parameters = { resource: 'tool', operation: 'call', tool: named('t'), inputs: mapped({}) }
      const runs = [{}, { fields: 'a' }, { fields: 'b' }, { all: true }].map((options) =>
        execute({ ...invoked, parameters: { ...parameters, options } }),
      )
      const keys = (await Promise.all(runs)).map(({ calls }) => keyOf(calls[0]))
      expect(new Set(keys).size).toBe(4)
    })
  })

  it("as a tool that n8n's engine runs, each call of the model has its own key", async () => {
    const one = await execute({ parameters: RUN, tool: 'engine', input: [{ toolCallId: 'call_1' }] })
    const two = await execute({ parameters: RUN, tool: 'engine', input: [{ toolCallId: 'call_2' }] })
    expect(keyOf(one.calls[0])).not.toBe(keyOf(two.calls[0]))
  })

  it('waits for a person to approve for as long as was chosen', async () => {
    const done = await execute({ parameters: { ...RUN, options: { approvalSeconds: 90 } } })
    expect(done.calls[0]?.headers).toMatchObject({ prefer: 'wait=90' })
    expect(done.calls[0]?.timeout).toBeGreaterThan(300_000)
  })
})

it('a free call has no idempotency key', async () => {
  const done = await execute({ parameters: { resource: 'run', operation: 'get', runId: 'run_1' } })
  expect(done.calls[0]?.headers).not.toHaveProperty('idempotency-key')
})

function keyOf(call: IHttpRequestOptions | undefined): unknown {
  return call?.headers?.['idempotency-key']
}
