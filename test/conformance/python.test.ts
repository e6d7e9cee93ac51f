import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { blocksOf } from '../client/blocks.ts'
import { referenceSamples } from '../client/reference.ts'
import { startSandbox, type Sandbox } from '../client/sandbox.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const PACKAGE = path.join(root, 'service/client/python')
/** Debian's, with its own httpx and mypy. */
const PYTHON = '/usr/bin/python3'

describe("the Python client, with Debian's Python", () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-python-'))
  const examples = [...blocksOf('python.md', 'py'), ...blocksOf('../README.md', 'py')].map((block, place) => {
    const file = path.join(folder, `example_${String(place)}.py`)
    writeFileSync(file, block)
    return file
  })
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(async () => {
    await sandbox.close()
    rmSync(folder, { recursive: true })
  })

  test('repeats, refuses, pages, streams and verifies, with the standard library and with httpx', async () => {
    const vectors = path.join(root, 'test/deliveries/vectors.json')
    const program = path.join(import.meta.dirname, 'python/client_test.py')
    const { stderr } = await run(PYTHON, [program, vectors], { env: { PYTHONPATH: PACKAGE } })
    expect(stderr).toMatch(/^Ran 1[1-9] tests in/m)
    expect(stderr).toMatch(/^OK$/m)
  })

  test('is typed: the package and its documentation pass mypy, strictly', async () => {
    const settings = ['--config-file', path.join(PACKAGE, 'pyproject.toml'), '--cache-dir', folder]
    const options = { cwd: folder, env: { ...process.env, MYPYPATH: PACKAGE } }
    const { stdout } = await run('/usr/bin/mypy', [...settings, path.join(PACKAGE, 'coinslot'), ...examples], options)
    expect(stdout).toMatch(/^Success/)
    // It has to find what is wrong, or its silence proves nothing.
    const wrong = path.join(folder, 'wrong.py')
    writeFileSync(wrong, 'from coinslot import Coinslot\nprint(Coinslot().payments.get("pay_1")["amuont"])\n')
    await expect(run('/usr/bin/mypy', [...settings, wrong], options)).rejects.toMatchObject({
      stdout: expect.stringContaining('has no key "amuont"'),
    })
  })

  test('runs as the reference prints it, and each of its samples is typed', async () => {
    const samples = await referenceSamples(sandbox.url)
    const files = samples.map(({ python }, place) => {
      const file = path.join(folder, `reference_${String(place)}.py`)
      writeFileSync(file, `${python}\n`)
      return file
    })
    const settings = ['--config-file', path.join(PACKAGE, 'pyproject.toml'), '--cache-dir', folder]
    const options = { cwd: folder, env: { ...process.env, MYPYPATH: PACKAGE }, maxBuffer: 10_000_000 }
    const { stdout } = await run('/usr/bin/mypy', [...settings, ...files], options)
    expect(stdout).toMatch(/^Success/)
    for (const [name, field] of [
      ['GET /v1/me', 'userId'],
      ['POST /v1/agents', 'agent'],
      ['GET /v1/payments', 'payments'],
    ] as const) {
      const file = files[samples.findIndex((one) => one.name === name)]
      expect((await script(file)).join('\n')).toContain(`'${field}': `)
    }
  })

  test('sells, runs and calls as docs/python.md prints it', async () => {
    expect(examples).toHaveLength(4)
    expect(await script(examples[0])).toEqual([
      expect.stringContaining('/p/chk_'),
      expect.stringMatching(/^pay_\w+ 0\.5 (paid|created|settling)$/),
    ])
    expect(await script(examples[1])).toEqual([
      expect.stringMatching(/^succeeded 0\.\d+$/),
      expect.stringMatching(/^[a-z0-9-]+$/),
      'dict',
    ])
  })

  test('sells as README.md prints it', async () => {
    expect(await script(examples[3])).toEqual([expect.stringMatching(/\/p\/chk_\w+$/)])
  })

  test('the version is the one of the other client', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'service/client/package.json'), 'utf8')) as {
      version: string
    }
    expect(readFileSync(path.join(PACKAGE, 'pyproject.toml'), 'utf8')).toContain(`version = "${version}"`)
    expect(readFileSync(path.join(PACKAGE, 'coinslot/__init__.py'), 'utf8')).toContain(`__version__ = "${version}"`)
  })

  async function script(file = ''): Promise<string[]> {
    const { stdout } = await run(PYTHON, [file], { env: { ...sandbox.environment, PYTHONPATH: PACKAGE } })
    return stdout.trim().split('\n')
  }
})
