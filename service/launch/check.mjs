import './node-version.mjs'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

const { prepareSources } = await import('./prepare.mjs')
const { root } = await import('./run.mjs')
const { STEPS, stepsFor } = await import('./checks.mjs')

/** Fits two cores and the memory of a small machine: a third step at once makes all three slower. */
const AT_ONCE = 2

await prepareSources()
const failed = await runAll(chosenSteps())
if (failed.length > 0) {
  console.error(`\nfailed checks: ${failed.join(', ')}`)
  process.exitCode = 1
}

/** What differs from where this branch left the main one, and what is not committed yet; null where there is no main one. */
function changedFiles() {
  const git = (...words) => spawnSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 })
  const base = ['main', 'origin/main'].map((name) => git('merge-base', 'HEAD', name)).find(({ status }) => status === 0)
  if (base === undefined) return null
  const listed = [
    // Without renames: the file that is gone counts too.
    git('diff', '--name-only', '--no-renames', '-z', base.stdout.trim()),
    git('ls-files', '--others', '--exclude-standard', '-z'),
  ]
  if (listed.some(({ status }) => status !== 0)) return null
  return listed.flatMap(({ stdout }) => stdout.split('\0')).filter((file) => file !== '')
}

/** All of them unless only what changed is to be looked at, and known. */
function chosenSteps() {
  const files = process.argv.includes('changed') ? changedFiles() : null
  if (files === null) return STEPS
  const there = files.filter((file) => existsSync(path.join(root, file)))
  const steps = stepsFor(files, there)
  console.log(`${files.length} changed files, ${steps === STEPS ? 'all checks' : `${steps.length} checks`}`)
  return steps
}

async function runAll(steps) {
  const waiting = [...steps]
  const failed = []
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      if (!(await passes(step))) failed.push(step.name)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return failed
}

async function passes({ name, run: [program, ...words], prints = false }) {
  const began = performance.now()
  const { code, output } = await outcome(path.join(root, 'node_modules', program), words)
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6)
  // One write per step, so that two steps that end at once do not mix their lines.
  const done = `ok     ${seconds} s  ${name}${prints ? `: ${output.trimEnd()}` : ''}`
  console.log(code === 0 ? done : `FAILED ${seconds} s  ${name}\n\n${output.trimEnd()}\n`)
  return code === 0
}

function outcome(program, words) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) }
    const child = spawn(process.execPath, [program, ...words], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text) => (output += text))
    }
    child.on('error', reject)
    child.on('close', (code, signal) => {
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}\nended by ${signal}` })
    })
  })
}
