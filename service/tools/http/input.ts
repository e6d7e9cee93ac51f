import { z } from 'zod'
import { faultOfShape } from '../rules/shape.ts'

/** A tool's input before anybody looks at what the tool takes: whatever the edge does with a body, it can do with this. */
export const toolInput = z.unknown().transform((value, context) => {
  for (const [field, message] of Object.entries(faultOfShape(value) ?? {})) {
    context.addIssue({ code: 'custom', path: field === 'body' ? [] : [field], message })
  }
  return value ?? {}
})
