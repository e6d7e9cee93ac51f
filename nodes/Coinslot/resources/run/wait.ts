import { NodeOperationError, sleepWithAbort, type IDataObject } from 'n8n-workflow'
import { runId } from '../../fields.ts'
import type { Operation } from '../../step.ts'
import { text } from '../../words.ts'
import { readRun } from './run.ts'

export const wait: Operation = {
  option: {
    name: 'Wait',
    value: 'wait',
    description: 'Wait until a run has ended, and fail if it did',
    action: 'Wait for a run',
  },
  fields: [
    runId,
    {
      displayName: 'Wait at Most (Seconds)',
      name: 'waitSeconds',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: 3600 },
      default: 300,
      description: 'A run that has not ended by then goes on by itself, and this step fails',
    },
  ],
  async run(step) {
    const { node, item } = step
    const waitMs = (node.getNodeParameter('waitSeconds', item, 300) as number) * 1_000
    for (let waitedMs = 0, pauseMs = PAUSE_MS; ; waitedMs += pauseMs, pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS_MAX)) {
      const run = await readRun(step)
      if (run['status'] === 'succeeded') return [{ json: run }]
      const sentence = waitedMs >= waitMs ? (endOf(run) ?? stillGoing(run)) : endOf(run)
      if (sentence !== undefined) throw new NodeOperationError(node.getNode(), sentence, { itemIndex: item })
      await sleepWithAbort(pauseMs, node.getExecutionCancelSignal())
    }
  },
}

function endOf({ status, error, id }: IDataObject): string | undefined {
  if (status === 'failed') return `The run failed, and cost nothing: ${text(error)} (${text(id)})`
  return status === 'canceled' ? `The run ${text(id)} was canceled, and cost nothing.` : undefined
}

function stillGoing({ status, id }: IDataObject): string {
  return `The run ${text(id)} is still ${text(status)}. It goes on by itself: wait longer, or ask for it later with Run: Get.`
}

const PAUSE_MS = 500
const PAUSE_MS_MAX = 5_000
