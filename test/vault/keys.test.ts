import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { loadOrMakeKey, parseKeyring } from '../../service/vault/keyring.ts'

const encoded = () => randomBytes(32).toString('base64')

describe('the keyring', () => {
  it('seals with the current key and opens with all', () => {
    const keyring = parseKeyring(`b:${encoded()}`, ` a:${encoded()} , 2024-01:${encoded()},`)
    expect(keyring.current.id).toBe('b')
    expect([...keyring.byId.keys()]).toEqual(['b', 'a', '2024-01'])
    expect([...parseKeyring(`b:${encoded()}`, '').byId.keys()]).toEqual(['b'])
  })

  it.each([
    ['nothing', ''],
    ['no id', encoded()],
    ['an empty id', `:${encoded()}`],
    ['an id with a dot', `a.b:${encoded()}`],
    ['16 bytes', `a:${randomBytes(16).toString('base64')}`],
    ['31 bytes', `a:${randomBytes(31).toString('base64')}`],
    ['33 bytes', `a:${randomBytes(33).toString('base64')}`],
    ['hexadecimal', `a:${randomBytes(32).toString('hex')}`],
    ['two keys', `a:${encoded()},b:${encoded()}`],
    ['zeros', `a:${Buffer.alloc(32).toString('base64')}`],
    ['a passphrase of one letter', `a:${Buffer.alloc(32, 'x').toString('base64')}`],
  ])('refuses a key that is %s, without repeating it', (_name, text) => {
    const parse = () => parseKeyring(text)
    expect(parse).toThrow(
      /^The vault key (must be an id, a colon and the base64 of 32 random bytes\.|is not random\. )/,
    )
    if (text !== '') expect(parse).not.toThrow(text)
  })

  it('refuses an invalid old key, and names it', () => {
    expect(() => parseKeyring(`c:${encoded()}`, `a:${encoded()},b:oops`)).toThrow(/^Old vault key 2 must be an id, /)
  })

  it('refuses a duplicate id', () => {
    expect(() => parseKeyring(`a:${encoded()}`, `b:${encoded()},a:${encoded()}`)).toThrow('"a" is given twice')
  })

  it('cannot be printed', () => {
    const text = encoded()
    const keyring = parseKeyring(`a:${text}`)
    const shown = inspect(keyring, { depth: null, showHidden: true }) + JSON.stringify(keyring.current)
    expect(shown).not.toContain(text)
    expect(shown).not.toContain(Buffer.from(text, 'base64').toString('hex').slice(0, 8))
  })
})

describe('the key file', () => {
  let dataDir: string
  let path: string
  beforeEach(async () => {
    dataDir = join(await mkdtemp(join(tmpdir(), 'coinslot-vault-')), 'deep', 'data')
    path = join(dataDir, 'vault.key')
  })
  afterEach(() => rm(join(dataDir, '..', '..'), { recursive: true }))

  it('is made once, for its owner alone, and read ever after', async () => {
    const key = await loadOrMakeKey(dataDir)
    expect(parseKeyring(key).current.id).toMatch(/^sandbox-[0-9a-f]{8}$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await loadOrMakeKey(dataDir)).toBe(key)
    expect(await readdir(dataDir)).toEqual(['vault.key'])
  })

  it('is one and the same for all who make it at once, wherever the others have got to', async () => {
    for (let round = 0; round < 20; round++) {
      const folder = join(dataDir, String(round))
      const keys = await Promise.all(Array.from({ length: 20 }, (_, index) => keyAfter(index, folder)))
      expect(new Set(keys).size).toBe(1)
      expect(await readdir(folder)).toEqual(['vault.key'])
    }
  })

  it('is one and the same for processes that make it at once', async () => {
    const ready = await Promise.all(Array.from({ length: 4 }, () => anotherProcess(dataDir)))
    const keys = await Promise.all(ready.map((load) => load()))
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toBe(await loadOrMakeKey(dataDir))
    expect(await readdir(dataDir)).toEqual(['vault.key'])
  })

  it.each([0o640, 0o604, 0o644, 0o660, 0o620, 0o610])('is refused when others may use it: %p', async (mode) => {
    const key = await loadOrMakeKey(dataDir)
    await chmod(path, mode)
    await expect(loadOrMakeKey(dataDir)).rejects.toThrow(/can be read by other users .* chmod 600 '/)
    await chmod(path, 0o600)
    expect(await loadOrMakeKey(dataDir)).toBe(key)
  })

  it.each(['', 'a', `a:${randomBytes(8).toString('base64')}`])(
    'is refused and left alone when it holds no key: %p',
    async (text) => {
      await loadOrMakeKey(dataDir)
      await writeFile(path, text)
      await expect(loadOrMakeKey(dataDir)).rejects.toThrow('does not hold a vault key')
      expect(await readFile(path, 'utf8')).toBe(text)
    },
  )
})

/** The key, asked for after so many other questions to the disk. */
async function keyAfter(questions: number, folder: string): Promise<string> {
  for (let nth = 0; nth < questions; nth++) await stat(tmpdir())
  return loadOrMakeKey(folder)
}

/** Starts a process and gives, once it is ready, the way to let it go. */
async function anotherProcess(dataDir: string): Promise<() => Promise<string>> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--import', './service/launch/typescript.mjs', fileURLToPath(new URL('./load-key.ts', import.meta.url)), dataDir],
    { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = child.stdout.setEncoding('utf8')
  let output = ''
  lines.on('data', (text: string) => (output += text))
  await once(lines, 'data')
  return async () => {
    child.stdin.end()
    await once(child, 'close')
    return output.replace('ready\n', '')
  }
}
