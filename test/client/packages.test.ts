import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { copyTree, type CopiedTree } from '../check/copied-tree.ts'
import { blocksOf } from './blocks.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')

/** As in a clone where nothing is built, with npm's settings of the clone. */
describe('the packages that `npm run pack` makes', () => {
  let clone: CopiedTree
  let empty: string
  let packed: string[]

  beforeAll(async () => {
    clone = await copyTree()
    empty = mkdtempSync(path.join(tmpdir(), 'coinslot-empty-'))
    rmSync(path.join(clone.folder, 'service/database/generated'), { recursive: true, force: true })
    const { stdout } = await run('npm', ['run', '--silent', 'pack'], { cwd: clone.folder, env: withoutSettings() })
    packed = stdout.trim().split('\n')
  }, 300_000)
  afterAll(async () => {
    rmSync(empty, { recursive: true, force: true })
    await clone.remove()
  })

  test('are the three that the pages name', () => {
    expect(packed.map((file) => path.relative(clone.folder, file))).toEqual([
      'n8n-nodes-coinslot-0.1.0.tgz',
      'coinslot-0.1.0.tgz',
      'coinslot-paywall-0.1.0.tgz',
    ])
  })

  test('the nodes load in n8n’s folder, installed as docs/n8n prints it', async () => {
    const [block = ''] = blocksOf('n8n/README.md', 'sh')
    // All but the first line, which is run above.
    const commands = block.split('\n').slice(1).join('\n')
    await shell(commands)
    const folder = path.join(empty, '.n8n/nodes')
    symlinkSync(path.join(root, 'node_modules/n8n-workflow'), path.join(folder, 'node_modules/n8n-workflow'))
    const installed = path.join(folder, 'node_modules/n8n-nodes-coinslot')
    const { n8n } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as Manifest
    for (const file of [...n8n.nodes, ...n8n.credentials]) {
      const name = path.basename(file).split('.')[0] ?? ''
      const script = `new (require(${JSON.stringify(path.join(installed, file))})[${JSON.stringify(name)}])()`
      await run(process.execPath, ['-e', script])
    }
    expect(existsSync(path.join(installed, 'dist/nodes/Coinslot/coinslot.svg'))).toBe(true)
  })

  test('the client and its command line run in an empty project, installed as docs/sdk.md prints it', async () => {
    const [block = ''] = blocksOf('sdk.md', 'sh')
    const [, install = ''] = block.split('\n')
    const project = folderOf('client')
    await shell(install, project)
    writeFileSync(path.join(project, 'a.mjs'), "import { Coinslot } from 'coinslot'\nconsole.log(typeof Coinslot)")
    expect((await shell('node a.mjs', project)).trim()).toBe('function')
    expect((await shell('npx coinslot --version', project)).trim()).toBe('0.1.0')
  })

  test('the middleware loads in an empty project', async () => {
    const project = folderOf('paywall')
    await shell('npm install --legacy-peer-deps /path/to/the/clone/coinslot-paywall-0.1.0.tgz', project)
    symlinkSync(path.join(root, 'node_modules/express'), path.join(project, 'node_modules/express'))
    writeFileSync(
      path.join(project, 'a.mjs'),
      "import { paywall } from '@coinslot/paywall'\nconsole.log(typeof paywall)",
    )
    expect((await shell('node a.mjs', project)).trim()).toBe('function')
  })

  function folderOf(name: string): string {
    const folder = path.join(empty, name)
    mkdirSync(folder)
    writeFileSync(path.join(folder, 'package.json'), '{"private": true}')
    return folder
  }

  /** In an empty home, with the clone where the reader has it, and without a network. */
  async function shell(commands: string, cwd = empty): Promise<string> {
    const text = commands.replaceAll('/path/to/the/clone', clone.folder)
    const env = { ...withoutSettings(), HOME: empty, npm_config_offline: 'true', npm_config_audit: 'false' }
    return (await run('sh', ['-euc', text], { cwd, env })).stdout
  }
})

interface Manifest {
  n8n: { nodes: string[]; credentials: string[] }
}

/** Without what `npm test` puts there, such as the settings of this clone. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS)/i.test(name)))
}
