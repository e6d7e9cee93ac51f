import { NodeOperationError, type IDataObject } from 'n8n-workflow'
import { approval } from '../../fields.ts'
import { inputFields, readInputs } from '../../inputs.ts'
import type { Step } from '../../item.ts'
import { spend, type Operation } from '../../step.ts'
import { text } from '../../words.ts'
import { model, rda, rdaOf } from './fields.ts'

export const run: Operation = {
  option: {
    name: 'Run',
    value: 'run',
    description: 'Run a prompt, an agent or a tool of the marketplace and pay for it',
    action: 'Run an RDA',
  },
  fields: [
    rda,
    ...inputFields('RDA', 'rda', 'mapRdaInputs'),
    model,
    {
      displayName: 'Options',
      name: 'options',
      type: 'collection',
      placeholder: 'Add option',
      default: {},
      options: [
        {
          displayName: 'Maximum Cost (USDC)',
          name: 'maxCost',
          type: 'number',
          typeOptions: { minValue: 0 },
          default: 1,
          description: 'A run that may cost more is refused before it starts',
        },
        {
          displayName: 'Parse Output as JSON',
          name: 'parseOutput',
          type: 'boolean',
          default: false,
          description: 'Whether to turn the output, which is always a text, into data',
        },
        approval,
        {
          displayName: 'Wait for the Result',
          name: 'wait',
          type: 'boolean',
          default: true,
          description:
            'Whether to wait until the run has ended, up to three minutes. Otherwise it gives a run ID at once, for Run: Wait.',
        },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const options = node.getNodeParameter('options', item, {}) as Options
    const modelId = node.getNodeParameter('model', item, '', { extractValue: true }) as string
    const body = await spend(step, {
      path: '/run',
      body: {
        rdaSlug: rdaOf(step),
        inputs: readInputs(step),
        ...(modelId !== '' && { modelId }),
        ...(options.maxCost !== undefined && { maxCost: options.maxCost }),
        ...(options.wait === false && { async: true }),
      },
      approvalSeconds: options.approvalSeconds ?? 0,
    })
    return [{ json: options.parseOutput === true ? { ...body, output: parsed(step, body) } : body }]
  },
}

interface Options {
  maxCost?: number
  parseOutput?: boolean
  approvalSeconds?: number
  wait?: boolean
}

function parsed({ node, item }: Step, { output, runId }: IDataObject): IDataObject {
  try {
    return JSON.parse(text(output)) as IDataObject
  } catch {
    throw new NodeOperationError(
      node.getNode(),
      `The run succeeded and is paid for, but its output is no JSON. Switch Parse Output as JSON off, and find the output with Run: Get and ${text(runId)}.`,
      { itemIndex: item },
    )
  }
}
