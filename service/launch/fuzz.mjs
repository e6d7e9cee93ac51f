import './node-version.mjs'
import { parseArgs } from 'node:util'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

/*
 * `npm run fuzz`: a hundred thousand requests that nobody should send, and then how the time and the memory of an
 * answer grow with the size of its request. What is printed with a failure of the first repeats it:
 * `npm run fuzz -- --seed 123 --from 4567 --shots 1`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string' },
    shots: { type: 'string' },
    report: { type: 'string' },
  },
})
await prepare({ build: false })
const random = String(Math.floor(Math.random() * 2 ** 31))
process.env.FUZZ_SEED = values.seed ?? random
process.env.FUZZ_FROM = values.from ?? '0'
process.env.FUZZ_SHOTS = values.shots ?? '100000'
if (values.report !== undefined) process.env.FUZZ_REPORT = values.report
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
// Whoever repeats one request has no question about growth.
const isWhole = values.from === undefined
if (isWhole) process.env.FUZZ_GROWTH = 'all'
const files = ['test/security/fuzz.test.ts', ...(isWhole ? ['test/security/growth.test.ts'] : [])]
process.exitCode = await become([...jest, '--runInBand', ...files])
