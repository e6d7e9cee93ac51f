import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { emptyDatabase } from '../harness/database.ts'
import { Terminal } from './terminal.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CLEARED = '\u001b[2J\u001b[3J\u001b[H'

describe('npm run setup in a terminal', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-questions-'))
  const open: Terminal[] = []
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.close()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function setup(file: string, ...words: string[]): Terminal {
    const program = ['--import', './service/launch/typescript.mjs', 'service/cli/setup.ts', '--file', file, ...words]
    // An empty variable answers no question.
    const terminal = new Terminal([process.execPath, ...program], { PORT: '' })
    open.push(terminal)
    return terminal
  }

  test('repeats a question after a wrong answer, shows the phrase once, and writes the answers', async () => {
    const file = path.join(folder, 'answered.env')
    const database = await emptyDatabase()
    const terminal = setup(file)
    try {
      for (const [question, wrong, message, right] of [
        ['Address of the PostgreSQL database', 'db.internal', 'It must be', database.url],
        [
          'Address that the world reaches',
          'pay.example.com',
          'It must be an http or https address.',
          'http://127.0.0.1:1',
        ],
        ['Port to listen on', 'eighty', 'It must be a whole number', '4021'],
        ['Addresses of the proxies', null, null, ''],
        ['Take real money', 'yes', 'It must be true or false.', 'true'],
        ['RPC addresses of Base,', 'https://a.example,b', 'It must be an http or https address.', ''],
        ['RPC addresses of Base Sepolia', null, null, ''],
        ['Mail server', 'mail.example.com', 'It must be', 'smtp://127.0.0.1:1'],
        ['Sender of mails', '', 'It must be set with SMTP_URL.', "O'Neil <pay@example.com>"],
        ['Sender of mails', null, "It must have no quotation mark ' and no line break.", null],
        ['Sender of mails', null, null, 'Pay <pay@example.com>'],
        ['Address of an OpenAI-compatible API', null, null, ''],
        ['Its key', null, null, ''],
      ] as const) {
        if (right === null) {
          await terminal.waitFor(message)
          continue
        }
        await terminal.waitFor(question)
        await terminal.waitFor(': ')
        if (wrong !== null) {
          terminal.types(wrong)
          await terminal.waitFor(message)
          await terminal.waitFor(question)
          await terminal.waitFor(': ')
        }
        terminal.types(right)
      }
      await terminal.waitFor('Write these 24 words down.')
      const shown = await terminal.waitFor('Press Enter when you have written them down. ')
      const [phrase = ''] = /(?:\b[a-z]+ ){23}[a-z]+\b/.exec(shown) ?? []
      expect(phrase.split(' ')).toHaveLength(24)
      expect(existsSync(file)).toBe(false)
      terminal.types('')
      await terminal.waitFor(CLEARED)
      // Nothing listens at the address, so the doctor names a fault; all is written.
      expect(await terminal.ended()).toBe(1)
      const { rest } = terminal
      expect(rest).toContain('settings added, 0 kept.')
      expect(rest).toContain('database migrations: All are applied.')
      expect(rest).not.toContain(phrase)

      expect(statSync(file).mode & 0o777).toBe(0o600)
      const text = readFileSync(file, 'utf8')
      const settings = parseEnv(text) as Record<string, string>
      expect(text).not.toContain(phrase)
      expect(settings).toMatchObject({
        ...{ DATABASE_URL: database.url, PUBLIC_API_URL: 'http://127.0.0.1:1/v1', PORT: '4021', LIVE: 'true' },
        ...{ TRUST_PROXY: 'loopback', MAIL_FROM: 'Pay <pay@example.com>' },
      })
      expect(Object.keys(settings)).not.toContain('BASE_RPC_URLS')
      const sponsor = mnemonicToAccount(phrase, { accountIndex: 1 }).address
      expect(privateKeyToAccount(settings['SPONSOR_PRIVATE_KEYS'] as `0x${string}`).address).toBe(sponsor)
    } finally {
      await database.drop()
    }
  })

  test('a database that cannot be reached is named, and the keys stay for another try', async () => {
    const file = path.join(folder, 'unreached.env')
    const terminal = setup(file, '--database-url', 'postgres://nobody@127.0.0.1:1/none')
    for (const question of [
      'Address that',
      'Port',
      'proxies',
      'Take',
      'of Base,',
      'Sepolia',
      'Mail',
      'Sender',
      'API',
      'key',
    ]) {
      await terminal.waitFor(question)
      await terminal.waitFor(': ')
      terminal.types('')
    }
    await terminal.waitFor('Press Enter')
    terminal.types('')
    await terminal.waitFor('The database cannot be reached')
    await terminal.waitFor(`Correct DATABASE_URL in ${file} if it is wrong, and run npm run setup again.`)
    expect(await terminal.ended()).toBe(1)
    const before = readFileSync(file, 'utf8')
    expect(before).toContain('WALLET_XPRV=')

    const again = setup(file)
    await again.waitFor('exists. Keep it, and add what it lacks? (y/n) ')
    again.types('y')
    for (const question of ['Address that', 'of Base,', 'Sepolia', 'Mail', 'Sender', 'API', 'key']) {
      await again.waitFor(question)
      await again.waitFor(': ')
      again.types('')
    }
    expect(await again.ended()).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(again.screen).not.toContain('24 words')
  })

  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('%s at a question stops it, and nothing is written', async (_name, key) => {
    const file = path.join(folder, 'stopped.env')
    const terminal = setup(file)
    await terminal.waitFor('Address of the PostgreSQL database: ')
    terminal.types('')
    await terminal.waitFor('Address that the world reaches')
    await terminal.waitFor(': ')
    terminal.types(key, { enter: false })
    await terminal.waitFor('Setup was stopped. Nothing was written.')
    expect(await terminal.ended()).toBe(2)
    expect(existsSync(file)).toBe(false)
  })

  test('does not overwrite an existing file after a no', async () => {
    const file = path.join(folder, 'mine.env')
    writeFileSync(file, 'LIVE=false\n')
    const terminal = setup(file)
    await terminal.waitFor('(y/n) ')
    terminal.types('no')
    expect(await terminal.ended()).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe('LIVE=false\n')
  })
})
