import { isObject } from '../../../shared/transport.ts'
import { read, type Operation } from '../../step.ts'
import { tool, toolPath } from './fields.ts'

export const get: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'What a tool does, takes and costs',
    action: 'Get a tool',
  },
  fields: [tool],
  async run(step) {
    const body = await read(step, { surface: 'tools', path: toolPath(step) })
    return [{ json: isObject(body['tool']) ? body['tool'] : body }]
  },
}
