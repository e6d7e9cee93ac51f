import { DomainError } from '../../../kit/errors.ts'
import { readRequest } from '../../../x402/payload.ts'
import { paymentRefused, settlementPending } from '../../errors/payment.ts'
import type { Output } from '../../model/call.ts'
import type { PaidCall, ToolPayment } from '../../model/payment.ts'
import type { ToolPaymentParts } from './parts.ts'

/**
 * The chain is asked under the call's own id: whoever asks again, in whatever process, after whatever crash, asks for the
 * same transfer and is told of the same success.
 */
export function createPaySettling(parts: SettlingParts) {
  const { store, calls, facilitator, clock, log, checkpoint, timeoutMs, address, tokens } = parts

  /** Answers the transaction; throws where the money has not arrived. */
  async function settle(row: ToolPayment, waitMs?: number): Promise<string> {
    const asker = { operation: row.id, keeps: true, ...(waitMs === undefined ? {} : { waitMs }) }
    const pending = () => settlementPending(row.id, statusUrl(row), tokens.of(row.id), row.owed)
    const answer = await facilitator.settle(readRequest(row.request), asker).catch((error: unknown) => {
      if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error
      log.warn({ callId: row.id, code: error.code }, 'the chain does not answer for a call; it is asked again')
      return null
    })
    if (answer === null || answer.status === 'pending') throw pending()
    await checkpoint('settled')
    if (!answer.success) {
      if (answer.status === 'settled') {
        // Its success was told under another name: this call's own row may say so by now.
        const now = await store.find(row.id)
        if (now?.state === 'paid' && now.txHash !== null && (row.owed || now.output !== null)) return now.txHash
      }
      await store.failed(row.id, answer.reason)
      throw paymentRefused(answer.reason, row.id)
    }
    await store.inTransaction(async (inside) => {
      const now = clock.now()
      if (!(await store.paid(inside, row.id, answer.txHash, now)) || row.owed) return
      const call = { ...callOf(row, row.durationMs, now), cost: row.amount, failure: null, fault: null, kept: null }
      await calls.write(inside, [call])
    })
    return answer.txHash
  }

  /** Whether the chain was asked for the money of a call that is paid first: else nothing has left, and nothing will. */
  async function wasAsked({ request, network }: ToolPayment): Promise<boolean> {
    const { authorization } = readRequest(request)
    if (authorization === null) return false
    try {
      await facilitator.find(network, authorization.from, authorization.nonce)
      return true
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return false
      throw error
    }
  }

  const statusUrl = ({ id, slug }: ToolPayment): string => `${address}/pay/${slug}/calls/${id}`

  return {
    settle,
    statusUrl,

    /** Calls that nobody waits for any more: answered ones are paid for, the others never will be. */
    async sweep(now: Date): Promise<void> {
      const open = await store.takeOpen(now, new Date(now.getTime() + timeoutMs), AT_ONCE)
      await Promise.all(
        open.map(async (row) => {
          try {
            if (row.output === null && !(row.owed && (await wasAsked(row)))) await store.failed(row.id, 'interrupted')
            else await settle(row, 0)
          } catch (error) {
            if (error instanceof DomainError) return
            log.error({ callId: row.id, err: error }, 'the payment of a call could not be carried on')
          } finally {
            // Its buyer may go on with it at once.
            if (row.owed) await store.leave(row.id, now)
          }
        }),
      )
      await store.forgetAnswers(new Date(now.getTime() - KEPT_MS))
    },
  }
}

export type PaySettling = ReturnType<typeof createPaySettling>

type SettlingParts = Pick<
  ToolPaymentParts,
  'store' | 'calls' | 'facilitator' | 'clock' | 'log' | 'checkpoint' | 'timeoutMs' | 'address' | 'tokens'
>

export function toPaid(row: ToolPayment, output: Output, txHash: string | null, token: string): PaidCall {
  const { id: callId, slug: tool, amount: cost, durationMs, network, payer } = row
  if (txHash === null) throw new Error('a paid call has no transaction')
  const sold = { callId, tool, output: output.value, outputKind: output.kind, cost, durationMs }
  return { ...sold, network, payer, txHash, token }
}

export function callOf(row: ToolPayment, durationMs: number, endedAt: Date) {
  const { id, environment, toolId, slug, provider } = row
  return { id, environment, userId: null, agentId: null, toolId, slug, provider, attempt: 1, durationMs, endedAt }
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
const AT_ONCE = 50
const KEPT_MS = 600_000
