import { isObject } from '../../../shared/transport.ts'
import { runId } from '../../fields.ts'
import { spend, type Operation } from '../../step.ts'
import { runPath } from './run.ts'

export const cancel: Operation = {
  option: {
    name: 'Cancel',
    value: 'cancel',
    description: 'Cancel a run at no cost, until its request was sent to the asset; after that it goes on',
    action: 'Cancel a run',
  },
  fields: [runId],
  async run(step) {
    const { run, canceled, message } = await spend(step, { path: `${runPath(step)}/cancel` })
    return [{ json: { ...(isObject(run) ? run : {}), canceled, message } }]
  },
}
