import { isObject } from '../../../shared/transport.ts'
import { approval } from '../../fields.ts'
import { inputFields, readInputs } from '../../inputs.ts'
import { spend, type Operation } from '../../step.ts'
import { tool, toolPath } from './fields.ts'

export const call: Operation = {
  option: {
    name: 'Call',
    value: 'call',
    description: 'Call a tool and pay for it, with free credits first',
    action: 'Call a tool',
  },
  fields: [
    tool,
    ...inputFields('tool', 'tool', 'mapToolInputs'),
    {
      displayName: 'Options',
      name: 'options',
      type: 'collection',
      placeholder: 'Add option',
      default: {},
      options: [approval],
    },
  ],
  async run(step) {
    const { approvalSeconds = 0 } = step.node.getNodeParameter('options', step.item, {}) as { approvalSeconds?: number }
    const { output, ...rest } = await spend(step, {
      surface: 'tools',
      path: toolPath(step),
      body: readInputs(step),
      approvalSeconds,
    })
    if (!isFile(output)) return [{ json: { ...rest, output } }]
    const binary = await step.node.helpers.prepareBinaryData(
      Buffer.from(output.base64, 'base64'),
      undefined,
      output.contentType,
    )
    return [{ json: rest, binary: { data: binary } }]
  },
}

/** How a tool's answer that is neither JSON nor text is written. */
function isFile(output: unknown): output is { contentType: string; base64: string } {
  return isObject(output) && typeof output['contentType'] === 'string' && typeof output['base64'] === 'string'
}
