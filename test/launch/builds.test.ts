import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildsFor } from '../../service/launch/builds.mjs'
import { filesUnder, hashOf, reachedFrom } from '../../service/launch/fingerprint.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const builds = (...files: string[]): string[] => [...buildsFor(files)].sort()

describe('the builds of a test file', () => {
  test('do not include pages for code that is called directly', () => {
    expect(builds('test/kit/line.test.ts')).toEqual(['client', 'packages'])
  })

  test('are the pages and the dashboard for a service in the same process', () => {
    expect(builds('test/endpoints/get-wallet-balance/200.test.ts')).toEqual([
      'client',
      'dashboard',
      'packages',
      'pages',
    ])
  })

  test('are all for a service in a process of its own, or a program', () => {
    const all = ['client', 'dashboard', 'packages', 'pages', 'service']
    expect(builds('test/observe/live-start.test.ts')).toEqual(all)
    expect(builds('test/marketplace/assets/admin.test.ts')).toEqual(all)
    expect(builds('test/queue/crash.test.ts')).toEqual(all)
  })

  test('are those of all chosen files', () => {
    expect(builds('test/kit/line.test.ts', 'test/endpoints/get-wallet-balance/200.test.ts')).toContain('dashboard')
  })

  test('are read by one file each, which the rule names', () => {
    const readers = filesUnder('service', ['dist', 'node_modules', 'generated', 'browser'])
      .filter((file) => file.endsWith('.ts') && file !== 'service/pages/assets.ts')
      .filter((file) => readFileSync(path.join(root, file), 'utf8').includes('builtFolder('))
    expect(readers).toEqual(['service/pages/pages.ts', 'service/wiring/dashboard.ts'])
  })
})

describe('the sources of a build', () => {
  test('include the files that browser code imports from the rest of the service', () => {
    const reached = reachedFrom(filesUnder('service/pages/browser'))
    expect(reached).toEqual(expect.arrayContaining(['service/kit/answer.ts', 'service/ui-kit/tokens.css']))
  })

  test('exclude files imported for their types only', () => {
    const reached = reachedFrom(filesUnder('service/dashboard/browser'))
    expect(reached).toContain('service/kit/conditions.ts')
    expect(reached).not.toContain('service/compose.ts')
  })

  test('have the same hash for the same contents, whatever the dates, and another for changed ones', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-contents-'))
    try {
      const file = path.join(folder, 'a.ts')
      const hashAt = (text: string, date: number): string => {
        writeFileSync(file, text)
        utimesSync(file, date, date)
        return hashOf([path.relative(root, file)])
      }
      const first = hashAt('one', 1_000)
      expect(hashAt('one', 2_000)).toBe(first)
      expect(hashAt('two', 1_000)).not.toBe(first)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
