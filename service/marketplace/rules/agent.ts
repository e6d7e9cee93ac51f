import { textOf } from './template.ts'

/** An agent's answer about a run. */
export type Reply =
  | { status: 'completed'; output: string }
  | { status: 'pending'; jobId: string | null }
  | { status: 'failed'; error: string | null }

/** The gateway before the agent speaks, not the agent: asking again is safe, under the same run id. */
export function isTrouble(status: number): boolean {
  return status === 502 || status === 503 || status === 504
}

/** The reply, or a sentence that says why it is none. */
export function readReply(status: number, body: string): Reply | string {
  if (status < 200 || status > 299) return `The agent answered with the status ${String(status)}.`
  const reply = parse(body)
  if (typeof reply !== 'object' || reply === null) return 'The agent did not answer with a JSON object.'
  const { status: word, output, job_id: jobId } = reply as Record<string, unknown>
  switch (word) {
    case 'completed':
      return output === undefined || output === null
        ? 'The agent completed the run without an output.'
        : { status: 'completed', output: textOf(output) }
    case 'pending':
      if (typeof jobId === 'string' || typeof jobId === 'number') return { status: 'pending', jobId: String(jobId) }
      return { status: 'pending', jobId: null }
    case 'failed':
      return { status: 'failed', error: errorOf(reply as Record<string, unknown>) }
    default:
      return 'The agent answered with a status other than completed, pending or failed.'
  }
}

/** `{job_id}` and `{run_id}` in the address are filled in; where neither is, both are added to its query. */
export function pollAddress(pollUrl: string, runId: string, jobId: string | null): string {
  if (/%7B|\{/i.test(pollUrl)) {
    return pollUrl
      .replaceAll(/(?:\{|%7B)job_id(?:\}|%7D)/gi, encodeURIComponent(jobId ?? ''))
      .replaceAll(/(?:\{|%7B)run_id(?:\}|%7D)/gi, encodeURIComponent(runId))
  }
  const url = new URL(pollUrl)
  url.searchParams.set('run_id', runId)
  if (jobId !== null) url.searchParams.set('job_id', jobId)
  return url.href
}

/** The agent's own message: a text, or an object with a message. */
function errorOf({ error }: Record<string, unknown>): string | null {
  if (typeof error === 'string') return error
  const { message } = (error ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : null
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
