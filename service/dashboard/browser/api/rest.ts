import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { settings } from '../settings.ts'
import { refresh } from './ask.ts'
import { environment } from './environment.ts'
import { fromAnswer, silence, type Fault } from './fault.ts'
import { sessionEnded } from './session.ts'

/**
 * An act that moves money goes over the API, for its Idempotency-Key: whoever got no answer sends the very same
 * again, and it is done once. What was answered, with a yes or a no, is over; the next one is another act.
 */
export function useOnce<Body, Answer>(path: string, changes: readonly string[]) {
  const kept = useQueryClient()
  const under = useRef({ body: '', key: '' })
  return useMutation<Answer, Fault, Body>({
    mutationFn: async (wanted) => {
      const body = JSON.stringify(wanted)
      if (under.current.body !== body) under.current = { body, key: crypto.randomUUID() }
      const answer = await post(path, body, under.current.key)
      under.current = { body: '', key: '' }
      return answer as Answer
    },
    onError: (fault) => {
      if (!fault.isSilence && fault.status !== null && fault.status < 500) under.current = { body: '', key: '' }
    },
    onSettled: () => refresh(kept, changes),
  })
}

/** False where the API is on another host, which this page may not call. */
export const hasApi = settings.apiPath !== null

async function post(path: string, body: string, key: string): Promise<unknown> {
  const response = await fetch(`${settings.apiPath ?? ''}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'coinslot-environment': environment(),
      'idempotency-key': key,
    },
    body,
  }).catch(() => {
    throw silence()
  })
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const fault = fromAnswer(response.status, answer)
  if (fault.isSessionOver) sessionEnded()
  throw fault
}
