import type { IExecuteFunctions } from 'n8n-workflow'

/** One operation on one item. */
export interface Step {
  node: IExecuteFunctions
  item: number
}
