import { z } from 'zod'
import { faultOfShape } from '../rules/shape.ts'

/** A tool's input before it is checked against the tool's schema. The API can handle it like any other body. */
export const toolInput = z.unknown().transform((value, context) => {
  for (const [field, message] of Object.entries(faultOfShape(value) ?? {})) {
    context.addIssue({ code: 'custom', path: field === 'body' ? [] : [field], message })
  }
  return value ?? {}
})
