import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fillFolder } from '../harness/prepared-cluster.ts'

describe('the prepared database of the tests', () => {
  let place: string
  let folder: string
  let filled: number

  beforeEach(() => {
    place = mkdtempSync(path.join(tmpdir(), 'coinslot-prepared-'))
    folder = path.join(place, 'clusters')
    filled = 0
  })
  afterEach(() => {
    rmSync(place, { recursive: true })
  })

  async function fill(key: string, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<string> {
    const dataDir = mkdtempSync(path.join(place, 'data-'))
    await fillFolder(
      dataDir,
      async () => {
        filled++
        mkdirSync(path.join(dataDir, 'postgres'), { mode: 0o700 })
        writeFileSync(path.join(dataDir, 'postgres/rows'), key)
        writeFileSync(path.join(dataDir, 'service.lock'), 'held')
        await meanwhile()
      },
      { folder, key },
    )
    return dataDir
  }
  const rows = (dataDir: string): string => readFileSync(path.join(dataDir, 'postgres/rows'), 'utf8')

  test('is made once, and copied for each later run without the lock of the first', async () => {
    await fill('a')
    const second = await fill('a')
    expect(filled).toBe(1)
    expect(rows(second)).toBe('a')
    expect(existsSync(path.join(second, 'service.lock'))).toBe(false)
  })

  test('is not changed by a run that uses its copy', async () => {
    await fill('a')
    writeFileSync(path.join(await fill('a'), 'postgres/rows'), 'changed')
    expect(rows(await fill('a'))).toBe('a')
  })

  test('is rebuilt after a change, and the previous one is removed', async () => {
    await fill('a')
    expect(rows(await fill('b'))).toBe('b')
    expect(filled).toBe(2)
    expect(readdirSync(folder)).toEqual(['b'])
  })

  test('is stored once when two runs make it at the same time', async () => {
    const outer = await fill('a', async () => {
      expect(rows(await fill('a'))).toBe('a')
    })
    expect(filled).toBe(2)
    expect(rows(outer)).toBe('a')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('is rebuilt when an earlier run ended before its copy was complete', async () => {
    const draft = path.join(folder, 'a.4194305.00000000')
    mkdirSync(draft, { recursive: true })
    expect(rows(await fill('a'))).toBe('a')
    expect(filled).toBe(1)
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('does not remove the unfinished copy of a living process', async () => {
    const draft = `b.${String(process.pid)}.00000000`
    mkdirSync(path.join(folder, draft), { recursive: true })
    await fill('a')
    expect(readdirSync(folder)).toEqual(['a', draft])
  })
})
