import type { McpCall } from './parts.ts'

/** Sends progress only when the request has a progress token. */
export function progressReporter(
  progressToken: string | number | undefined,
  send: (params: Progress) => Promise<void>,
): McpCall['onProgress'] {
  if (progressToken === undefined) return () => undefined
  let last = -1
  return ({ progress, total, message }) => {
    // Progress must grow, and the counter of a tool's own server may not.
    last = Math.max(progress, last + 1e-6)
    const optional = { ...(total === null ? {} : { total }), ...(message === null ? {} : { message }) }
    // The client may have disconnected. If that matters, the call's own result shows it.
    send({ progressToken, progress: last, ...optional }).catch(() => undefined)
  }
}

type Progress = { progressToken: string | number; progress: number; total?: number; message?: string }
