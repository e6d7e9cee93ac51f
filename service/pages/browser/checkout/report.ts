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
  return body !== undefined && 'dispute' in body ? (body as unknown as Known) : null
}
