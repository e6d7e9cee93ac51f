import path from 'node:path'
import { groupedFiles } from './files.mjs'

/** Each title begins with its file, so that a failure of a group names the file to run again. */
export async function runGroup(group: number): Promise<void> {
  for (const file of groupedFiles(group)) {
    prefixTitles(`test/${file} › `)
    await import(path.join(import.meta.dirname, '..', file))
  }
}

const { describe: plainDescribe, it: plainIt, test: plainTest } = globalThis

/** Only titles outside of every `describe` are prefixed: it runs its own part at once, while the prefix is off. */
function prefixTitles(prefix: string): void {
  const prefixed = (begin: (...words: unknown[]) => unknown) => {
    const begun = (title: string, ...rest: unknown[]): unknown => {
      restoreTitles()
      try {
        return begin(prefix + title, ...rest)
      } finally {
        prefixTitles(prefix)
      }
    }
    return begun
  }
  type Any = (...words: unknown[]) => unknown
  const withEach = (plain: { each: unknown }) =>
    Object.assign(prefixed(plain as unknown as Any), {
      each:
        (...table: unknown[]) =>
        (title: string, ...rest: unknown[]): unknown =>
          prefixed((plain.each as (...table: unknown[]) => Any)(...table))(title, ...rest),
    })
  Object.assign(globalThis, { describe: withEach(plainDescribe), it: withEach(plainIt), test: withEach(plainTest) })
}

function restoreTitles(): void {
  Object.assign(globalThis, { describe: plainDescribe, it: plainIt, test: plainTest })
}
