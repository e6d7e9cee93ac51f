import { z } from 'zod'
import { invalid } from '../../kit/errors.ts'
import { amountQuery, word } from '../../kit/wire.ts'
import type { CallInput } from '../model/call.ts'
import { fieldTree } from '../rules/fields.ts'

const PAGES_MAX = 50
const PAGES = 20
const maxPages = z.coerce
  .number()
  .int()
  .min(1)
  .max(PAGES_MAX)
  .optional()
  .meta({ description: `With \`all\`: the most pages that are read and paid for; ${String(PAGES)} when absent` })

/** The most that a call may cost, in an address. */
export const bound = z.object({
  maxCost: amountQuery
    .optional()
    .meta({ description: 'The most that the call may cost, in USDC: a call that costs more is refused, for nothing' }),
})

/** How much of an answer is wanted, in an address. */
export const reading = z.object({
  fields: word(5_000).optional().meta({
    description: 'Only these fields of the output, with commas between: `items.id,items.title`',
  }),
  all: z.enum(['true', 'false']).optional().meta({
    description: 'Reads page after page of a tool with `paged`, each at the price of a call, into one output',
  }),
  maxPages,
})

/** The same among the arguments of a call over MCP. */
export const readingInput = {
  fields: z.array(word(200)).max(100).optional(),
  all: z.boolean().optional(),
  maxPages: z.int().min(1).max(PAGES_MAX).optional(),
}

export function toReading({ fields, all, maxPages }: Choice): Pick<CallInput, 'fields' | 'pagesMax'> {
  const paths = typeof fields === 'string' ? fields.split(',') : fields
  const isAll = all === true || all === 'true'
  if (maxPages !== undefined && !isAll) throw invalid({ maxPages: 'is for calls with `all`' })
  return { fields: paths === undefined ? null : fieldTree(paths), pagesMax: isAll ? (maxPages ?? PAGES) : null }
}

interface Choice {
  fields?: string | string[] | undefined
  all?: 'true' | 'false' | boolean | undefined
  maxPages?: number | undefined
}
