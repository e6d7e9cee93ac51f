import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { currentCommit } from '../../service/launch/steps.mjs'

describe('the commit that a gate or a proof speaks of', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-steps-'))
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  it('is changed by a file of the code, and not by the proofs of the suites before', () => {
    const git = (...args: string[]) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout.trim()
    git('init', '--quiet')
    writeFileSync(path.join(folder, 'code.ts'), 'one')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'one')
    const commit = git('rev-parse', 'HEAD')
    mkdirSync(path.join(folder, 'docs/proofs'), { recursive: true })
    writeFileSync(path.join(folder, 'docs/proofs/ledger.json'), '{}')
    expect(currentCommit(folder)).toEqual({ commit, changed: false })
    writeFileSync(path.join(folder, 'code.ts'), 'two')
    expect(currentCommit(folder)).toEqual({ commit, changed: true })
  })
})
