import type { Tool } from './tool.ts'

/** A tool as it is found: all but its schemas and what is called. Every process has all of them at hand. */
export interface Entry extends Pick<
  Tool,
  | 'id'
  | 'slug'
  | 'ownerId'
  | 'provider'
  | 'name'
  | 'description'
  | 'category'
  | 'price'
  | 'deprecated'
  | 'status'
  | 'successor'
  | 'version'
> {
  /** Words that it is found by besides: the names of its inputs. */
  readonly terms: string
}
