import { NodeApiError, NodeOperationError, type IDataObject } from 'n8n-workflow'
import * as budgets from '../../../service/budgets/errors.ts'
import { priceTooHigh } from '../../../service/outgoing-payments/errors.ts'
import { answerError } from '../../../service/api/errors.ts'
import { unaffordable } from '../../../service/ledger/errors.ts'
import { tooDear } from '../../../service/marketplace/errors.ts'
import { usdc } from '../../../service/kit/money.ts'
import type { ServiceAnswer } from '../n8n.ts'
import { execute, mapped, named } from './execution.ts'

const RUN: IDataObject = { resource: 'rda', operation: 'run', rda: named('seo-audit'), inputs: mapped({}) }

/** As the service answers this error: its own words, so that both sides stay in step. */
function answer(error: unknown): ServiceAnswer {
  const { status, body } = answerError(error, 'req_1')
  return { status, body }
}

describe('a refusal is a NodeApiError that says what to do next, and an item where the workflow goes on', () => {
  it.each<[string, ServiceAnswer, string]>([
    [
      'a balance that is too low',
      answer(unaffordable(usdc(5_000_000n), usdc(20_000n))),
      'The Coinslot balance is too low: this costs 5 USDC and 0.02 USDC is available. Nothing was paid. Top up the wallet and try again.',
    ],
    [
      'the same, where it says where to top up',
      {
        status: 402,
        body: { error: 'x', code: 'insufficient_credits', required: 1, available: 0, topUpUrl: 'https://top.up' },
      },
      'The Coinslot balance is too low: this costs 1 USDC and 0 USDC is available. Nothing was paid. Top up the wallet at https://top.up and try again.',
    ],
    [
      'a run that may be too dear',
      answer(tooDear(usdc(2_000_000n), usdc(1_000_000n), usdc(9_000_000n))),
      'This may cost up to 2 USDC, which is above the Maximum Cost of 1 USDC. Nothing was paid. Raise the maximum, or choose a cheaper option.',
    ],
    [
      'a price above the maximum',
      answer(priceTooHigh(usdc(250_000n), usdc(1n))),
      'The address asks for 0.25 USDC, which is above the Maximum Amount of 0.000001 USDC. Nothing was paid. Raise the maximum to pay this price.',
    ],
    [
      "an agent's limit of the day",
      answer(
        budgets.spendingLimit({
          ...{ rule: 'perDay', limit: usdc(1_000_000n), spent: usdc(950_000n), requested: usdc(100_000n) },
          ...{ pattern: null, resetsAt: new Date('2026-11-22T00:00:00Z') },
        }),
      ),
      "A spending limit of the agent stops this: This would exceed the agent's limit for this day. 0.95 USDC of 1 USDC is spent, and this would cost 0.1 USDC. Nothing was paid. Do not retry before 2026-11-22 00:00 UTC, when the limit resets. Only the owner of the account can change the limit, in the Coinslot dashboard.",
    ],
    [
      'a list of an agent',
      answer(
        budgets.spendingLimit({
          ...{ rule: 'rdas.deny', limit: null, spent: null, requested: usdc(100_000n) },
          ...{ pattern: 'seo-*', resetsAt: null },
        } as never),
      ),
      'A spending limit of the agent stops this: The agent\'s rdas.deny list contains "seo-*". Nothing was paid. A retry does not help. Only the owner of the account can change the limit, in the Coinslot dashboard.',
    ],
    [
      'a person has to approve',
      answer(budgets.approvalRequired({ id: 'apr_1', expiresAt: new Date('2026-11-21T17:00:00Z') }, 'https://x')),
      'A person must approve this first: approval apr_1, open until 2026-11-21 17:00 UTC. Nothing was paid. Approve it in the Coinslot dashboard and execute this step again with the same inputs, or set the option Wait for Approval to wait longer.',
    ],
    [
      'a person refused',
      answer(budgets.approvalRefused({ id: 'apr_1', expiresAt: new Date('2026-11-21T17:00:00Z') })),
      'A person rejected this call. Nothing was paid. Do not retry without changing the inputs.',
    ],
    [
      'an asset that was archived',
      { status: 404, body: { error: 'There is no such marketplace asset.', code: 'rda_not_found' } },
      'There is no such marketplace asset for this account: it may be archived, a draft of another account, or in the other environment. Choose another one from the list.',
    ],
    [
      'a tool that was removed, with a successor',
      { status: 410, body: { error: 'gone', code: 'tool_removed', successor: 'github-search-v2' } },
      'This tool was removed. Use github-search-v2 instead.',
    ],
    [
      'a tool that was removed without one',
      { status: 410, body: { error: 'gone', code: 'tool_removed', successor: null } },
      'This tool was removed. Search for another one that does the same.',
    ],
    [
      'a run that failed',
      { status: 500, body: { error: 'The agent did not answer.', code: 'run_timeout', runId: 'run_1' } },
      'The run failed, and cost nothing: The agent did not answer. (run_1)',
    ],
    [
      'a tool whose provider failed',
      { status: 502, body: { error: 'github answered with 503. Nothing was charged.', code: 'upstream_error' } },
      'The other side failed: github answered with 503. Nothing was charged. Try again later.',
    ],
    [
      'a seller failed after the payment was signed',
      {
        status: 504,
        body: { error: 'seller.example did not answer in time.', code: 'response_timeout', paymentId: 'pay_1' },
      },
      'seller.example did not answer in time. A payment may have been sent: pay_1. If the seller does not take it, the money comes back automatically. Retrying this step in the same execution does not pay twice.',
    ],
    [
      'a payment that was given back',
      {
        status: 410,
        body: {
          ...{ error: 'x', code: 'payment_returned', paymentId: 'pay_1' },
          payment: { id: 'pay_1', status: 'returned', reason: 'treasury_short' },
        },
      },
      'The payment pay_1 of this step was not made (treasury_short), and the money came back. Execute the workflow again to retry.',
    ],
    [
      'too many calls',
      { status: 429, body: { error: 'Too many requests.', code: 'rate_limited' } },
      'Too many requests. Wait a minute, then try again.',
    ],
    [
      'inputs that changed between two tries',
      { status: 409, body: { error: 'x', code: 'idempotency_conflict' } },
      'The inputs of this step have changed since an earlier attempt in this execution (for example, because they use $now). To avoid paying twice, it was not sent again. Execute the workflow again.',
    ],
    [
      'a key that is of no use',
      { status: 401, body: { error: 'x', code: 'unauthenticated' } },
      'Coinslot does not accept the API key of the credential. Make a new key in the Coinslot dashboard and put it into the credential.',
    ],
    [
      "an agent's key for what agents may not do",
      {
        status: 403,
        body: {
          error: "An agent's key may not do this. Use an API key of the account instead.",
          code: 'agent_key_forbidden',
        },
      },
      "The credential holds an agent's key, which may not do this. Use a credential with a key of the account itself.",
    ],
    [
      'a fault of the service',
      answer(Object.assign(new Error('x'))),
      'Coinslot had an internal error: Something went wrong on our side. Try again in a moment. (request req_1)',
    ],
    [
      'a service that is down',
      new Error('connect ECONNREFUSED'),
      'Coinslot cannot be reached at http://localhost:4020/v1 (no answer). Check the service address in the credential and that the service is running, then try again.',
    ],
  ])('%s', async (_, answer, sentence) => {
    const failed = await execute({ parameters: RUN, answers: [answer] })
    expect(failed.error).toBeInstanceOf(NodeApiError)
    expect((failed.error as NodeApiError).message).toBe(sentence)
    // n8n puts a sentence of its own in the place of one that has a system's code in it.
    expect(sentence).not.toMatch(/\bE[A-Z]{4,}\b/)

    for (const going of [{ continueOnFail: true }, { tool: 'engine' as const }, { tool: 'invoked' as const }]) {
      const went = await execute({ parameters: RUN, answers: [answer], ...going })
      expect(went.items).toEqual([{ json: expect.objectContaining({ error: sentence }), pairedItem: { item: 0 } }])
    }
  })

  it('hands the figures on to a workflow that continues', async () => {
    const answer = {
      status: 403,
      body: { error: 'x', code: 'spending_limit', limit: 'perDay', spent: 1, resetsAt: 'z' },
    }
    const { items } = await execute({ parameters: RUN, answers: [answer], continueOnFail: true })
    expect(items[0]?.json).toMatchObject({ code: 'spending_limit', limit: 'perDay', spent: 1, resetsAt: 'z' })
  })

  it('names the request id and the status', async () => {
    const { error } = await execute({ parameters: RUN, answers: [answer(unaffordable(usdc(2n), usdc(1n)))] })
    expect(error).toMatchObject({
      description: 'Coinslot answered 402 insufficient_balance, request req_1.',
      httpCode: '402',
    })
  })
})

