import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** A copy of the repository in which a test may break what it likes; the installed packages are shared. */
export interface CopiedTree {
  folder: string
  /** Adds text at the end of files, runs, and takes it out again. */
  planted<T>(text: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T>
  /** What a program of node_modules says against the tree; empty when it passes. */
  refusal(command: readonly string[]): Promise<string>
  remove(): Promise<void>
}

export async function copyTree(): Promise<CopiedTree> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coinslot-check-'))
  await cp(root, folder, { recursive: true, filter: (from) => !NOT_COPIED.has(path.basename(from)) })
  for (const modules of ['node_modules', 'service/node_modules']) {
    if (existsSync(path.join(root, modules)))
      await symlink(path.join(root, modules), path.join(folder, modules), 'junction')
  }
  return {
    folder,
    planted: (text, run) => planted(folder, text, run),
    refusal: (command) => refusal(folder, command),
    remove: () => rm(folder, { recursive: true }),
  }
}

const NOT_COPIED = new Set(['node_modules', '.git', 'dist', '.build', '.coinslot', 'coverage'])

async function planted<T>(folder: string, text: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  const before = new Map<string, string | undefined>()
  for (const [name, added] of Object.entries(text)) {
    const file = path.join(folder, name)
    const content = existsSync(file) ? await readFile(file, 'utf8') : undefined
    before.set(file, content)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, `${content ?? ''}${added}`)
  }
  try {
    return await run()
  } finally {
    for (const [file, content] of before) {
      if (content === undefined) await rm(file)
      else await writeFile(file, content)
    }
  }
}

function refusal(folder: string, [program = '', ...words]: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'node_modules', program), ...words],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } },
      (error, stdout, stderr) => {
        resolve(error === null ? '' : `${stdout}${stderr}` || error.message)
      },
    )
  })
}
