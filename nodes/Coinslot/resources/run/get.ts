import { runId } from '../../fields.ts'
import type { Operation } from '../../step.ts'
import { readRun } from './run.ts'

export const get: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'How far a run is, what it cost and what came out',
    action: 'Get a run',
  },
  fields: [runId],
  run: async (step) => [{ json: await readRun(step) }],
}
