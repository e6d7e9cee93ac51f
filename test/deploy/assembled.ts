import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { startTestServer } from '../harness/server.ts'

/**
 * `npm run image`: runs the steps of deploy/Containerfile as plain commands into a folder of its own, and starts the
 * service from that folder alone: as an unprivileged user, without write access to the folder, and without a package
 * manager.
 */
const LIVES_UNDER = mkdtempSync(path.join(tmpdir(), 'coinslot-image-'))
const folder = path.join(LIVES_UNDER, 'srv')
const data = path.join(LIVES_UNDER, 'data')
// Removed at every exit: it is a third of a gigabyte.
process.on('exit', () => {
  execFileSync('chmod', ['-R', 'u+w', LIVES_UNDER])
  rmSync(LIVES_UNDER, { recursive: true, force: true })
})
const uid = process.getuid?.() === 0 ? 65_534 : undefined

const began = performance.now()
execFileSync(process.execPath, ['service/launch/image.mjs', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
print(`assembled in ${seconds(began)} s, ${execFileSync('du', ['-sh', folder]).toString().split('\t')[0] ?? ''}`)

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, { dev?: boolean }> }
const left = Object.entries(lock.packages).filter(
  ([where, { dev }]) => dev === true && existsSync(path.join(folder, where)),
)
assert.deepEqual(left, [], 'what only builds is left')
assert.ok(!existsSync(path.join(folder, 'node_modules/.bin')), 'programs are left')
print(`${String(readdirSync(path.join(folder, 'node_modules')).length)} libraries, none that only builds`)

execFileSync('chmod', ['-R', 'a-w,a+rX', folder])
chmodSync(LIVES_UNDER, 0o755)
mkdirSync(data, { mode: 0o700 })
if (uid !== undefined) chownSync(data, uid, uid)

const { server, stop } = await startTestServer(undefined)
const url = new URL(server.ownerUrl)
url.pathname = '/fresh'
execSql(`create database fresh owner ${server.owner}`)
const env = { DATABASE_URL: url.href, DATA_DIR: data, PORT: '0', NODE_ENV: 'production' }
const as = { cwd: folder, env, ...(uid === undefined ? {} : { uid, gid: uid }) }

try {
  const migrated = execFileSync(process.execPath, ['service/dist/cli/migrate.js'], as).toString()
  assert.match(migrated, /^Applied: 2026/)
  assert.match(execFileSync(process.execPath, ['service/dist/cli/migrate.js'], as).toString(), /up to date/)
  print('migrated as a step of its own')

  const started = performance.now()
  const service = spawn(process.execPath, ['service/dist/main.js'], { ...as, stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = new Promise<number | null>((resolve) => service.once('exit', resolve))
  const origin = await new Promise<string>((resolve, reject) => {
    void exit.then((code) => {
      reject(new Error(`it ended with ${String(code)}`))
    })
    createInterface(service.stdout).on('line', (line) => {
      if (!line.startsWith('{')) return
      const { msg, port } = JSON.parse(line) as { msg: string; port?: number }
      if (msg === 'ready') resolve(`http://127.0.0.1:${String(port)}`)
    })
  })
  print(`ready in ${seconds(started)} s`)
  for (const [where, status] of [
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/v1/rdas', 200],
    ['/tools', 200],
    ['/facilitator/supported', 200],
    ['/docs', 200],
    ['/', 200],
    ['/p/chk_none', 404],
  ] as const) {
    const answer = await fetch(origin + where, { headers: { accept: 'text/html,*/*;q=0.8' } })
    assert.equal(answer.status, status, `${where} answers ${String(answer.status)}`)
  }
  print('every surface answers')
  const signalledAt = performance.now()
  service.kill('SIGTERM')
  assert.equal(await exit, 0)
  print(`ended in order ${seconds(signalledAt)} s after SIGTERM`)
} finally {
  await stop()
}

function execSql(statement: string): void {
  const program = `import pg from 'pg'; const c = new pg.Client(process.argv[1]); await c.connect(); await c.query(process.argv[2]); await c.end()`
  execFileSync(process.execPath, ['--input-type=module', '-e', program, server.adminUrl, statement])
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
