import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { root } from './run.mjs'

/**
 * Runs one step of the gate or one proof: in a process group of its own, which ends with the step, and within a limit.
 * Its output goes to the terminal and to a file of the step's name.
 */
export async function runStep({ name, command, env = {}, limitMinutes, folder }) {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${name.replaceAll(/[^\w.-]+/g, '-')}.log`)
  const log = createWriteStream(file)
  process.stdout.write(`\n== ${name}\n`)
  const began = performance.now()
  const child = spawn(command[0], command.slice(1), {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      process.stdout.write(chunk)
      log.write(chunk)
    })
  }
  let limited = false
  const timer = setTimeout(() => {
    limited = true
    endGroup(child.pid)
  }, limitMinutes * 60_000)
  const stop = (signal) => {
    endGroup(child.pid)
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  // The last output may come after the end of the process that wrote it.
  const closed = new Promise((resolve) => child.once('close', resolve))
  const { code, signal } = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, signal: error.message }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  clearTimeout(timer)
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop)
  // What the step started and left running would slow the next one.
  endGroup(child.pid)
  // A process that left the group may keep the pipes open for ever.
  await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').destroy()
  await new Promise((resolve) => log.end(resolve))
  const seconds = Math.round((performance.now() - began) / 1000)
  const ending = limited ? `ended after its limit of ${limitMinutes} minutes` : (signal ?? `exit code ${code}`)
  process.stdout.write(`== ${name}: ${seconds} s${code === 0 ? '' : `, FAILED: ${ending}`}\n`)
  return { name, seconds, passed: code === 0 && !limited, ending, log: file }
}

const DRAIN_MS = 5_000

function endGroup(pid) {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // All of its processes have ended.
    if (error.code !== 'ESRCH') throw error
  }
}

/** The last lines that a step printed, for a failure that names no test. */
export function lastLines(step, count) {
  return stripVTControlCharacters(readFileSync(step.log, 'utf8')).trimEnd().split('\n').slice(-count)
}

/** What Jest wrote with `--json`, by file; null where it wrote nothing whole, so the step itself is what failed. */
export function testResults(file) {
  const written = readResults(file)
  if (written === null) return null
  return written.testResults.map((suite) => {
    const of = (status) => suite.assertionResults.filter((test) => test.status === status)
    const failures = of('failed').map(({ ancestorTitles, title, failureMessages }) => ({
      test: [...ancestorTitles, title].join(' › '),
      message: stripVTControlCharacters(failureMessages.join('\n')),
    }))
    // A file that could not be loaded counts as one failure.
    if (suite.status === 'failed' && failures.length === 0)
      failures.push({ test: 'the file', message: stripVTControlCharacters(suite.message) })
    return {
      file: path.relative(root, suite.name),
      passed: of('passed').length,
      failed: failures.length,
      // With what it prepares and ends, and, in the first file of a process, the loading of what all others use.
      seconds: (suite.endTime - suite.startTime) / 1000,
      failures,
    }
  })
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/** The commit of a clone, and whether files differ from it. The proofs of the suites before do not count. */
export function currentCommit(folder = root) {
  const git = (...args) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout?.trim() ?? ''
  return { commit: git('rev-parse', 'HEAD'), changed: git('status', '--porcelain', '--', '.', ':!docs/proofs') !== '' }
}
