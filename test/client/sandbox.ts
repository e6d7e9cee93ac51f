import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '../harness/database.ts'
import { freePort } from '../harness/ports.ts'
import { ServiceProcess } from '../harness/process.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The sandbox as `npm start` runs it, and the package as it is published, installed in a project of its own. */
export interface Sandbox {
  url: string
  key: string
  /** The project that has the package. */
  project: string
  environment: Record<string, string>
  /** Ends the service at once, and starts it again on the same database. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function startSandbox(): Promise<Sandbox> {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-client-'))
  const database = await testDatabase()
  const port = String(await freePort())
  const key = `csk_test_${'k'.repeat(43)}`
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: path.join(folder, 'data'),
    PORT: port,
    DEMO_API_KEY: key,
    RATE_API_PER_MINUTE: '0',
  }
  const url = `http://localhost:${port}`
  const start = async (): Promise<ServiceProcess> => {
    const service = new ServiceProcess(settings)
    await service.waitFor(/Coinslot is ready|http:\/\/localhost:\d+/)
    while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await new Promise(setImmediate)
    return service
  }
  const [started, project] = await Promise.all([start(), installed(folder)])
  let service = started
  const environment = {
    PATH: `${path.join(project, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    COINSLOT_KEY: key,
    COINSLOT_URL: url,
  }
  return {
    url,
    key,
    project,
    environment,
    async restart() {
      service.kill('SIGKILL')
      await service.ended()
      service = await start()
    },
    async close() {
      service.kill('SIGKILL')
      await service.ended()
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A project with the package in it, as it is published. npm installs it once; each test has a copy of the project. */
export async function installed(folder: string): Promise<string> {
  const project = path.join(folder, 'project')
  const file = await packed(folder)
  const first = file.replace(/[.]tgz$/, '')
  if (!existsSync(first)) {
    const install = ['install', '--prefix', project, '--no-audit', '--no-fund', '--offline']
    await run('npm', [...install, file], { cwd: folder })
    const partial = `${first}.${String(process.pid)}`
    cpSync(project, partial, { recursive: true, verbatimSymlinks: true })
    await rename(partial, first).catch(() => {
      // Another test was faster.
      rmSync(partial, { recursive: true })
    })
    return project
  }
  cpSync(first, project, { recursive: true, verbatimSymlinks: true })
  return project
}

/** The package of the client as it is now, which is made once for all tests that install it. */
async function packed(folder: string): Promise<string> {
  const client = path.join(root, 'service/client')
  const hash = createHash('sha256')
  for (const name of readdirSync(client, { recursive: true, encoding: 'utf8' }).sort()) {
    if (/^(dist|node_modules|python)\b/.test(name) || !statSync(path.join(client, name)).isFile()) continue
    hash.update(`${name}\n`).update(readFileSync(path.join(client, name)))
  }
  const file = path.join(root, '.build/client', `${hash.digest('hex')}.tgz`)
  if (existsSync(file)) return file
  // A build of its own: other tests build at the same time.
  const built = path.join(folder, 'package')
  mkdirSync(built)
  copyFileSync(path.join(client, 'package.json'), path.join(built, 'package.json'))
  await run(process.execPath, [path.join(client, 'build.mjs'), path.join(built, 'dist')])
  const pack = ['pack', built, '--pack-destination', folder, '--json', '--ignore-scripts']
  const { stdout } = await run('npm', pack, { cwd: folder })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  mkdirSync(path.dirname(file), { recursive: true })
  copyFileSync(path.join(folder, filename), `${file}.${String(process.pid)}`)
  renameSync(`${file}.${String(process.pid)}`, file)
  return file
}
