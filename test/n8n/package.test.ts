import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { SETUP } from './world.ts'

const root = path.resolve(import.meta.dirname, '../..')
const lint = path.join(import.meta.dirname, 'lint')
const scan = path.join(import.meta.dirname, 'scan/scan.mjs')

describe("n8n's requirements for a community node", () => {
  let unpacked: string
  beforeAll(async () => {
    unpacked = mkdtempSync(path.join(tmpdir(), 'coinslot-unpacked-'))
    await promisify(execFile)('tar', ['-xzf', SETUP.packed, '-C', unpacked, '--strip-components=1'])
  })
  afterAll(() => rmSync(unpacked, { recursive: true }))

  it('is what `n8n-node lint` looks for', async () => {
    const program = path.join(lint, 'node_modules/eslint/bin/eslint.js')
    const rules = ['-c', path.join(lint, 'rules.mjs'), '--max-warnings=0']
    expect(await outputOf(program, [...rules, 'nodes', 'credentials', 'package.json'])).toBe('')
  })

  it('is what its scanner looks for in the sources', async () => {
    expect(await outputOf(scan, ['source', root])).toBe('')
  })

  it('is what its scanner looks for in the packed file', async () => {
    expect(await outputOf(scan, ['packed', unpacked])).toBe('')
  })
})

/** The full output of a program, which is empty when it finds nothing. */
async function outputOf(program: string, words: readonly string[]): Promise<string> {
  try {
    // Under the name that Jest gives it, some of these rules test themselves instead.
    const env = { ...process.env, NODE_ENV: 'production' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...words], { cwd: root, env })
    return stdout + stderr
  } catch (error) {
    const { stdout, stderr, message } = error as { stdout: string; stderr: string; message: string }
    return stdout + stderr || message
  }
}
