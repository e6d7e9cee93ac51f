import type { Output, Pages } from '../../model/call.ts'
import { firstPage, joinedPages, pageRead } from '../../rules/paging.ts'
import type { LargeAnswers } from './large.ts'
import type { CallDeps, Order } from './order.ts'
import { ordinary, type Reach, type ReachInput } from './reach.ts'

/** The answer as it was asked for: all pages of it or one, all fields or some. */
export function createReading({ reach, large, timeoutMs, answerBytesMax, log }: ReadingDeps) {
  /**
   * One page after the other, until there are no more, or as many as may be paid for, or enough. What was read stays
   * read: a later page that fails ends the answer, and the caller learns where to go on.
   */
  async function readAll(ask: ReachInput, { pagesMax, paging }: NonNullable<Order['all']>): Promise<Output> {
    const { tool, callId, departure, onProgress } = ask
    const started = performance.now()
    let input = firstPage(paging, tool.input, ask.input)
    const first = ordinary(await reach.ask({ ...ask, input }))
    const all: Read = { at: null, items: [], read: 0, next: null }
    let [output, largest, bytes, before] = [first, 0, 0, '']
    for (;;) {
      const { value, link = null } = output
      const page = pageRead(paging, tool.input, input, { value, link, before: all.items.length, largest })
      const text = JSON.stringify(page?.items ?? null)
      // A server that does not know the input answers with the same page again, and again.
      const isNew = page !== null && page.items.length > 0 && text !== before
      all.next = isNew ? page.next : null
      if (page === null || (all.read > 0 && !isNew)) break
      all.read++
      all.at = page.at
      before = text
      bytes += text.length
      largest = Math.max(largest, page.items.length)
      for (const item of page.items) all.items.push(item)
      const isEnough = all.read >= pagesMax || bytes > answerBytesMax || performance.now() - started > timeoutMs
      if (all.next === null || isEnough) break
      onProgress({ progress: 2 - 1 / (all.read + 1), total: 3, message: `Read ${String(all.read)} pages` })
      try {
        output = ordinary(await reach.ask({ ...ask, input: all.next }))
      } catch (error) {
        if (departure.signal.aborted) throw error
        log.info({ callId, page: all.read + 1, err: error }, 'a later page of an answer could not be read')
        break
      }
      input = all.next
    }
    return joined(first, all)
  }

  return {
    async read(order: Order, ask: ReachInput): Promise<Output> {
      const { owner, all } = order
      if (all !== null) return await large.send(order, await readAll(ask, all))
      const place = large.place(owner)
      try {
        return await large.send(order, await reach.ask({ ...ask, large: place }))
      } finally {
        place.leave()
      }
    },
  }
}

export type Reading = ReturnType<typeof createReading>

type ReadingDeps = Pick<CallDeps, 'timeoutMs' | 'answerBytesMax' | 'log'> & { reach: Reach; large: LargeAnswers }

interface Read extends Pages {
  at: string | null
  items: unknown[]
  read: number
  next: Pages['next']
}

function joined(first: Output, { at, items, read, next }: Read): Output {
  if (read === 0 || first.kind !== 'json') return { ...first, pages: { read: 1, next: null } }
  return { ...first, value: joinedPages(first.value, at, items), pages: { read, next } }
}
