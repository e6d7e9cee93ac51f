import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { copyTree, type CopiedTree } from './copied-tree.ts'

const root = path.resolve(import.meta.dirname, '../..')

describe('the package that n8n installs', () => {
  let tree: CopiedTree
  beforeAll(async () => {
    tree = await copyTree()
  })
  afterAll(() => tree.remove())

  it('contains the built nodes and the licence, and nothing of the service', async () => {
    const built = { 'dist/nodes/A/A.node.js': '', 'dist/credentials/A.credentials.js': '', 'service/dist/main.js': '' }
    const files = await tree.planted(built, () => packed(tree.folder))
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'dist/nodes/A/A.node.js', 'dist/credentials/A.credentials.js']),
    )
    expect(files.filter((file) => !PUBLISHED.test(file))).toEqual([])
  })

  it('has no dependency and no install script', async () => {
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Manifest
    expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' })
    expect(manifest).not.toHaveProperty('dependencies')
    expect(manifest).not.toHaveProperty('overrides')
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([])
  })
})

const PUBLISHED = /^(dist\/(nodes|credentials)\/.+|package\.json|LICENSE|README\.md)$/

interface Manifest {
  peerDependencies: Readonly<Record<string, string>>
  scripts: Readonly<Record<string, string>>
}

async function packed(folder: string): Promise<string[]> {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = await promisify(execFile)('npm', words, { cwd: folder })
  const packages = JSON.parse(stdout) as { files: { path: string }[] }[]
  return packages.flatMap(({ files }) => files.map((file) => file.path))
}
