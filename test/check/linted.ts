import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** All that oxlint reads beside the files themselves. */
const SURROUNDINGS = [
  ...['.oxlintrc.jsonc', 'oxlint.rules.mjs', 'package.json', 'tsconfig.base.json', 'tsconfig.json'],
  ...['service/package.json', 'service/tsconfig.json', 'service/dashboard/browser/tsconfig.json'],
  ...['test/package.json', 'test/tsconfig.json'],
]

/**
 * The rules that refuse each of these files, or what is wrong where it is no rule. All files at once, in a folder that
 * looks to oxlint like the repository; another configuration is one of its plugins and overrides alone.
 */
export async function linted(files: Readonly<Record<string, string>>, config?: object): Promise<Map<string, string[]>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coinslot-lint-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), `${text}\n`)
    }
    for (const name of SURROUNDINGS) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await copyFile(path.join(root, name), path.join(folder, name))
    }
    if (config !== undefined) await writeFile(path.join(folder, '.oxlintrc.jsonc'), JSON.stringify(config))
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
    const tops = [...new Set(Object.keys(files).map((name) => name.split('/')[0] ?? ''))]
    const { diagnostics } = JSON.parse(await oxlint(folder, tops)) as Output
    const refusals = new Map<string, string[]>()
    for (const { filename, code, message } of diagnostics) {
      refusals.set(filename, [...(refusals.get(filename) ?? []), code === undefined ? message : ruleOf(code)])
    }
    return refusals
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Output {
  diagnostics: readonly { filename: string; code?: string; message: string }[]
}

/** Only the folders with files of ours: without git it would read the packages too. */
function oxlint(folder: string, tops: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [path.join(root, 'node_modules/oxlint/bin/oxlint'), '--format', 'json', ...tops],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 2 ** 26 },
      (_, stdout, stderr) => {
        // It ends with 1 when it refuses anything.
        if (stdout.startsWith('{')) resolve(stdout)
        else reject(new Error(`${stdout}${stderr}`))
      },
    )
  })
}

/** `typescript(await-thenable)` is configured as `typescript/await-thenable`, and a rule of ESLint by its name alone. */
function ruleOf(code: string): string {
  return code.replace(/^(\w+)\((.+)\)$/, '$1/$2').replace(/^eslint\//, '')
}
