import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Coinslot } from '../../service/client/coinslot.ts'
import { eventIn } from '../../service/client/cli/listen.ts'
import { until } from '../harness/until.ts'
import { installed } from './sandbox.ts'

const KEY = `csk_test_${'s'.repeat(43)}`
const ESCAPES = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eevil'
// oxlint-disable-next-line no-control-regex -- these are what must not be printed
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** A server that answers what it likes, and what it must not get by that. */
describe('against a hostile server', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-hostile-'))
  const requests: IncomingMessage[] = []
  let project: string
  let server: Server
  let other: Server
  let url: string
  let otherUrl: string
  let answer: (response: ServerResponse, request: IncomingMessage) => void
  beforeAll(async () => {
    project = await installed(folder)
    server = createServer((request, response) => {
      requests.push(request)
      answer(response, request)
    }).listen(0, '127.0.0.1')
    other = createServer((request, response) => {
      requests.push(request)
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await Promise.all([once(server, 'listening'), once(other, 'listening')])
    const at = (of: Server): string => `http://127.0.0.1:${String((of.address() as AddressInfo).port)}`
    url = at(server)
    otherUrl = at(other)
  })
  afterAll(() => {
    for (const each of [server, other]) {
      each.closeAllConnections()
      each.close()
    }
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    requests.length = 0
  })

  const json =
    (body: unknown, status = 200, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

  const environment = () => ({
    PATH: `${path.join(project, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    ...{ HOME: folder, COINSLOT_KEY: KEY, COINSLOT_URL: url },
  })

  async function cli(words: string[], more: Record<string, string> = {}) {
    const ended = promisify(execFile)('coinslot', words, { env: { ...environment(), ...more } })
    return await ended.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    )
  }

  /** What a person sees: `script` gives the command a terminal. */
  async function atTerminal(words: string[]): Promise<string> {
    const typed = ['coinslot', ...words].join(' ')
    return (await promisify(execFile)('script', ['-qec', typed, '/dev/null'], { env: environment() })).stdout
  }

  test('a pipe gets the very bytes that a paid address or a run answered, a terminal none of their escape sequences', async () => {
    const bytes = Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x9b])
    const answered = { status: 200, headers: {}, body: bytes.toString('base64'), encoding: 'base64' }
    answer = json({ response: answered, payment: null })
    const words = ['pay', 'https://seller.example/', '--max', '0.05']
    const { stdout } = await promisify(execFile)('coinslot', words, { env: environment(), encoding: 'buffer' })
    expect(stdout).toEqual(bytes)
    expect((await atTerminal(words)).replaceAll('\r', '')).not.toMatch(CONTROLS)
    answer = json({ success: true, runId: 'run_1', output: ESCAPES, cost: 0 })
    expect((await cli(['run', 'x'])).stdout).toBe(`${ESCAPES}\n`)
    expect((await atTerminal(['run', 'x'])).replaceAll('\r', '')).not.toMatch(CONTROLS)
  })

  test('names and errors do not reach the terminal as escape sequences, or as lines of their own', async () => {
    const item = { id: 'chk_1', status: 'open', price: 1, product: { name: `${ESCAPES}\nchk_2  open  99  forged` } }
    answer = json({ checkouts: [item], total: 1 })
    for (const words of [
      ['checkouts', 'list'],
      ['checkouts', 'list', '--json'],
    ]) {
      const shown = (await atTerminal(words)).trim()
      expect([CONTROLS.exec(shown.replaceAll('\r', '')), shown.split('\n').length]).toEqual([null, 1])
    }
    const { stdout: piped } = await cli(['checkouts', 'list', '--json'])
    expect(JSON.parse(piped)).toEqual(item)
    const refusal = { error: ESCAPES, code: `x${ESCAPES}`, details: { [`price${ESCAPES}`]: ESCAPES } }
    answer = json(refusal, 400, { link: '</errors/x>; rel="help"' })
    for (const words of [
      ['checkouts', 'list'],
      ['checkouts', 'list', '--json'],
      ['tools', 'call', 'x'],
    ]) {
      const { code, stderr } = await cli(words)
      expect([code, CONTROLS.exec(stderr)]).toEqual([1, null])
    }
  })

  test('a redirect is not followed, so the key stays with its server', async () => {
    answer = (response) => void response.writeHead(307, { location: `${otherUrl}/v1/checkouts` }).end()
    const { code, stdout, stderr } = await cli(['checkouts', 'list'])
    expect([code, requests.every(({ headers }) => headers.host === new URL(url).host)]).toEqual([1, true])
    expect(stdout + stderr).not.toContain(KEY)
  }, 60_000)

  test('the stored key is for the server that it was stored for', async () => {
    answer = json({ userId: 'usr_1', environment: 'sandbox' })
    const config = path.join(folder, 'stored')
    // A folder that others may read changes nothing.
    mkdirSync(path.join(config, 'coinslot'), { recursive: true, mode: 0o755 })
    expect((await cli(['login'], { XDG_CONFIG_HOME: config })).stdout).toBe('Signed in as usr_1 (sandbox).\n')
    expect(statSync(path.join(config, 'coinslot/config.json')).mode & 0o777).toBe(0o600)
    answer = json({ checkouts: [], total: 0 })
    const own = await cli(['checkouts', 'list'], { XDG_CONFIG_HOME: config, COINSLOT_KEY: '' })
    expect([own.code, requests.at(-1)?.headers.authorization]).toEqual([0, `Bearer ${KEY}`])
    requests.length = 0
    const elsewhere = { XDG_CONFIG_HOME: config, COINSLOT_KEY: '', COINSLOT_URL: otherUrl }
    const { code, stderr } = await cli(['checkouts', 'list'], elsewhere)
    const sentence = `The stored key is for ${url}, so it is not sent to ${otherUrl}. Run coinslot login --url ${otherUrl}, or set COINSLOT_KEY.\n`
    expect([code, stderr, requests]).toEqual([2, sentence, []])
    // The same host without encryption, or at another port, is another server.
    for (const COINSLOT_URL of [url.replace('http:', 'https:'), `${url}0`]) {
      expect(await cli(['checkouts', 'list'], { ...elsewhere, COINSLOT_URL })).toMatchObject({ code: 2 })
    }
  })

  test('an endless answer ends the call with answer_too_large', async () => {
    const piece = Buffer.alloc(1_000_000, ' ')
    answer = (response) => {
      const write = (): void => {
        while (response.write(piece)) if (response.destroyed) return
      }
      response.on('drain', write)
      write()
    }
    const client = new Coinslot({ key: KEY, baseUrl: url })
    await expect(client.payments.get('pay_1')).rejects.toMatchObject({ code: 'answer_too_large' })
    // A stream whose event never ends.
    await expect(client.runs.wait('run_1')).rejects.toMatchObject({ code: 'answer_too_large' })
  }, 120_000)

  test('an invalid list is an error with a sentence', async () => {
    answer = json({ items: 'none' })
    const { code, stderr } = await cli(['checkouts', 'list'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('The answer is no list.')])
  })

  test.each(['file:///etc/passwd', 'ftp://localhost/x', 'http://name:word@localhost:1/', 'http://', 'javascript://x'])(
    '%s is no address to forward to',
    async (address) => {
      const { code, stderr } = await cli(['listen', '--forward-to', address])
      expect([code, stderr, requests]).toEqual([2, expect.stringContaining('--forward-to must be an address'), []])
    },
  )

  test('the local program gets no host, no cookie and no credentials of the server’s choice', async () => {
    const headers = { host: 'admin.internal', cookie: 'a=b', authorization: 'Basic eDp5', 'webhook-id': 'dlv_1' }
    const endpoint = { id: 'whe_1', url: 'listen:laptop' }
    answer = (response, { url: path = '', method }) => {
      if (path.endsWith('/events') && method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(
          `event: delivery\ndata: ${JSON.stringify({ id: `dlv${ESCAPES}`, headers, body: 'no JSON' })}\n\n`,
        )
      } else json({ webhookEndpoints: [endpoint], total: 1, webhookEndpoint: endpoint, secret: 'whsec_x' })(response)
    }
    const address = new URL('/hook', otherUrl)
    const environment = { ...process.env, HOME: folder, COINSLOT_KEY: KEY, COINSLOT_URL: url }
    const bin = path.join(project, 'node_modules/.bin/coinslot')
    const listening = spawn(bin, ['listen', '--name', 'laptop', '--forward-to', address.href], { env: environment })
    try {
      const [line] = (await once(listening.stdout.setEncoding('utf8'), 'data')) as [string]
      expect(line).toMatch(/^200 .* ms\n$/)
      expect(line).not.toMatch(CONTROLS)
      const forwarded = requests.filter(({ url: path }) => path === '/hook')
      expect(forwarded).toHaveLength(1)
      expect(forwarded[0]!.headers).toMatchObject({ host: address.host, 'webhook-id': 'dlv_1' })
      for (const name of ['cookie', 'authorization']) expect(forwarded[0]!.headers).not.toHaveProperty(name)
    } finally {
      const exited = once(listening, 'exit')
      listening.kill('SIGKILL')
      await exited
    }
  })

  test('an event that is no JSON has no fields, and is handled', () => {
    expect(eventIn('{"event":"run.completed"}')).toEqual({ event: 'run.completed' })
    for (const body of ['', 'not json', 'null', '5']) expect(eventIn(body)['event']).toBeUndefined()
  })

  test('a page to sign in at that is no page is not opened', async () => {
    const opened = path.join(folder, 'opened')
    const bin = path.join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(path.join(bin, 'xdg-open'), `#!/bin/sh\necho "$@" >> ${opened}\n`, { mode: 0o755 })
    const { openPage } = await import('../../service/client/cli/terminal.ts')
    const before = process.env['PATH']
    process.env['PATH'] = `${bin}:${before ?? ''}`
    try {
      for (const address of ['--help', 'file:///etc/passwd', 'javascript:alert(1)', 'ms-settings:x', '']) {
        expect([address, await openPage(address)]).toEqual([address, false])
      }
      expect(await openPage('https://example.com/')).toBe(true)
      // The program that opens pages goes on by itself.
      await until(() => existsSync(opened) && readFileSync(opened, 'utf8') === 'https://example.com/\n')
    } finally {
      process.env['PATH'] = before
    }
  })
})
