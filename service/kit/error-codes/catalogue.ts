import { ACCOUNTS } from './accounts.ts'
import { PAYMENTS } from './payments.ts'
import { PAYMENT_REASONS } from './payment-reasons.ts'
import { REQUESTS } from './requests.ts'
import { CLIENTS, SERVERS } from './servers.ts'
import { SIGN_IN } from './sign-in.ts'
import { OUTBOUND, WORK } from './work.ts'

/** Why an error happens, and what to do about it. */
export interface ErrorHelp {
  cause: string
  cure: string
}

type Reason = keyof typeof PAYMENT_REASONS
type OutboundCode = keyof typeof OUTBOUND
type CreatorCode = `${'agent' | 'tool'}_${OutboundCode}`

/** All codes that an answer of the service may have. An error with another code does not compile. */
export type ErrorCode =
  | keyof typeof REQUESTS
  | keyof typeof PAYMENTS
  | keyof typeof ACCOUNTS
  | keyof typeof WORK
  | keyof typeof SERVERS
  | keyof typeof SIGN_IN
  | OutboundCode
  | CreatorCode
  | Reason

// Before the list, whose groups are made while this file loads.
const REASON_CURE =
  'Nothing was charged. Build and sign the payment from the terms of the latest 402 answer, with a client that is up to date.'

/** The catalogue that the pages at /errors are made from. */
export const ERROR_GROUPS: readonly { title: string; codes: ReadonlyMap<string, ErrorHelp> }[] = [
  { title: 'Requests and keys', codes: helpOf(REQUESTS) },
  { title: 'Signing in', codes: helpOf(SIGN_IN) },
  { title: 'Checkouts and payments', codes: helpOf(PAYMENTS) },
  { title: 'Balances, budgets, paywalls and webhooks', codes: helpOf(ACCOUNTS) },
  { title: 'Tools and runs', codes: helpOf(WORK) },
  {
    title: 'Calls to other servers',
    codes: new Map([...helpOf(OUTBOUND), ...ofCreators('agent'), ...ofCreators('tool')]),
  },
  { title: 'Reasons of refused payments', codes: ofReasons() },
  { title: 'Servers and chains', codes: helpOf(SERVERS) },
  { title: 'Found by the SDKs', codes: helpOf(CLIENTS) },
]

/** Null for a code that the service does not have. */
export function helpFor(code: string): ErrorHelp | null {
  for (const { codes } of ERROR_GROUPS) {
    const help = codes.get(code)
    if (help !== undefined) return help
  }
  return null
}

/** The page of the code, on the origin that answered. Null for a code that the service does not have. */
export function helpPath(code: string): string | null {
  return helpFor(code) === null ? null : `/errors/${code}`
}

/** Leads to the page of the code. In a header, because bodies of errors have the fields that their route lists. */
export function helpHeaders(code: string): Record<string, string> {
  const path = helpPath(code)
  return path === null ? {} : { Link: `<${path}>; rel="help"` }
}

/** The fault of a call to a creator's server. */
export function creatorCode(callee: 'agent' | 'tool', code: ErrorCode): ErrorCode {
  return isOutbound(code) ? `${callee}_${code}` : code
}

function isOutbound(code: string): code is OutboundCode {
  return Object.hasOwn(OUTBOUND, code)
}

function helpOf(codes: Readonly<Record<string, readonly [cause: string, cure: string]>>): Map<string, ErrorHelp> {
  return new Map(Object.entries(codes).map(([code, [cause, cure]]) => [code, { cause, cure }]))
}

function ofCreators(callee: 'agent' | 'tool'): Map<string, ErrorHelp> {
  const codes = [...helpOf(OUTBOUND)].map(([code, { cause, cure }]): [string, ErrorHelp] => [
    `${callee}_${code}`,
    {
      cause: `The call to the creator's ${callee} failed, and nothing was charged. ${cause}`,
      cure: `Callers: try again later. Creators: ${cure}`,
    },
  ])
  return new Map(codes)
}

/** These also stand in `reason` of a 402 answer, and in the facilitator's answers. */
function ofReasons(): Map<string, ErrorHelp> {
  const codes = Object.entries(PAYMENT_REASONS)
    .filter(([code]) => !Object.hasOwn(PAYMENTS, code))
    .map(([code, cause]): [string, ErrorHelp] => [code, { cause, cure: REASON_CURE }])
  return new Map(codes)
}
