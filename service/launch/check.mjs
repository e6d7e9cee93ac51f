import './node-version.mjs'
import { spawn } from 'node:child_process'
import path from 'node:path'

const { prepare } = await import('./prepare.mjs')
const { root } = await import('./run.mjs')

/**
 * `npm run check`: every check that a machine can make. The slow ones come first, so that the last two end together.
 */
const STEPS = [
  // No cache: a typed rule depends on the types of other files, and a cache per file would keep an outdated pass.
  { name: 'lint', run: ['eslint/bin/eslint.js', '.', '--max-warnings=0'] },
  {
    // Needs no database: the migrations are replayed on a throw-away one inside the process.
    name: 'schema drift',
    run: [
      ...['prisma/build/index.js', 'migrate', 'diff', '--exit-code'],
      ...['--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema'],
    ],
  },
  { name: 'types of service', run: typesOf('service/tsconfig.json', 'service') },
  { name: 'types of pages', run: typesOf('service/pages/browser/tsconfig.json', 'pages') },
  { name: 'types of dashboard', run: typesOf('service/dashboard/browser/tsconfig.json', 'dashboard') },
  { name: 'types of test', run: typesOf('test/tsconfig.json', 'test') },
  { name: 'types of client', run: typesOf('service/client/tsconfig.json', 'client') },
  { name: 'types of nodes', run: typesOf('tsconfig.json', 'nodes') },
  { name: 'types of test/nodes', run: typesOf('test/nodes/tsconfig.json', 'test-nodes') },
  { name: 'licences', run: ['../service/launch/licences.mjs'] },
  { name: 'size', run: ['../service/launch/size.mjs'], prints: true },
  { name: 'unused code', run: ['knip/bin/knip.js', '--no-progress'] },
  {
    name: 'directions',
    run: [
      ...['dependency-cruiser/bin/dependency-cruise.mjs', '--output-type', 'err-long'],
      ...['service', 'nodes', 'credentials', 'test'],
    ],
  },
  {
    name: 'format',
    run: [
      ...['prettier/bin/prettier.cjs', '--check', '.', '--log-level', 'warn'],
      ...['--cache', '--cache-strategy', 'content', '--cache-location', '.build/prettier'],
    ],
  },
  { name: 'format of schema', run: ['prisma/build/index.js', 'format', '--check'] },
  { name: 'schema', run: ['prisma/build/index.js', 'validate'] },
]

/** Fits two cores and the memory of a small machine: a third step at once makes all three slower. */
const AT_ONCE = 2
/** The typed rules hold all types in memory at once, and need more than the 4 GB that node allows by default. */
const HEAP = '--max-old-space-size=8192'

// The compiler runs below with its own incremental record; only the generated client must exist.
await prepare({ build: false })
const failed = await runAll(STEPS)
if (failed.length > 0) {
  console.error(`\nfailed checks: ${failed.join(', ')}`)
  process.exitCode = 1
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
    const child = spawn(process.execPath, [HEAP, program, ...words], {
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

function typesOf(project, name) {
  return [
    'typescript/bin/tsc',
    '-p',
    project,
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    `.build/types/${name}.tsbuildinfo`,
  ]
}
