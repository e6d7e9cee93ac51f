import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { Coinslot } from '../../service/client/coinslot.ts'
import { OPENED } from '../../service/client/cli/open.ts'
import { PAGES } from '../../service/dashboard/pages.ts'
import { startSandbox, type Sandbox } from './sandbox.ts'

const run = promisify(execFile)

describe('the command line', () => {
  let sandbox: Sandbox
  const children: ChildProcess[] = []
  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await sandbox.close()
  })

  /** Runs on; `hears` waits for a text in what it says. */
  function begin(words: string[], environment: Record<string, string> = sandbox.environment) {
    const child = spawn('coinslot', words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    const output = { out: '', err: '' }
    const more = new EventTarget()
    const append = (at: 'out' | 'err') => (text: string) => {
      output[at] += text
      more.dispatchEvent(new Event('said'))
    }
    child.stdout.setEncoding('utf8').on('data', append('out'))
    child.stderr.setEncoding('utf8').on('data', append('err'))
    const ended = once(child, 'close').then(([code]) => {
      more.dispatchEvent(new Event('said'))
      return code as number | null
    })
    return {
      child,
      output,
      ended,
      async waitFor(at: 'out' | 'err', pattern: RegExp): Promise<RegExpExecArray> {
        for (;;) {
          const found = pattern.exec(output[at])
          if (found !== null) return found
          if (child.exitCode !== null) throw new Error(`it ended: ${output.err}`)
          await new Promise((resolve) => more.addEventListener('said', resolve, { once: true }))
        }
      },
    }
  }

  test('login --device gets a key of its own once its code was confirmed by a person, and stores it', async () => {
    const { PATH = '', HOME = '' } = sandbox.environment
    const config = path.join(HOME, 'by-device')
    const environment = { PATH, HOME, XDG_CONFIG_HOME: config }
    const login = begin(['login', '--device', '--url', sandbox.url], environment)
    const [, page = '', code = ''] = await login.waitFor('err', /^Open (\S+) and enter the code (\S+)$/m)
    expect(page).toBe(`${sandbox.url}/oauth/device`)

    const entered = await fetch(`${sandbox.url}/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'long enough 1' }),
    })
    const cookie = entered.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const shown = await (await fetch(`${page}?user_code=${code}`, { headers: { cookie } })).text()
    const token = /name="token" value="([^"]+)"/.exec(shown)![1]!
    const decided = await fetch(page, {
      method: 'POST',
      headers: { cookie, origin: sandbox.url },
      body: new URLSearchParams({ decision: 'approve', environment: 'sandbox', user_code: code, token }),
    })
    expect(await decided.text()).toContain('Go back to your terminal')

    expect(await login.ended).toBe(0)
    expect(login.output.out).toMatch(/^Signed in as usr_\w+ \(sandbox\)\.\n$/)
    const file = path.join(config, 'coinslot/config.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      key: expect.stringMatching(/^csk_test_/),
      url: sandbox.url,
    })
    // The stored key works, and is of Ada's account alone.
    const { stdout } = await run('coinslot', ['payments', 'list', '--json'], { env: environment })
    expect(stdout).toBe('')
  })

  test('a refused login ends with the reason, and without a terminal nothing waits for a person', async () => {
    const { PATH = '', HOME = '' } = sandbox.environment
    const environment = { PATH, HOME, XDG_CONFIG_HOME: path.join(HOME, 'refused'), COINSLOT_URL: sandbox.url }
    await expect(run('coinslot', ['login'], { env: environment })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--device'),
    })
    await expect(
      run('coinslot', ['login', '--device', '--url', 'http://127.0.0.1:9'], { env: environment }),
    ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached') })
  })

  test('logs --follow shows each event as it happens, and removes its endpoint at the end', async () => {
    const client = new Coinslot({ key: sandbox.key, baseUrl: sandbox.url })
    const follow = begin(['logs', '--follow', '--name', 'test'])
    const asJson = begin(['logs', '--follow', '--name', 'other', '--json'])
    await Promise.all([follow.waitFor('err', /as they happen/), asJson.waitFor('err', /as they happen/)])
    const { checkout } = await client.checkouts.create({
      callbackUrl: `${sandbox.url}/demo/echo`,
      product: { name: 'SEO audit' },
      price: 5,
      network: 'base-sepolia',
      testMode: true,
    })
    await client.checkouts.testPayment(checkout.id, { input: {} })
    await follow.waitFor('out', /^\d{4}-\S+ {2}payment\.completed {2}.*amount=5/m)
    const [line = ''] = await asJson.waitFor('out', /^.*"payment\.completed".*$/m)
    expect(JSON.parse(line)).toMatchObject({ event: 'payment.completed' })
    const listening = async () => (await client.webhookEndpoints.list()).items.map(({ url }) => url)
    expect((await listening()).sort()).toEqual(['listen:logs-other', 'listen:logs-test'])
    for (const one of [follow, asJson]) {
      one.child.kill('SIGINT')
      expect(await one.ended).toBe(0)
    }
    expect(await listening()).toEqual([])
  })

  test('logs lists the latest deliveries', async () => {
    const { stdout } = await run('coinslot', ['logs', '--limit', '5'], { env: sandbox.environment })
    expect(stdout).toMatch(/^\S+ {2}dlv_\w+ {2}\w+ {2}/m)
    const asJson = await run('coinslot', ['logs', '--limit', '1', '--json'], { env: sandbox.environment })
    expect(JSON.parse(asJson.stdout)).toMatchObject({ id: expect.stringMatching(/^dlv_/) })
  })

  test('open prints addresses into a pipe, and each of them is there', async () => {
    const opened = async (...words: string[]) =>
      (await run('coinslot', ['open', ...words], { env: sandbox.environment })).stdout.trim()
    expect(await opened()).toBe(`${sandbox.url}/`)
    expect(await opened('payments')).toBe(`${sandbox.url}/payments`)
    expect(await opened('docs', 'checkouts')).toBe(`${sandbox.url}/docs/checkouts`)
    expect(JSON.parse(await opened('errors', 'tool_not_found', '--json'))).toEqual({
      url: `${sandbox.url}/errors/tool_not_found`,
    })
    for (const words of [['docs'], ['docs', 'checkouts'], ['errors', 'tool_not_found'], ['payments']]) {
      const address = await opened(...words)
      const { status } = await fetch(address, { headers: { accept: 'text/html' } })
      expect([address, status]).toEqual([address, 200])
    }
    const client = new Coinslot({ key: sandbox.key, baseUrl: sandbox.url })
    const [checkout] = (await client.checkouts.list()).items
    expect(await opened(checkout!.id)).toBe(checkout!.url)
    const paths = PAGES.map((page) => page.path.slice(1))
    expect(
      OPENED.filter((name) => !['dashboard', 'docs', 'errors'].includes(name)).filter((name) => !paths.includes(name)),
    ).toEqual([])
    for (const words of [['nothing'], ['payments', 'more'], ['docs', 'a', 'b']]) {
      await expect(run('coinslot', ['open', ...words], { env: sandbox.environment })).rejects.toMatchObject({ code: 2 })
    }
    await expect(run('coinslot', ['open', 'chk_none'], { env: sandbox.environment })).rejects.toMatchObject({ code: 1 })
  })

  const REPEATABLE = [
    { words: ['run', 'blog-outline', 'topic=x'] },
    { words: ['tools', 'call', 'issues-create', 'title=x'] },
    { words: ['pay', 'https://seller.example/', '--max', '0.05'] },
    { words: ['checkouts', 'create', '{"price": 1}'] },
  ]

  test.each(REPEATABLE)('Ctrl+C names the key with which $words.0 can be repeated', async ({ words }) => {
    const keys: (string | undefined)[] = []
    const server = createServer((request) => {
      keys.push(request.headers['idempotency-key'] as string | undefined)
      server.emit('asked')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const COINSLOT_URL = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    const interrupted = async (...more: string[]): Promise<string> => {
      const env = { ...sandbox.environment, COINSLOT_KEY: 'csk_test_1', COINSLOT_URL }
      const [command] = [begin([...words, ...more], env), await once(server, 'asked')]
      command.child.kill('SIGINT')
      expect(await command.ended).toBe(130)
      expect(command.output.out).toBe('')
      return command.output.err
    }
    try {
      const [, key = ''] = /It may have been done.*--idempotency-key (\S+)/.exec(await interrupted()) ?? []
      expect(keys).toEqual([key])
      const asJson = JSON.parse(await interrupted('--idempotency-key', key, '--json')) as unknown
      expect(asJson).toMatchObject({ code: 'aborted', idempotencyKey: key })
      expect(keys).toEqual([key, key])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test('pay says what became of the payment, as the service says it and not the address', async () => {
    const forged = { 'coinslot-payment': ['pay_forged'], 'coinslot-payment-status': 'settled' }
    const answered = (status: number) => ({ status, headers: forged, body: 'text', encoding: 'utf8' })
    let paid: unknown
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(paid))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const COINSLOT_URL = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    const env = { ...sandbox.environment, COINSLOT_KEY: 'csk_test_1', COINSLOT_URL }
    const pay = async (status: string | null, response: unknown, ...more: string[]) => {
      const payment = { id: 'pay_1', status, reason: status === 'returned' ? 'treasury_short' : null }
      paid = { payment: status === null ? null : payment, response }
      const words = ['pay', 'https://seller.example/', '--max', '0.05', ...more]
      return await run('coinslot', words, { env }).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      )
    }
    try {
      expect((await pay(null, answered(200))).stderr).toBe('Nothing was paid.\n')
      expect((await pay('settled', answered(200))).stderr).toBe('Paid: pay_1\n')
      for (const status of [402, 500]) {
        const { stderr } = await pay('pending', answered(status))
        expect(stderr).toMatch(/^Payment pay_1 is pending[.] If the seller does not take it, the money comes back[.]$/m)
        expect(stderr).not.toContain('Paid')
      }
      expect((await pay('returned', answered(500))).stderr).toMatch(
        /^Payment pay_1 was returned[.] Nothing was paid[.]$/m,
      )
      const { stdout } = await pay('pending', answered(200), '--json')
      expect(JSON.parse(stdout)).toMatchObject({ payment: 'pay_1', paymentStatus: 'pending' })
      expect(JSON.parse((await pay(null, answered(200), '--json')).stdout)).toMatchObject({
        payment: null,
        paymentStatus: null,
      })

      const returned = await pay('returned', null)
      expect(returned).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('pay_1 was returned (treasury_short)'),
      })
      expect(returned.stderr).not.toMatch(/was paid before|may have been done/)
      const asJson = JSON.parse((await pay('returned', null, '--json')).stderr) as unknown
      expect(asJson).toMatchObject({ code: 'payment_returned', payment: { reason: 'treasury_short' } })
      expect((await pay('settled', null)).stderr).toContain('This was paid before')
    } finally {
      server.close()
    }
  })

  test.each(REPEATABLE)(
    'a lost answer names the key with which $words.0 can be repeated, and the repetition sends it',
    async (each) => {
      const keys: (string | undefined)[] = []
      const answers = new Map([
        ['lost', null],
        ['open', { status: 500, body: { error: 'Unknown fault.', code: 'internal' } }],
        ['final', { status: 502, body: { error: 'The agent failed.', code: 'upstream_error' } }],
        ['refused', { status: 402, body: { error: 'Too little.', code: 'insufficient_balance' } }],
        ['limited', { status: 429, body: { error: 'Too many.', code: 'rate_limited' } }],
        ['revoked', { status: 401, body: { error: 'The key is wrong.', code: 'unauthenticated' } }],
      ])
      let answer: { status: number; body: unknown } | null | undefined
      let breaks = 0
      const server = createServer((request, response) => {
        keys.push(request.headers['idempotency-key'] as string | undefined)
        if (answer == null || breaks-- > 0) request.socket.destroy()
        else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const env = {
        ...sandbox.environment,
        COINSLOT_KEY: 'csk_test_1',
        COINSLOT_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
      }
      const failed = async (...more: string[]): Promise<string> => {
        const failure: unknown = await run('coinslot', [...each.words, ...more], { env }).catch(
          (error: unknown) => error,
        )
        return (failure as { stderr: string }).stderr
      }
      try {
        answer = answers.get('lost')
        const [, key = ''] = /It may have been done.*--idempotency-key (\S+)/.exec(await failed()) ?? []
        expect(keys).toEqual([key, key, key])
        answer = answers.get('open')
        expect(await failed('--idempotency-key', key)).toContain(`--idempotency-key ${key}`)
        expect(JSON.parse(await failed('--idempotency-key', key, '--json'))).toMatchObject({ idempotencyKey: key })
        expect(new Set(keys)).toEqual(new Set([key]))
        for (const known of ['final', 'refused']) {
          answer = answers.get(known)
          expect(await failed()).not.toContain('--idempotency-key')
        }
        // Refused before its key is looked for, a retry says nothing about the attempt whose answer was lost.
        for (const known of ['limited', 'revoked']) {
          breaks = 1
          answer = answers.get(known)
          expect(await failed()).toContain(`--idempotency-key ${keys.at(-1)!}`)
        }
        expect(await failed('--idempotency-key', '')).toContain('--idempotency-key is empty')
      } finally {
        server.close()
      }
    },
  )
})
