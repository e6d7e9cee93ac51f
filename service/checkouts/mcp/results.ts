import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpCall, McpTask } from '../../api/mcp/parts.ts'
import { answered, failed, plain } from '../../api/mcp/results.ts'
import { accountOf } from '../../kit/caller.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { CheckoutView, PaymentView } from '../views.ts'
import { whyUnpaid } from '../rules/capture.ts'
import { ANSWERED_MS } from '../rules/lifecycle.ts'
import type { Chosen } from '../service/product.ts'
import type { Patience, Purchased } from '../service/purchases.ts'

/** A call of a checkout's tool. */
export interface ToolRequest extends Chosen {
  checkout: CheckoutView['checkout']
  ask: McpAsk
  sent: McpCall
}

/** What the call buys. */
export function chosenIn({ input, choice, from }: ToolRequest): Chosen {
  return { input, choice, from }
}

/** A guest by the address, an account by itself. */
export function guesserOf({ guest, caller }: McpAsk): string {
  return guest ?? `account ${accountOf(caller).userId}`
}

/** A payment that was sent cannot be taken back. */
export const PAID = 'This call is paid for, so it is not canceled and not refunded. tasks/get returns its answer.'

export function taskOf({ sale, view, isDone }: Purchased, meta: Raw): McpTask {
  if (!isDone) return { status: 'working', isFinal: PAID }
  const refusal = sale.state === 'failed' ? whyUnpaid(sale) : null
  const result = refusal === null ? toResult(view, meta) : failed(refusal)
  return { status: 'completed', result, endedAt: sale.endedAt ?? sale.createdAt }
}

/** The token of a pass, which takes the place of a payment. */
export function passIn({ _meta: meta }: McpCall['params']): string | null {
  const pass = meta?.[PASS_META]
  return typeof pass === 'string' ? pass : null
}

/** What is left of the pass that a call has used. */
export function passMeta({ payment }: PaymentView): Raw {
  const { runsLeft = null, until = null } = payment.pass ?? {}
  return { [PASS_META]: { runsLeft, until } }
}

const PASS_META = 'coinslot/pass'

/** The workflow's answer itself where there is one, otherwise the payment and its delivery. */
export function toResult(view: PaymentView, meta: Raw): CallToolResult {
  if (view.result !== null) return ofResult(view, view.result, meta)
  const answer = view.delivery?.answer ?? null
  if (answer === null) return plain({ ...view }, meta)
  return answered(answer, meta)
}

/** A text and a link as they are; a file as a link with the buyer's token, which clients fetch themselves. */
function ofResult(view: PaymentView, result: NonNullable<PaymentView['result']>, meta: Raw): CallToolResult {
  switch (result.kind) {
    case 'text':
      return answered(result.text, meta)
    case 'link':
      return { ...plain({ ...view }, meta), content: [{ type: 'text', text: result.url }] }
    case 'file': {
      const { name, mediaType: mimeType, bytes: size, url: uri } = result
      const whole = plain({ ...view }, meta)
      return uri === null ? whole : { ...whole, content: [{ type: 'resource_link', uri, name, mimeType, size }] }
    }
  }
}

/** A client that hears of the progress, or that has a task meanwhile. Others give up after half a minute. */
export function waitsLong({ ask, sent }: ToolRequest): boolean {
  return sent.hearsProgress || ask.resumable
}

/** How long the call waits, and what its client hears meanwhile. */
export function patienceOf(request: ToolRequest, isLong = waitsLong(request)): Patience {
  const { signal: gone, onProgress } = request.sent
  let last = ''
  let next = 0
  return {
    ...(isLong ? { ms: ANSWERED_MS } : {}),
    gone,
    onStep(view, ageMs) {
      const stage = stageOf(view)
      if (stage === last && ageMs < next) return
      const seconds = Math.floor(ageMs / 1_000)
      const message = stage === last ? `${stage} Waiting for ${String(seconds)} s.` : stage
      last = stage
      next = ageMs + PROGRESS_EVERY_MS
      onProgress({ progress: seconds, total: null, message })
    },
  }
}

const PROGRESS_EVERY_MS = 5_000

function stageOf(view: PaymentView | null): string {
  if (view === null) return 'Waiting for the payment.'
  if (view.payment.status === 'created' && view.payment.deadline !== null) return 'The workflow is running.'
  if (view.payment.status !== 'paid') return 'The payment is being settled.'
  const { status, attempts } = view.delivery ?? { status: 'pending', attempts: 0 }
  if (status !== 'pending') return 'Paid. The workflow has started.'
  return attempts === 0
    ? 'Paid. The workflow is called.'
    : 'Paid. The workflow did not accept the call; it is repeated.'
}

export const checkoutOf = ({ query }: McpAsk): string => query['chk'] ?? ''
