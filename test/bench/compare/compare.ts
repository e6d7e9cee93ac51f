import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { judge, WORSE_BELOW } from './judge.ts'
import { figuresOf, isRate, type Figure } from './tables.ts'

/*
 * `npm run bench -- compare <commit> [benchmark …]`: the same benchmarks on that commit and on this tree, in turns, until
 * each row can be judged or there were enough turns. Exits 1 if a row is 5 % worse.
 */

const TURNS_LEAST = 8
const TURNS_MOST = Number(process.env['BENCH_TURNS'] ?? 24)
/** The paths that money and callers wait for. */
const HOT = ['ledger', 'http', 'facilitator', 'tools', 'paywall']
/** What others' programs do tells how restless the machine is, and nothing of us. */
const NOT_OURS = /reference|nginx|pgbench|upstream|@x402/

const [commit, ...named] = process.argv.slice(2)
if (commit === undefined) fail('Name the commit to compare with: npm run bench -- compare <commit> [benchmark …]')
const sha = git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`)
if (sha === '') fail(`There is no commit ${commit}.`)
const programs = named.length > 0 ? named : HOT
const missing = programs.find((name) => !existsSync(`test/bench/${name}.ts`))
if (missing !== undefined) fail(`There is no benchmark ${missing}.`)

const folder = path.resolve('.build/compare', sha)
if (!existsSync(folder)) git('worktree', 'add', '--force', '--detach', folder, sha)
try {
  let isWorse = false
  for (const program of programs) isWorse = compare(program) || isWorse
  process.exitCode = isWorse ? 1 : 0
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
} finally {
  git('worktree', 'remove', '--force', folder)
}

function compare(program: string): boolean {
  if (git('diff', '--name-only', sha, '--', `test/bench/${program}.ts`, `test/bench/${program}/`) !== '')
    console.log(`The benchmark ${program} itself differs between the two: look at what it measures.`)
  const ratios = new Map<string, number[]>()
  for (let turn = 0; turn < TURNS_MOST; turn++) {
    // Each goes first every other time: what the machine does meanwhile meets both.
    const order = turn % 2 === 0 ? [folder, '.'] : ['.', folder]
    const figures = new Map(order.map((place) => [place, figuresOf(measure(program, place))]))
    for (const [name, ratio] of ratiosOf(figures.get(folder) ?? [], figures.get('.') ?? []))
      ratios.set(name, [...(ratios.get(name) ?? []), ratio])
    if (ratios.size === 0) throw new Error(`The benchmark ${program} printed nothing that can be compared.`)
    process.stderr.write(`${program}: turn ${String(turn + 1)} of at most ${String(TURNS_MOST)}\n`)
    if (turn + 1 >= TURNS_LEAST && [...ratios.values()].every((each) => judge(each).verdict !== 'cannot tell')) break
  }
  return report(program, ratios)
}

function report(program: string, ratios: ReadonlyMap<string, readonly number[]>): boolean {
  console.log(`\n| ${program} | turns | speed, of ${sha.slice(0, 8)} | between | |\n| --- | ---: | ---: | ---: | --- |`)
  let isWorse = false
  for (const [name, each] of ratios) {
    const { verdict, median, between } = judge(each)
    const counts = !NOT_OURS.test(name)
    isWorse ||= counts && verdict === 'worse'
    const range = between === null ? '' : between.map((ratio) => ratio.toFixed(2)).join(' – ')
    const label = counts ? verdict : 'not ours'
    console.log(`| ${name} | ${String(each.length)} | ${median.toFixed(2)} | ${range} | ${label} |`)
  }
  if (isWorse) console.log(`\nWorse: below ${String(WORSE_BELOW)} with a confidence of 99 %.`)
  return isWorse
}

function measure(program: string, place: string): string {
  const run = spawnSync(process.execPath, ['service/launch/bench.mjs', program], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, BENCH_SECONDS: process.env['BENCH_SECONDS'] ?? '1', BENCH_ROUNDS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
  if (run.status !== 0) throw new Error(`The benchmark ${program} failed in ${place}.`)
  return run.stdout
}

/** How fast the new one is, of the old one; rows that only one of them has are left out. */
function ratiosOf(old: readonly Figure[], now: readonly Figure[]): [name: string, ratio: number][] {
  return now.flatMap(({ row, column, value }) => {
    const before = old.find((figure) => figure.row === row && figure.column === column)
    const ratio = before === undefined ? 0 : isRate(column) ? value / before.value : before.value / value
    return ratio === 0 ? [] : [[`${row}: ${column}`, ratio]]
  })
}

function git(...words: string[]): string {
  try {
    return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  } catch (error) {
    if (words[0] === 'rev-parse') return ''
    throw error
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(2)
}
