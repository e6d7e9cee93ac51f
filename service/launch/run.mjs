import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A step of the launch ended with an error; the message is all of its output. */
export class StepFailed extends Error {}

/** Runs a step of the launch: silent when it succeeds; when it fails, throws all of its output. */
export function node(args, options) {
  return step(process.execPath, args, options)
}

/** Uses the npm that runs this script, otherwise the one in PATH. */
export function npm(args, options) {
  const cli = process.env.npm_execpath
  return cli?.endsWith('.js') === true ? node([cli, ...args], options) : step('npm', args, options)
}

/** Runs a program in place of this one: with its terminal, signals and exit code. */
export async function become(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  // Ctrl-C reaches the child directly; this process must outlive it to pass on its exit code.
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (...ending) => resolve(ending))
  })
  return code ?? 128 + constants.signals[signal]
}

async function step(command, args, { cwd = root, env = {} } = {}) {
  // Jest sets NODE_ENV for itself, and a build would become one for developers.
  const { NODE_ENV: _ofJest, ...inherited } = process.env
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new StepFailed(said)
}
