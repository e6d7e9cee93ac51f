import { isRecord } from '../../../ui-kit/provider.ts'
import { ask as askService, type ApiResponse } from './api.ts'

export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

export interface Known {
  dispute: { state: string; answer: string | null; answerBy: string } | null
  reportUntil: string | null
  ifUnanswered: { days: number; outcome: string } | null
}

export async function ask(at: string, token: string, body?: object): Promise<ApiResponse | null> {
  return await askService(at, { body, headers: { 'x-payment-token': token } })
}

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
