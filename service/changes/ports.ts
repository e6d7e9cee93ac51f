import type { Owner } from '../kit/owner.ts'
import type { Marks } from './model.ts'

export interface ChangeStore {
  /** Of each account its marks, in the order asked for. */
  marks(owners: readonly Owner[]): Promise<readonly Marks[]>
}
