import './node-version.mjs'

import { copyFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const { prepare } = await import('./prepare.mjs')
const { become, root } = await import('./run.mjs')

/**
 * Takes the pictures of `docs/screens` anew. The dashboard's tests take one of every page; a page that shows one more gets
 * it from `.build/screens`.
 */
const taken = path.join(root, '.build/screens')
const shown = path.join(root, 'docs/screens')
await prepare()
process.env.SCREENS = taken
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([...jest, '--runInBand', 'test/browser/dashboard'])
for (const name of readdirSync(shown)) copyFileSync(path.join(taken, name), path.join(shown, name))
