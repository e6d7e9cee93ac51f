import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import ts from 'typescript'
import { parse } from 'yaml'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const own = path.join(import.meta.dirname, 'packages')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')

/** Each package with its folder; the files of each are listed in contents.json. */
const NPM = { 'n8n-nodes-coinslot': '.', coinslot: 'service/client', '@coinslot/paywall': 'service/paywall/middleware' }
/** Debian's, which has what the package is built with. */
const PYTHON = '/usr/bin/python3'

/** `UPDATE_PACKAGES=true npm run conformance -- packages` writes the lists anew: read what has changed. */
const CONTENTS = path.join(own, 'contents.json')
const UPDATES = process.env['UPDATE_PACKAGES'] === 'true'

describe('the published packages', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-packages-'))
  const packed = new Map<string, { file: string; files: string[] }>()
  const listed = JSON.parse(readFileSync(CONTENTS, 'utf8')) as Record<string, string[]>
  const found: Record<string, string[]> = {}

  beforeAll(async () => {
    for (const [name, at] of Object.entries(NPM)) {
      // As the release publishes it: .npmrc switches scripts off, and without its script a package has nothing built.
      const words = ['pack', '--ignore-scripts=false', '--json', '--pack-destination', folder]
      const { stdout } = await run('npm', words, { cwd: path.join(root, at), maxBuffer: 50_000_000 })
      const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [Packed]
      packed.set(name, { file: path.join(folder, filename), files: files.map((each) => each.path) })
    }
  }, 300_000)
  afterAll(() => {
    if (UPDATES) writeFileSync(CONTENTS, `${JSON.stringify(found, null, 2)}\n`)
    rmSync(folder, { recursive: true, force: true })
  })

  function expectListed(name: string, files: readonly string[]): void {
    // A part of a bundle has a hash of its content in its name.
    found[name] = files.map((file) => file.replace(/-[\w-]{8}\.js$/, '-*.js')).sort()
    if (!UPDATES) expect([name, found[name]]).toEqual([name, listed[name]])
  }

  test.each(Object.keys(NPM))('%s has exactly the listed files, its licence and a readme', (name) => {
    const { files } = packed.get(name)!
    expectListed(name, files)
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    const at = NPM[name as keyof typeof NPM]
    expect(read(path.join(at, 'LICENSE'))).toBe(read('LICENSE'))
  })

  test.each(['coinslot', '@coinslot/paywall'])('the types of %s are right for every way of resolving', async (name) => {
    const { stdout } = await run(process.execPath, [path.join(own, 'types.mjs'), packed.get(name)!.file], { cwd: own })
    // A module of today's kind: `require` loads it in every Node that it runs in, and TypeScript says so.
    expect(JSON.parse(stdout)).toEqual([{ kind: 'CJSResolvesToESM', resolutionKind: 'node16-cjs', entrypoint: '.' }])
  })

  test.each(['coinslot', '@coinslot/paywall'])('the types of %s import only its own files and dependencies', (name) => {
    const at = NPM[name as keyof typeof NPM]
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(read(path.join(at, 'package.json'))) as Manifest
    const installed = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
    const { file, files } = packed.get(name)!
    const declarations = files.filter((each) => each.endsWith('.d.ts'))
    const texts = filesOf(gunzipSync(readFileSync(file)), declarations)
    expect(texts.size).toBe(declarations.length)
    const strange: string[] = []
    for (const [each, text] of texts) {
      for (const { fileName: from } of ts.preProcessFile(text.toString()).importedFiles) {
        const target = path.posix.join(path.posix.dirname(each), from.replace(/(?:\.d)?\.[jt]s$/, '.d.ts'))
        const isThere = from.startsWith('.') ? texts.has(target) : isBuiltin(from) || installed.has(packageOf(from))
        if (!isThere) strange.push(`${each}: ${from}`)
      }
    }
    expect(strange).toEqual([])
  })

  test('the core of the client weighs at most 15 KB, and the whole package 100', () => {
    const { file } = packed.get('coinslot')!
    const modules = ['coinslot', 'errors', 'list', 'request', 'stream', 'webhooks'].map((each) => `dist/${each}.js`)
    const core = filesOf(gunzipSync(readFileSync(file)), modules)
    expect(core.size).toBe(modules.length)
    expect(gzipSync(Buffer.concat([...core.values()])).length).toBeLessThanOrEqual(15_000)
    expect(readFileSync(file).length).toBeLessThanOrEqual(100_000)
  })

  test('the wheel and the source of the Python client have exactly the listed files', async () => {
    const source = path.join(folder, 'python')
    const filter = (from: string): boolean => !/__pycache__|\.egg-info|[/\\](?:build|dist)$/.test(from)
    cpSync(path.join(root, 'service/client/python'), source, { recursive: true, filter })
    const program = `
import json, sys, tarfile, zipfile
from setuptools import build_meta
wheel = sys.argv[1] + '/' + build_meta.build_wheel(sys.argv[1])
source = sys.argv[1] + '/' + build_meta.build_sdist(sys.argv[1])
files = [m.name for m in tarfile.open(source).getmembers() if m.isfile()]
print('\\n' + json.dumps([zipfile.ZipFile(wheel).namelist(), files]))`
    const { stdout } = await run(PYTHON, ['-c', program, folder], { cwd: source, maxBuffer: 50_000_000 })
    const [wheel, sdist] = JSON.parse(stdout.trim().split('\n').at(-1)!) as [string[], string[]]
    expectListed('coinslot (wheel)', wheel)
    expectListed('coinslot (sdist)', sdist)
    expect(read('service/client/python/LICENSE')).toBe(read('LICENSE'))
  })

  test('all have one version and name the repository that provenance is checked against', () => {
    const { version, repository } = JSON.parse(read('package.json')) as Manifest
    for (const at of Object.values(NPM).slice(1)) {
      const manifest = JSON.parse(read(path.join(at, 'package.json'))) as Manifest
      expect(manifest).toMatchObject({ version, repository: { url: repository.url, directory: at } })
    }
    expect(read('service/client/python/pyproject.toml')).toContain(`version = "${version}"`)
  })

  test('the release publishes each fresh build with provenance and without a stored token', () => {
    const text = read('.github/workflows/release.yml')
    const { jobs } = parse(text) as { jobs: Record<string, Job> }
    expect(jobs['npm']!.strategy!.matrix['package']).toEqual(Object.values(NPM))
    for (const name of ['npm', 'python']) {
      expect(jobs[name]).toMatchObject({ needs: 'check', permissions: { 'id-token': 'write', contents: 'read' } })
    }
    const steps = jobs['npm']!.steps.map(({ run: command }) => command ?? '')
    expect(steps).toContain('npm publish --provenance --access public --ignore-scripts=false')
    const python = jobs['python']!.steps.map(({ uses }) => uses ?? '')
    expect(python).toContainEqual(expect.stringMatching(/^pypa\/gh-action-pypi-publish@/))
    expect(text).not.toMatch(/secrets\./)
  })
})

interface Packed {
  filename: string
  files: { path: string }[]
}

interface Manifest {
  version: string
  repository: { url: string }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

interface Job {
  strategy?: { matrix: Record<string, unknown> }
  steps: { run?: string; uses?: string }[]
}

/** `@scope/name/part` is of the package `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** These files of a tar archive: a header of 512 bytes each, then the content in blocks of as many. */
function filesOf(tar: Buffer, names: readonly string[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const name = tar.toString('utf8', at, tar.indexOf(0, at)).replace(/^package\//, '')
    const size = Number.parseInt(tar.toString('utf8', at + 124, at + 135), 8)
    if (names.includes(name)) files.set(name, tar.subarray(at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}
