import { z } from 'zod'
import { LANGUAGES } from '../../kit/language.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { positiveAmount } from '../../kit/wire.ts'
import { QUANTITY_MAX } from '../rules/price.ts'

/*
 * What buyers send, wherever they buy.
 */

export const quantity = z.int().min(1).max(QUANTITY_MAX)

/** In any case, and with spaces around it, as people copy codes. What cannot be a code is an unknown one. */
export const codeBody = z
  .string()
  .max(100)
  .transform((text) => text.trim().toUpperCase())

export const planId = z.string().max(40)

/** What a buyer chooses besides the input. */
export const choiceBody = z
  .strictObject({
    quantity: quantity.optional().meta({ description: 'With `quantity`: how many; the least when absent' }),
    amount: positiveAmount.optional().meta({ description: 'With `choose`: what you pay; the suggestion when absent' }),
    coupon: codeBody.optional().meta({ description: 'A code for a discount' }),
    plan: planId.optional().meta({ description: 'The id of the plan to buy; a single run without it' }),
  })
  .meta({ id: 'CheckoutChoice', description: 'What you choose besides the input' })

export const inputBody = z.custom<Raw>(isRecord, 'must be an object').meta({
  override: { type: 'object', description: "Values of the checkout's fields, by name" },
})

/** Where the receipt goes. */
export const receiptBody = {
  email: z.email('must be an e-mail address').max(254).optional().meta({
    description: 'Where the receipt is mailed to, once it is paid',
  }),
  language: z.enum(LANGUAGES).optional().meta({ description: 'The language of the mails; defaults to `en`' }),
}