describe('the node refuses wrong parameters before it sends a request', () => {
  it.each<[IDataObject, RegExp]>([
    [{ ...RUN, rda: named(' ') }, /Choose a marketplace asset first/],
    [{ ...RUN, specifyInputs: 'json', inputsJson: '{"a":' }, /Inputs \(JSON\) is not valid JSON/],
    [{ ...RUN, specifyInputs: 'json', inputsJson: '[1]' }, /Inputs \(JSON\) must be an object/],
    [{ resource: 'tool', operation: 'call', tool: named('') }, /Choose a tool first/],
    [{ resource: 'run', operation: 'get', runId: ' ' }, /Run ID is empty/],
    [{ resource: 'rda', operation: 'fly' }, /no operation fly of rda/],
  ])('%j', async (parameters, sentence) => {
    const { error, calls } = await execute({ parameters })
    expect(error).toBeInstanceOf(NodeOperationError)
    expect((error as Error).message).toMatch(sentence)
    expect(calls).toEqual([])
  })
})

describe('the response of a paid address', () => {
  const FETCH = { resource: 'paidUrl', operation: 'fetch', url: 'https://x.example', maxAmount: 1, method: 'GET' }
  const response = { status: 500, headers: { 'content-type': 'text/plain' }, body: 'sorry', encoding: 'utf8' }
  const payment = { id: 'pay_1', status: 'pending' }

  it('fails for an error, and says where the money is', async () => {
    const { error } = await execute({ parameters: FETCH, answers: [{ status: 200, body: { payment, response } }] })
    expect(error).toBeInstanceOf(NodeApiError)
    expect((error as Error).message).toBe(
      'The address answered with status 500. Its payment pay_1 is pending: if the seller does not take it, the money comes back automatically. To continue with such an answer, turn on the option Never Error.',
    )
  })

  it('is returned instead of an error where that was chosen', async () => {
    const parameters = { ...FETCH, options: { neverError: true } }
    const { items } = await execute({ parameters, answers: [{ status: 200, body: { payment, response } }] })
    expect(items[0]?.json).toMatchObject({ status: 500, body: 'sorry', payment })
  })

  it.each([
    ['settled', null, /An earlier attempt of this step paid for this.*not stored: payment pay_1/],
    ['returned', 'expired', /did not take the payment pay_1 of this step/],
    ['returned', 'treasury_short', /^The payment pay_1 of this step was not made \(treasury_short\)/],
  ])('is not there any more for a repeated call whose payment is %s (%s)', async (status, reason, sentence) => {
    const body = { payment: { id: 'pay_1', status, reason }, response: null }
    const { error } = await execute({ parameters: FETCH, answers: [{ status: 200, body }] })
    expect((error as Error).message).toMatch(sentence)
  })

  it('that is an output, paid for, and no JSON where JSON was wanted, is not lost', async () => {
    const parameters = { ...RUN, options: { parseOutput: true } }
    const { error } = await execute({ parameters, answers: [{ status: 200, body: { runId: 'run_1', output: 'x' } }] })
    expect((error as Error).message).toMatch(/succeeded and is paid for.*Run: Get and run_1/)
  })
})
