import { z } from 'zod'
import type { Context, Topic } from '../../service/queue/model.ts'

/** A topic whose announcements carry a number. */
export function numbers(
  handle: (n: number, context: Context) => unknown,
  rest: Partial<Pick<Topic, 'topic' | 'concurrency' | 'timeoutMs' | 'retryDelaysMs'>> = {},
): Topic {
  const topic: Topic<{ n: number }> = {
    topic: 'numbers',
    decode: z.object({ n: z.number() }),
    handle: async ({ n }, context) => {
      await handle(n, context)
    },
    concurrency: 50,
    turns: null,
    timeoutMs: 60_000,
    ...rest,
  }
  return topic
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place)
}

/** Handlers wait at it until the test opens it. */
export function door(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
