import { invalid } from '../../kit/errors.ts'
import type { After, Checkout, Payment, Terms } from '../model.ts'
import type { CheckoutView, PaymentView } from '../views.ts'

/** Whether a payment starts a delivery to a workflow. */
export function callsWorkflow({ after }: { after: After }): boolean {
  return after.kind === 'webhook'
}

/** A text, a link and a file are there already: nothing runs that could succeed or fail. */
export function assertAfter({ after, callbackUrl, capture, source, ...terms }: Terms): void {
  if (after.kind === 'webhook') {
    if (callbackUrl === null) throw invalid({ callbackUrl: 'is required' })
    return
  }
  const why = `with after.kind ${after.kind}: no workflow is called`
  if (source !== null) throw invalid({ after: 'must be webhook for a checkout that belongs to a node in n8n' })
  if (callbackUrl !== null) throw invalid({ callbackUrl: `must be absent ${why}` })
  if (capture !== 'onPayment') throw invalid({ capture: `must be onPayment ${why}` })
  if (terms.refundOnFailure) throw invalid({ refundOnFailure: `must be false ${why}` })
  if (terms.preflight) throw invalid({ preflight: `must be false ${why}` })
  if (terms.responseMode !== 'immediately') throw invalid({ responseMode: `must be immediately ${why}` })
}

/** For the buyer and the owner, once it is paid. `fileUrl`: with the buyer's token; null for the owner. */
export function resultOf(
  { state }: Pick<Payment, 'state'>,
  { after }: Pick<Checkout, 'after'>,
  fileUrl: string | null,
): PaymentView['result'] {
  if (state !== 'paid') return null
  switch (after.kind) {
    case 'webhook':
      return null
    case 'file': {
      const { name, mediaType, bytes } = after
      return { kind: 'file', name, mediaType, bytes, url: fileUrl }
    }
    case 'text':
    case 'link':
      return after
  }
}

/** What everyone may know before the payment. */
export function promiseOf({ after }: Pick<Checkout, 'after'>): CheckoutView['checkout']['after'] {
  const file = after.kind === 'file' ? { name: after.name, bytes: after.bytes } : null
  return { kind: after.kind, file }
}

/** The files that a checkout shows or hands out today. */
export function filesOf({ after, picture }: Pick<Terms, 'after' | 'picture'>): string[] {
  return [...(after.kind === 'file' ? [after.fileId] : []), ...(picture === null ? [] : [picture.fileId])]
}
