import type { PaymentAddressView } from '../../../payment-addresses/service/addresses.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { sentenceOf } from '../words/reasons.ts'
import { say } from '../words/say.ts'
import type { ApiResponse } from './api.ts'
import { onThisHost } from './Result.tsx'

export function addressesOf(url: string): string {
  return `${onThisHost(url)}/addresses`
}

export function orderLink(url: string, { id, token }: { id: string; token: string | null }): string {
  return `${onThisHost(url)}?${new URLSearchParams({ payment: id, token: token ?? '' }).toString()}`
}

export interface Proof {
  id: string
  token: string
}

/** At the end of the address: which order this is, and the token that shows whose it is. A server never sees it. */
export function hashOf({ id, token }: Proof): string {
  return `#transfer=${id}.${token}`
}

export function proofIn(hash: string): Proof | null {
  const [, id, token] = /^#transfer=(adr_[0-9a-z]{26})[.](tok_[A-Za-z0-9_-]{43})$/.exec(hash) ?? []
  return id === undefined || token === undefined ? null : { id, token }
}

export function addressIn(answer: ApiResponse | null): PaymentAddressView | null {
  if (answer === null || answer.status >= 300 || !isRecord(answer.body['address'])) return null
  return answer.body['address'] as unknown as PaymentAddressView
}

/** In the reader's language where the page knows the fault. */
export function faultOf(answer: ApiResponse | null): string {
  const { code = '', error, details } = answer?.body ?? {}
  if (code === 'nothing_to_return') return say('transfer.notYet')
  if (code === 'invalid_input' && isRecord(details)) {
    if ('to' in details) return say('transfer.wrongAddress')
    if ('choice.plan' in details || 'choice.coupon' in details) return say('transfer.walletOnly')
  }
  return sentenceOf({ code: String(code), sentence: typeof error === 'string' ? error : say('error.impossible') })
}
