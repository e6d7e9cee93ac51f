import type { Statements } from '../../../../service/kit/transaction.ts'
import { useOf, type Evidence } from '../evidence.ts'
import type { Act, Reply } from '../journal.ts'

/** Checks that every response was true, and that repeating a request gave the same response. */
export async function checkWords(statements: Statements, evidence: Evidence): Promise<string[]> {
  const problems: string[] = []
  const stands = await readAll(statements)
  for (const act of evidence.acts) {
    for (const reply of act.replies) {
      const lie = lieOf(act, reply, stands, evidence)
      if (lie !== null) problems.push(`${act.name} was told ${String(reply.status)}: ${lie}`)
    }
    const ids = new Set(act.replies.flatMap((reply) => idOf(act, reply) ?? []))
    if (ids.size > 1) problems.push(`${act.name} was told of ${[...ids].join(' and ')}`)
    if (act.kind === 'settle') problems.push(...successes(act))
  }
  return problems
}

interface Ended {
  state: string
  /** Micro-dollars. */
  cost: number
}

interface Stands {
  runs: ReadonlyMap<string, Ended>
  calls: ReadonlyMap<string, Ended>
  checkouts: ReadonlyMap<string, string>
  tools: ReadonlyMap<string, string>
  paidCalls: ReadonlyMap<string, string>
  withdrawals: ReadonlyMap<string, bigint>
}

async function readAll(statements: Statements): Promise<Stands> {
  async function read<Value>(text: string): Promise<Map<string, Value>> {
    const rows = await statements.run<{ id: string; value: Value }>(text, [])
    return new Map(rows.map(({ id, value }) => [id, value]))
  }
  return {
    runs: await read<Ended>(`SELECT id, json_build_object('state', status, 'cost', cost) AS value FROM run`),
    calls: await read<Ended>(
      `SELECT id, json_build_object('state', CASE WHEN error_code IS NULL THEN 'succeeded' ELSE 'failed' END, 'cost', cost) AS value
       FROM tool_call`,
    ),
    checkouts: await read<string>(`SELECT id, state::text AS value FROM sale WHERE product = 'checkout'`),
    tools: await read<string>(`SELECT id, state::text AS value FROM sale WHERE product = 'tool'`),
    paidCalls: await read<string>('SELECT id, state::text AS value FROM spending_payment'),
    withdrawals: await read<bigint>('SELECT id, amount AS value FROM wallet_withdrawal'),
  }
}

/** Returns what is false in a success; null where it is true, and for every response that is no success. */
function lieOf(act: Act, reply: Reply, stands: Stands, evidence: Evidence): string | null {
  const { request, name } = act
  const { status, body } = reply
  const micro = (dollars: number): number => Math.round(dollars * 1e6)
  const onChain =
    request.nonce !== null && request.address !== null && evidence.used.has(useOf(request.address, request.nonce))
  switch (act.kind) {
    case 'checkout': {
      // A pending payment may end either way.
      if (status !== 200 || body.payment.status === 'settling') return null
      const stood = stands.checkouts.get(body.payment.id as string)
      if (stood !== body.payment.status)
        return `${String(body.payment.id)} ${String(body.payment.status)} is ${String(stood)}`
      return onChain === (stood === 'paid') ? null : `${String(stood)}, and the chain says otherwise`
    }
    case 'settle':
      if (status !== 200 || body.success !== true) return null
      if (!onChain) return 'settled, and the chain knows nothing of it'
      return null
    case 'run': {
      // After an internal error, only the run's id is certain.
      if (status === 500 && body.code !== 'internal') {
        const stood = stands.runs.get(body.runId as string)
        return stood?.state !== 'succeeded' ? null : `${String(body.runId)} failed, and it succeeded`
      }
      if (status !== 200) return null
      const stood = stands.runs.get(body.runId as string)
      if (stood?.state !== 'succeeded') return `${String(body.runId)} succeeded, and it is ${String(stood?.state)}`
      if (stood.cost !== micro(body.cost as number)) return `${String(body.runId)} cost ${String(stood.cost)}`
      return String(body.output).split(' ')[0] === name ? null : `another's output: ${String(body.output)}`
    }
    case 'tool': {
      if (status !== 200) return null
      const stood = stands.calls.get(body.callId as string)
      if (stood?.state !== 'succeeded' || stood.cost !== micro(body.cost as number))
        return `${String(body.callId)} stands nowhere`
      return body.output?.echo === name ? null : `another's output: ${JSON.stringify(body.output)}`
    }
    case 'tool-x402':
      if (status !== 200) return null
      if (stands.tools.get(body.callId as string) !== 'paid') return `${String(body.callId)} is not paid`
      if (!onChain) return 'paid, and the chain knows nothing of it'
      return body.output?.echo === name ? null : `another's output: ${JSON.stringify(body.output)}`
    case 'gate-exact':
      if (status === 200 && !onChain) return 'served, and the chain knows nothing of a payment'
      return status !== 200 || body.echo === name ? null : `another's answer: ${JSON.stringify(body)}`
    // Where enough is left of earlier payments, a signature only proves who is asking: the balances are checked
    // instead.
    case 'gate-prepaid':
    case 'gate-draw':
      return status !== 200 || body.echo === name ? null : `another's answer: ${JSON.stringify(body)}`
    case 'pay': {
      if (status !== 200 || body.payment === null) return null
      const stood = stands.paidCalls.get(body.payment.id as string)
      return body.payment.status !== 'settled' || stood === 'settled' ? null : `settled, and it is ${String(stood)}`
    }
    case 'deposit': {
      if (status !== 200 && status !== 409) return null
      const { transactionHash } = request.body as { transactionHash: string }
      // A credited deposit is three blocks deep; no reorganisation here reaches that far.
      return evidence.transfers.some(({ hash, to }) => hash === transactionHash && to === request.address)
        ? null
        : 'recorded, and the chain knows nothing of it'
    }
    case 'withdraw':
      if (status !== 200) return null
      return stands.withdrawals.get(body.withdrawal.id as string) === request.amount
        ? null
        : 'accepted, and it stands nowhere'
  }
}

/** The id that a response gave to one idempotency key, or to one authorization. */
function idOf({ kind }: Act, { status, body }: Reply): string | null {
  if (status >= 300 && status !== 500) return null
  const id: unknown =
    kind === 'checkout'
      ? body.payment?.id
      : kind === 'run'
        ? body.runId
        : kind === 'tool' || kind === 'tool-x402'
          ? body.callId
          : kind === 'pay'
            ? (body.payment?.id ?? body.paymentId)
            : kind === 'withdraw'
              ? body.withdrawal?.id
              : null
  return typeof id === 'string' ? id : null
}

/** With its key, a success is the same however often it is asked for. */
function successes({ name, replies }: Act): string[] {
  const hashes = new Set(replies.filter(({ body }) => body.success === true).map(({ body }) => String(body.txHash)))
  return hashes.size > 1 ? [`${name} was told of two transactions: ${[...hashes].join(', ')}`] : []
}
