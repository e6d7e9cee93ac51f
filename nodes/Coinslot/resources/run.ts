import { sleepWithAbort, type IDataObject } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { runId } from '../fields.ts'
import { text } from '../failure.ts'
import { readText, refusal, type Step } from '../inputs.ts'
import { read, readNow, spend, type Operation } from '../request.ts'

export const getRun: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'Get the status, cost and output of a run',
    action: 'Get a run',
  },
  fields: [runId],
  run: async (step) => [{ json: await readRun(step) }],
}

export const waitForRun: Operation = {
  option: {
    name: 'Wait',
    value: 'wait',
    description: 'Wait until a run has ended; the step fails if the run failed',
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
      description: 'If the run has not ended by then, this step fails and the run continues',
    },
  ],
  async run(step) {
    const { node, item } = step
    const waitMs = (node.getNodeParameter('waitSeconds', item, 300) as number) * 1_000
    const untilMs = Date.now() + waitMs
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS_MAX)) {
      const leftMs = untilMs - Date.now()
      // The run continues while the service cannot answer.
      const run = leftMs > 0 ? await readRunNow(step) : await readRun(step)
      if (run['status'] === 'succeeded') return [{ json: run }]
      const sentence = endOf(run) ?? (leftMs > 0 ? undefined : stillGoing(run))
      if (sentence !== undefined) throw refusal(step, sentence)
      await sleepWithAbort(Math.max(0, Math.min(pauseMs, untilMs - Date.now())), node.getExecutionCancelSignal())
    }
  },
}

function endOf({ status, error, id }: IDataObject): string | undefined {
  if (status === 'failed') return `The run failed, and cost nothing: ${text(error)} (${text(id)})`
  return status === 'canceled' ? `The run ${text(id)} was canceled, and cost nothing.` : undefined
}

function stillGoing({ status, id }: IDataObject): string {
  return `The run ${text(id)} is still ${text(status)}. It continues in the background: wait longer, or get it later with Run: Get.`
}

const PAUSE_MS = 500
const PAUSE_MS_MAX = 5_000

export const cancelRun: Operation = {
  option: {
    name: 'Cancel',
    value: 'cancel',
    description: 'Cancel a run at no cost; once its request was sent to the marketplace asset, it cannot be canceled',
    action: 'Cancel a run',
  },
  fields: [runId],
  async run(step) {
    const { run, canceled, message } = await spend(step, { path: `${runPath(step)}/cancel` })
    return [{ json: { ...(isObject(run) ? run : {}), canceled, message } }]
  },
}

async function readRun(step: Step): Promise<IDataObject> {
  return runIn(await read(step, { path: runPath(step) }))
}

/** Without a status while the service cannot answer. */
async function readRunNow(step: Step): Promise<IDataObject> {
  return runIn((await readNow(step, { path: runPath(step) })) ?? {})
}

function runIn({ run }: IDataObject): IDataObject {
  return isObject(run) ? run : {}
}

/** The path of the run, relative to the API's address. */
function runPath(step: Step): string {
  const id = readText(step, 'runId')
  if (id === '') throw refusal(step, 'Run ID is empty. Enter the runId that Marketplace Asset: Run returns.')
  return `/runs/${encodeURIComponent(id)}`
}
