import './node-version.mjs'
import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'

const { prepareSources } = await import('./prepare.mjs')
const { root } = await import('./run.mjs')

/** Each has the folders that it reads files of its own from. */
const PROJECTS = [
  { name: 'service', config: 'service/tsconfig.json', files: /^service\// },
  { name: 'test', config: 'test/tsconfig.json', files: /^(test|service)\// },
  { name: 'dashboard', config: 'service/dashboard/browser/tsconfig.json', files: /^service\// },
  { name: 'pages', config: 'service/pages/browser/tsconfig.json', files: /^service\// },
  { name: 'client', config: 'service/client/tsconfig.json', files: /^service\/client\// },
  { name: 'nodes', config: 'tsconfig.json', files: /^(nodes|credentials)\// },
  { name: 'test/nodes', config: 'test/nodes/tsconfig.json', files: /^(test\/nodes|nodes|credentials)\// },
]
const OXLINT = 'oxlint/bin/oxlint'

/**
 * `npm run check`: every check that a machine can make. The slow ones come first, so that the last two end together.
 * `npm run check -- changed` looks at the files that differ from the main branch only: their lint, format and types.
 */
const STEPS = [
  // Reads the types of all projects, and reports what is wrong with them too: no compiler has to read them again.
  { name: 'lint and types', run: [OXLINT] },
  {
    name: 'format',
    run: [
      ...['prettier/bin/prettier.cjs', '--check', '.', '--log-level', 'warn'],
      ...['--cache', '--cache-strategy', 'content', '--cache-location', '.build/prettier'],
    ],
  },
  {
    name: 'directions',
    run: [
      ...['dependency-cruiser/bin/dependency-cruise.mjs', '--output-type', 'err-long'],
      ...['service', 'nodes', 'credentials', 'test'],
    ],
  },
  { name: 'unused code', run: ['knip/bin/knip.js', '--no-progress'] },
  {
    // Needs no database: the migrations are replayed on a throw-away one inside the process.
    name: 'schema drift',
    run: [
      ...['prisma/build/index.js', 'migrate', 'diff', '--exit-code'],
      ...['--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema'],
    ],
  },
  // Written by programs, so it is not linted; and its declarations are published.
  ...PROJECTS.filter(({ name }) => name === 'client').map(typesOf),
  { name: 'licences', run: ['../service/launch/licences.mjs'] },
  { name: 'size', run: ['../service/launch/size.mjs'], prints: true },
  { name: 'format of schema', run: ['prisma/build/index.js', 'format', '--check'] },
  { name: 'schema', run: ['prisma/build/index.js', 'validate'] },
]

/** A change can break types in files that did not change, so the projects are read whole, with a record of the last time. */
function typesOf({ name, config }) {
  const record = `.build/types/${name.replace('/', '-')}.tsbuildinfo`
  return {
    name: `types of ${name}`,
    run: ['typescript-7/lib/tsc.js', '-p', config, '--noEmit', '--incremental', '--tsBuildInfoFile', record],
  }
}

/** Fits two cores and the memory of a small machine: a third step at once makes all three slower. */
const AT_ONCE = 2

await prepareSources()
const failed = await runAll(process.argv.includes('changed') ? stepsFor(changedFiles()) : STEPS)
if (failed.length > 0) {
  console.error(`\nfailed checks: ${failed.join(', ')}`)
  process.exitCode = 1
}

function stepsFor(files) {
  if (files.length === 0) return []
  return [
    { name: 'lint', run: [OXLINT, '--no-error-on-unmatched-pattern', ...files] },
    ...PROJECTS.filter((project) => files.some((file) => project.files.test(file))).map(typesOf),
    {
      name: 'format',
      run: ['prettier/bin/prettier.cjs', '--check', '--ignore-unknown', '--log-level', 'warn', ...files],
    },
  ]
}

/** What differs from where this branch left the main one, and what is not committed yet. */
function changedFiles() {
  const git = (...words) => spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  const base = git('merge-base', 'HEAD', 'main').stdout.trim() || 'HEAD'
  const listed = [
    git('diff', '--name-only', '--diff-filter=d', base).stdout,
    git('ls-files', '--others', '--exclude-standard').stdout,
  ]
  return listed.flatMap((files) => files.split('\n')).filter((file) => file !== '')
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
