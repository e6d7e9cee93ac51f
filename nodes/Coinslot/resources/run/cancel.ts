import { isObject } from '../../../shared/transport.ts'
import { runId } from '../../fields.ts'
import { spend, type Operation } from '../../step.ts'
import { runPath } from './run.ts'

export const cancel: Operation = {
  option: {
    name: 'Cancel',
    value: 'cancel',
    description: 'Stop a run that is under way; it costs nothing then',
    action: 'Cancel a run',
  },
  fields: [runId],
  async run(step) {
    const { run } = await spend(step, { path: `${runPath(step)}/cancel` })
    return [{ json: isObject(run) ? run : {} }]
  },
}
