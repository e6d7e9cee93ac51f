import { isObject } from '../../../shared/transport.ts'
import { read, type Operation } from '../../step.ts'
import { rda, rdaOf } from './fields.ts'

export const get: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'What an RDA does, takes and costs',
    action: 'Get an RDA',
  },
  fields: [rda],
  async run(step) {
    const { rda: found } = await read(step, { path: `/rda/${encodeURIComponent(rdaOf(step))}` })
    return [{ json: isObject(found) ? found : {} }]
  },
}
