import { Fault } from '../../api/fault.ts'

/** Said before anything is asked of the service. */
export function missing(field: string): Fault {
  return at(field, 'is required')
}

/** What is wrong with one field; beside it, it is of more use than above all of them. */
export function at(field: string, sentence: string): Fault {
  return new Fault(sentence, { status: 400, fields: { details: { [field]: sentence } } })
}
