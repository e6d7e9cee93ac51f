import { isRecord } from '../../../ui-kit/provider.ts'

export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

export interface Known {
  dispute: { state: string; answer: string | null; answerBy: string } | null
  reportUntil: string | null
  ifUnanswered: { days: number; outcome: string } | null
}

export interface ReportResponse {
  status: number
  body: Record<string, unknown>
}

export async function ask(at: string, token: string, body?: object): Promise<ReportResponse | null> {
  const headers = { accept: 'application/json', 'x-payment-token': token }
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  try {
    const response = await fetch(at, { ...sent, cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const answer: unknown = await response.json()
    return { status: response.status, body: isRecord(answer) ? answer : {} }
  } catch {
    return null
  }
}

const TIMEOUT_MS = 20_000

export function knownIn(body: Record<string, unknown> | undefined): Known | null {
  const dispute = body?.['dispute']
  if (dispute === undefined) return null
  const until = body?.['reportUntil']
  const reportUntil = typeof until === 'string' ? until : null
  const unanswered = body?.['ifUnanswered']
  const ifUnanswered = isRecord(unanswered)
    ? { days: Number(unanswered['days']), outcome: String(unanswered['outcome']) }
    : null
  if (!isRecord(dispute)) return { dispute: null, reportUntil, ifUnanswered }
  const { state, answer, answerBy } = dispute
  return {
    dispute: {
      state: String(state),
      answer: typeof answer === 'string' ? answer : null,
      answerBy: String(answerBy),
    },
    reportUntil,
    ifUnanswered,
  }
}
