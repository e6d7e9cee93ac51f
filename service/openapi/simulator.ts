import { isRecord } from '../kit/schema/merge.ts'
import { sample } from 'openapi-sampler'
import type { HttpUpstream, JsonSchema, Tool, UpstreamAnswer } from '../tools/model/tool.ts'

/**
 * Simulates an upstream server: answers an operation with an example built from its own schema. A field of the answer
 * takes the request's value if the name is the same and the type fits.
 */
export function simulate({ output }: Tool, { answer }: HttpUpstream, input: unknown): UpstreamAnswer {
  const { status, contentType } = answer
  if (contentType === null) return { status, contentType: null, body: Buffer.alloc(0) }
  if (/json/i.test(contentType)) {
    const example = output === null ? {} : sample(output, { quiet: true })
    return {
      status,
      contentType,
      body: Buffer.from(JSON.stringify(output === null ? {} : echoed(output, example, input))),
    }
  }
  if (/^text\//i.test(contentType)) return { status, contentType, body: Buffer.from('An example of the answer.\n') }
  return { status, contentType, body: EXAMPLE_BYTES }
}

/** The smallest content that programs accept as a file: an empty archive. */
const EXAMPLE_BYTES = Buffer.concat([Buffer.from([0x50, 0x4b, 0x05, 0x06]), Buffer.alloc(18)])

function echoed(schema: JsonSchema, example: unknown, input: unknown): unknown {
  if (!isRecord(example) || !isRecord(input) || !isRecord(schema['properties'])) return example
  const answer: Record<string, unknown> = { ...example }
  for (const [name, field] of Object.entries(schema['properties'])) {
    const given = Object.hasOwn(input, name) ? input[name] : undefined
    if (Object.hasOwn(answer, name) && isRecord(field) && takes(field, given)) answer[name] = given
  }
  return answer
}

/** Only if the type is the whole rule: a field with a format or a limit keeps its example. */
function takes(field: Readonly<Record<string, unknown>>, value: unknown): boolean {
  if (Object.keys(field).some((word) => !SAYS_NO_MORE.has(word))) return false
  const types = [field['type']].flat()
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value))
  return (typeof value === 'string' && value.length <= 2_000) || typeof value === 'boolean'
    ? types.includes(typeof value)
    : false
}

const SAYS_NO_MORE = new Set(['type', 'description', 'examples'])
