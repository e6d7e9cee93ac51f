import './node-version.mjs'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from './run.mjs'
import { currentCommit, lastLines, runStep, testResults } from './steps.mjs'
import { isProved, SUITES } from './suites.mjs'

/*
 * `npm run gate`: decides whether HEAD may land, in a fresh clone of it. `.ci/run` is the same program with `--here`, in
 * the clone that it stands in. Everything that depends on chance, time or length is in `npm run prove`.
 */
const FOLDER = path.join(root, '.build/gate')
/** More failed files than this, or more time than this to run them again, is a break and not bad luck. */
const REPEATED_FILES = 10
const REPEATED_MINUTES = 5
/** What keeps the output of a gate may cut its middle: the end has everything in so many lines. */
const SUMMARY_LINES = 60

if (process.argv.includes('--here')) await decide()
else await decideInClone()

async function decideInClone() {
  const { commit, changed } = currentCommit()
  if (changed) process.stdout.write('There are uncommitted changes. The gate looks at HEAD only.\n')
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-gate-'))
  const clone = path.join(folder, 'clone')
  const cloned = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone], { stdio: 'inherit' })
  if (cloned.status !== 0) process.exit(1)
  spawnSync('git', ['checkout', '--quiet', '--detach', commit], { cwd: clone, stdio: 'inherit' })
  const child = spawn('bash', ['.ci/run'], {
    cwd: clone,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  rmSync(FOLDER, { recursive: true, force: true })
  const results = path.join(clone, '.build/gate')
  if (existsSync(results)) cpSync(results, FOLDER, { recursive: true })
  rmSync(folder, { recursive: true, force: true })
}

async function decide() {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const steps = []
  const step = async (name, limitMinutes, command, env) => {
    const done = await runStep({ name, limitMinutes, command, env, folder: FOLDER })
    steps.push(done)
    return done
  }
  const npm = (...args) => ['npm', ...args]
  const resultOf = (name) => path.join(FOLDER, `${name}.json`)

  // An install asks other servers, so it is tried twice. Checks and tests are not.
  const install = async (name, command) => {
    if ((await step(name, 10, command)).passed) return
    const failed = steps.pop()
    if (!(await step(name, 10, command)).passed) return
    steps.at(-1).seconds += failed.seconds
  }
  await install('Debian packages', ['bash', 'service/launch/debian-packages.sh'])
  await install('npm packages and build', [
    'node',
    '-e',
    "import('./service/launch/prepare.mjs').then((m) => m.prepare())",
  ])
  await step('npm run check', 15, npm('run', 'check'))
  const tests = await step('npm test', 55, npm('test', '--', '--json', `--outputFile=${resultOf('test')}`))
  const files = testResults(resultOf('test'))

  const red = files?.filter(({ failed }) => failed > 0) ?? []
  const flaky = await repeated(red)
  const failures = red.filter(({ file }) => !flaky.includes(file))
  const withoutNames = steps.filter((one) => !one.passed && (one !== tests || files === null || red.length === 0))

  const { commit, changed } = currentCommit()
  const count = (all, key) => all.reduce((sum, one) => sum + one[key], 0)
  const listed = (all) =>
    all.flatMap(({ file, failures }) => failures.map(({ test, message }) => ({ file, test, message })))
  const flakyTests = listed(red.filter(({ file }) => flaky.includes(file)))
  const result = {
    commit,
    changed,
    passed: count(files ?? [], 'passed') + flakyTests.length,
    failed: count(failures, 'failed') + withoutNames.length,
    flaky: flakyTests.length,
    steps: steps.map(({ name, seconds, passed }) => ({ name, seconds, ok: passed })),
    failedTests: listed(failures),
    flakyTests,
    secondsByFile: Object.fromEntries(
      (files ?? [])
        .sort((one, other) => other.seconds - one.seconds)
        .map(({ file, seconds }) => [file, Number(seconds.toFixed(1))]),
    ),
  }
  if (result.passed === 0) result.failed = Math.max(result.failed, 1)
  writeFileSync(path.join(FOLDER, 'result.json'), JSON.stringify(result, null, 2))
  for (const { file, test, message } of result.failedTests.slice(0, 10)) {
    process.stdout.write(`\n${file} › ${test}\n${message.split('\n').slice(0, 30).join('\n')}\n`)
  }
  process.stdout.write(`\n${summary(result, withoutNames).join('\n')}\n`)
  process.exitCode = result.failed === 0 ? 0 : 1
}

/** Runs each failed file once more, alone, in a process of its own. Returns those that passed then. */
async function repeated(red) {
  if (red.length > REPEATED_FILES) return []
  const until = performance.now() + REPEATED_MINUTES * 60_000
  const passed = []
  for (const [place, { file }] of red.entries()) {
    const limitMinutes = (until - performance.now()) / 60_000
    if (limitMinutes <= 0) break
    const command = ['npm', 'test', '--', file, `--outputFile=${path.join(FOLDER, `again-${place}.json`)}`, '--json']
    const again = await runStep({ name: `again ${file}`, command, limitMinutes, folder: FOLDER })
    if (again.passed) passed.push(file)
  }
  return passed
}

function summary({ passed, failed, flaky, steps, failedTests, flakyTests }, withoutNames) {
  // All of it up to the stack, on one line: the first line alone often says no more than `toEqual`.
  const firstLine = (message) =>
    message
      .split(/\n\s+at /)[0]
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join(' | ')
  const short = (text) => (text.length > 400 ? `${text.slice(0, 400)}…` : text)
  const line = (word, { file, test, message }) => short(`${word} ${file} › ${test}: ${firstLine(message)}`)
  const last = `${passed} passed, ${failed} failed`
  const notProved = Object.keys(SUITES).filter((name) => !isProved(name))
  const proofs = notProved.length === 0 ? [] : [`Proved at other code, or not yet: ${notProved.join(', ')}`]
  const end = flaky === 0 ? [last] : [`${flaky} passed only when run again, alone: look at each.`, last]
  const named = [
    ...flakyTests.map((test) => line('FLAKY', test)),
    ...failedTests.map((test) => line('FAILED', test)),
    ...withoutNames.flatMap((step) => [
      `FAILED step ${step.name}: ${step.ending}`,
      ...lastLines(step, 8).map((text) => short(`  ${text}`)),
    ]),
  ]
  const times = steps.map(({ name, seconds, ok }) => `${String(seconds).padStart(5)} s  ${name}${ok ? '' : ' FAILED'}`)
  const room = SUMMARY_LINES - times.length - proofs.length - end.length - 1
  const cut = named.length > room ? [...named.slice(0, room - 1), `… and ${named.length - room + 1} more lines`] : named
  return [...times, ...proofs, ...cut, '', ...end]
}
