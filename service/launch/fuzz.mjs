import './node-version.mjs'
import { parseArgs } from 'node:util'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

/*
 * `npm run fuzz`: sends a hundred thousand malformed requests, and then measures how the time and the memory of an
 * answer grow with the size of its request. A failure of the first part prints the command that repeats it: `npm run
 * fuzz -- --seed 123 --from 4567 --shots 1`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string' },
    shots: { type: 'string' },
    report: { type: 'string' },
    json: { type: 'boolean' },
    outputFile: { type: 'string' },
  },
})
await prepare()
const random = String(Math.floor(Math.random() * 2 ** 31))
process.env.FUZZ_SEED = values.seed ?? random
process.env.FUZZ_FROM = values.from ?? '0'
process.env.FUZZ_PATIENCE_MS = '2000'
process.env.FUZZ_SHOTS = values.shots ?? '100000'
if (values.report !== undefined) process.env.FUZZ_REPORT = values.report
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
// A run that repeats one request skips the growth tests.
const isWhole = values.from === undefined
if (isWhole) process.env.FUZZ_GROWTH = 'all'
const files = ['test/security/fuzz.test.ts', ...(isWhole ? ['test/security/growth.timed.test.ts'] : [])]
const output = values.outputFile === undefined ? [] : ['--json', `--outputFile=${values.outputFile}`]
process.exitCode = await become([
  ...jest,
  '--runInBand',
  ...output,
  ...files,
  // Last, because Jest takes every word after it for one more pattern.
  '--testPathIgnorePatterns=/node_modules/',
])
