import './node-version.mjs'
import { randomInt } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './run.mjs'
import { currentCommit, runStep, testResults } from './steps.mjs'
import { coveredHash, isProved, SUITES } from './suites.mjs'

/*
 * `npm run prove [-- suite … | changed | all] [--seed N]`: what depends on chance, on a clock, or on a long run. One suite
 * after the other; each writes its result to docs/proofs. A seed that fails becomes a case of `npm test`.
 */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { seed: { type: 'string' } } })
const names = Object.keys(SUITES)
const chosen = positionals.includes('all')
  ? names
  : positionals.includes('changed')
    ? names.filter((name) => !isProved(name))
    : positionals
const unknown = chosen.filter((name) => !names.includes(name))
if (chosen.length === 0 || unknown.length > 0) {
  const fault = unknown.length > 0 ? `There is no suite ${unknown.join(', ')}.\n` : ''
  process.stderr.write(`${fault}npm run prove -- <suite …> | changed | all\n\nSuites: ${names.join(', ')}\n`)
  process.exit(positionals.includes('changed') ? 0 : 1)
}

const folder = path.join(root, '.build/proofs')
const failed = []
for (const [place, name] of chosen.entries()) {
  const { command, env = {}, limitMinutes, covers } = SUITES[name]
  const seed = values.seed ?? String(randomInt(2 ** 31))
  process.stdout.write(`\n${place + 1} of ${chosen.length}: ${name}, seed ${seed}\n`)
  const output = path.join(folder, `${name}.json`)
  rmSync(output, { force: true })
  const step = await runStep({
    name,
    command: [...command(seed), '--json', `--outputFile=${output}`],
    env: { ...env, SEED: seed, CHAOS_SEED: String(Number(seed) % 1_000_000) },
    limitMinutes,
    folder,
  })
  const files = testResults(output) ?? []
  const sum = (key) => files.reduce((all, one) => all + one[key], 0)
  const { commit, changed } = currentCommit()
  const proof = {
    suite: name,
    commit,
    changed,
    covers: coveredHash(covers),
    seed: Number(seed),
    settings: env,
    passed: sum('passed'),
    // A suite that was skipped has proved nothing.
    failed: Math.max(sum('failed'), step.passed && sum('passed') > 0 ? 0 : 1),
    minutes: Number((step.seconds / 60).toFixed(1)),
    failures: files.flatMap(({ file, failures }) =>
      failures.map(({ test, message }) => ({ file, test, message: message.slice(0, 1_000) })),
    ),
  }
  if (proof.failed > 0) failed.push(name)
  mkdirSync(path.join(root, 'docs/proofs'), { recursive: true })
  writeFileSync(path.join(root, `docs/proofs/${name}.json`), `${JSON.stringify(proof, null, 2)}\n`)
}
process.stdout.write(`\n${chosen.length - failed.length} passed, ${failed.length} failed\n`)
if (failed.length > 0) process.stdout.write(`failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
