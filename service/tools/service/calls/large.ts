import type { Owner } from '../../../kit/owner.ts'
import { tooManyLarge } from '../../errors/call.ts'
import type { LargeBody, Output, Reached } from '../../model/call.ts'
import type { LargePlace } from '../../ports/calls.ts'
import { nameOfAnswer, outputOf } from '../../rules/answer.ts'
import { cutTo } from '../../rules/fields.ts'
import { createBulkheads } from './bulkheads.ts'
import type { CallDeps, Order } from './order.ts'

/** Answers that are too large to be sent: kept as files, whose links their callers get. */
export function createLargeAnswers({ files, answerBytesMax }: Pick<CallDeps, 'files' | 'answerBytesMax'>) {
  // Each is in memory until it is kept, so a process reads few of them at once, and an account half of those.
  const places = createBulkheads(AT_ONCE)

  async function keep({ owner, tool, callId }: AnsweredCall, { contentType, body }: LargeBody): Promise<Output> {
    const name = nameOfAnswer(tool.slug, callId, contentType)
    const { url, until } = await files.keepAnswer(owner, { name, mediaType: contentType, body })
    return { kind: 'file', value: { url, name, contentType, bytes: body.length, expiresAt: until.toISOString() } }
  }

  return {
    place({ userId }: Owner): LargePlace & { leave(): void } {
      let leave: (() => void) | null = null
      return {
        take() {
          leave ??= places.enter('large answers', userId)
          if (leave === null) throw tooManyLarge()
        },
        leave: () => leave?.(),
      }
    },

    /** The answer with the fields that are wanted, where it is small enough to be sent; otherwise its link. */
    async send(order: AnsweredCall, reached: Reached): Promise<Output> {
      const { fields = null } = order.call
      if (reached.kind !== 'large') return fields === null ? reached : withFields(fields, reached)
      if (fields === null) return await keep(order, reached.value)
      const { contentType, body } = reached.value
      const whole = outputOf({ status: 200, contentType, body }, order.tool.output !== null)
      if (whole.kind !== 'json') return await keep(order, reached.value)
      const cut = withFields(fields, whole)
      const text = Buffer.from(JSON.stringify(cut.value))
      return text.length <= answerBytesMax ? cut : await keep(order, { contentType: 'application/json', body: text })
    },
  }
}

/** What the answer belongs to. */
interface AnsweredCall extends Pick<Order, 'owner' | 'tool' | 'callId'> {
  call: Pick<Order['call'], 'fields'>
}

export type LargeAnswers = ReturnType<typeof createLargeAnswers>

export function withFields(fields: NonNullable<Order['call']['fields']>, output: Output): Output {
  return output.kind === 'json' ? { ...output, value: cutTo(fields, output.value) } : output
}

const AT_ONCE = 4
