import path from 'node:path'
import { groupedFiles } from './files.mjs'

export async function runGroup(group: number): Promise<void> {
  for (const file of groupedFiles(group)) await import(path.join(import.meta.dirname, '..', file))
}
