import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { startSandbox, type Sandbox } from './sandbox.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

function blocksOf(file: string, language: string): string[] {
  const text = readFileSync(path.join(root, 'docs', file), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block ?? '')
}

describe('the published client', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(() => sandbox.close())

  test('is built without tests, sources and dependencies, and its core weighs at most 15 KB', async () => {
    const installed = path.join(sandbox.project, 'node_modules/coinslot')
    const { stdout } = await run('find', [installed, '-type', 'f', '-printf', '%P\n'])
    const modules = ['coinslot', 'errors', 'list', 'request', 'stream', 'webhooks']
    const commands = ['commands', 'listen', 'main', 'settings', 'terminal'].map((name) => `cli/${name}`)
    const files = [...modules, ...commands].flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
    expect(stdout.trim().split('\n').sort()).toEqual(['dist/api.d.ts', 'dist/api.js', 'package.json', ...files].sort())
    const described = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'))
    expect([described.dependencies, described.peerDependencies]).toEqual([undefined, undefined])
    const core = modules.map((name) => readFileSync(path.join(installed, `dist/${name}.js`)))
    expect(gzipSync(Buffer.concat(core)).length).toBeLessThan(15_000)
    for (const each of core) expect(each.toString()).not.toMatch(/from 'node:|\bBuffer\b|\bprocess\b/)
  })

  test('type-checks, as documented, under every way of resolving modules', async () => {
    const files = blocksOf('sdk.md', 'ts').map((block, place) => {
      const file = path.join(sandbox.project, `example-${String(place)}.mts`)
      writeFileSync(file, block)
      return file
    })
    symlinkSync(path.join(root, 'node_modules/@types'), path.join(sandbox.project, 'node_modules/@types'))
    symlinkSync(path.join(root, 'node_modules/undici-types'), path.join(sandbox.project, 'node_modules/undici-types'))
    expect(files).toHaveLength(3)
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', 'node']
    for (const way of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      const checked = await run(process.execPath, [tsc, ...options, ...way, ...files], { cwd: sandbox.project }).then(
        () => '',
        (error: unknown) => (error as { stdout: string }).stdout,
      )
      expect([way, checked]).toEqual([way, ''])
    }
  })

  test('sells, runs and calls as docs/sdk.md prints it', async () => {
    const [first, second] = blocksOf('sdk.md', 'ts')
    expect((await script(first)).split('\n')).toEqual([
      expect.stringContaining('/p/chk_'),
      expect.stringMatching(/^pay_\w+ 5 (paid|created|settling)$/),
    ])
    expect((await script(second)).split('\n')).toEqual([
      expect.stringMatching(/^succeeded 0\.\d+$/),
      expect.stringMatching(/^[a-z0-9-]+$/),
      'object',
    ])
  })

  async function script(block: string | undefined): Promise<string> {
    const file = path.join(sandbox.project, 'script.mjs')
    writeFileSync(file, block ?? '')
    const { stdout } = await run(process.execPath, [file], { cwd: sandbox.project, env: sandbox.environment })
    return stdout.trim()
  }

  test('does the same on the command line as docs/cli.md prints it', async () => {
    const [commands] = blocksOf('cli.md', 'sh')
    const { stdout } = await run('sh', ['-euc', commands ?? ''], { env: sandbox.environment })
    const lines = stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^Signed in as usr_\w+ \(sandbox\)\.$/)
    expect(lines[1]).toMatch(/^chk_\w+ {2}http.*\/p\/chk_/)
    expect(lines[2]).toMatch(/^chk_\w+ .* 5 {2}SEO audit$/)
    expect(stdout).toMatch(/^github-issues-create {2}/m)
    expect(JSON.parse(lines.at(-1)!)).toEqual(expect.any(Object))
  })

  test('ends with the documented exit codes', async () => {
    const codeOf = (words: string[], more: Record<string, string> = {}) =>
      run('coinslot', words, { env: { ...sandbox.environment, ...more } }).then(
        () => 0,
        (error: unknown) => (error as { code: number }).code,
      )
    expect(await codeOf(['help'])).toBe(0)
    expect(await codeOf(['tools', 'call', 'no-such-tool'])).toBe(1)
    expect(await codeOf(['pay', 'https://example.com'])).toBe(2)
    expect(await codeOf(['checkouts', 'list'], { COINSLOT_KEY: `csk_test_${'x'.repeat(43)}` })).toBe(3)
    expect(await codeOf(['run', 'blog-outline', 'topic=x', 'audience=practitioners', '--max-cost', '0'])).toBe(4)
  })
})
