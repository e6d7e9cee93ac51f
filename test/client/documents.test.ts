import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { linesOf, type Runnable } from '../../service/dashboard/browser/pages/marketplace/lines.ts'
import { blocksOf } from './blocks.ts'
import { startSandbox, type Sandbox } from './sandbox.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The guides whose blocks run in a sandbox, with the first field of each answer. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'charging.md': ['checkout', 'shown', 'request'],
  'chat.md': ['checkout'],
  'disputes.md': ['dispute'],
  'embedding.md': ['checkout'],
  'paywall.md': ['paywall', 'x402Version'],
  'plans.md': ['checkout'],
  'prices.md': ['checkout', 'quote', 'coupon', 'quote'],
}

/**
 * By the tests of README, CLI, client and packages; or by nobody here, since they need Docker, a real deployment, other
 * people's servers, or take hours.
 */
const RUN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['../README.md', 'cli.md', 'sdk.md', 'python.md', 'n8n/README.md'],
  ...['going-live.md', 'operating.md', 'scale.md'],
])

function guidesIn(folder: string): string[] {
  return readdirSync(path.join(root, 'docs', folder)).filter((name) => name.endsWith('.md'))
}

describe('the published client', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(() => sandbox.close())

  test('is built without tests, sources and dependencies, and its core weighs at most 15 KB', async () => {
    const installed = path.join(sandbox.project, 'node_modules/coinslot')
    const { stdout } = await run('find', [installed, '-type', 'f', '-printf', '%P\n'])
    const modules = ['coinslot', 'errors', 'list', 'request', 'stream', 'webhooks']
    const commands = ['commands', 'completion', 'device', 'listen', 'logs', 'main', 'open', 'settings', 'terminal'].map(
      (name) => `cli/${name}`,
    )
    const files = [...modules, ...commands].flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
    expect(stdout.trim().split('\n').sort()).toEqual(['dist/api.d.ts', 'dist/api.js', 'package.json', ...files].sort())
    const described = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'))
    expect([described.dependencies, described.peerDependencies]).toEqual([undefined, undefined])
    const core = modules.map((name) => readFileSync(path.join(installed, `dist/${name}.js`)))
    expect(gzipSync(Buffer.concat(core)).length).toBeLessThan(15_000)
    for (const each of core) expect(each.toString()).not.toMatch(/from 'node:|\bBuffer\b|\bprocess\b/)
  })

  test('type-checks, as documented, under every way of resolving modules', async () => {
    const files = [...blocksOf('sdk.md', 'ts'), ...blocksOf('../README.md', 'ts')].map((block, place) => {
      const file = path.join(sandbox.project, `example-${String(place)}.mts`)
      writeFileSync(file, block)
      return file
    })
    symlinkSync(path.join(root, 'node_modules/@types'), path.join(sandbox.project, 'node_modules/@types'))
    symlinkSync(path.join(root, 'node_modules/undici-types'), path.join(sandbox.project, 'node_modules/undici-types'))
    expect(files).toHaveLength(4)
    const tsc = path.join(root, 'node_modules/typescript-7/lib/tsc.js')
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', 'node']
    for (const way of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      const checked = await run(process.execPath, [tsc, ...options, ...way, ...files], { cwd: sandbox.project }).then(
        () => '',
        (error: unknown) => (error as { stdout: string }).stdout,
      )
      expect([way, checked]).toEqual([way, ''])
    }
  })

  test('sells, runs and calls as docs/sdk.md prints it', async () => {
    const [first, second] = blocksOf('sdk.md', 'ts')
    expect((await script(first)).split('\n')).toEqual([
      expect.stringContaining('/p/chk_'),
      expect.stringMatching(/^pay_\w+ 0\.5 (paid|created|settling)$/),
    ])
    expect((await script(second)).split('\n')).toEqual([
      expect.stringMatching(/^succeeded 0\.\d+$/),
      expect.stringMatching(/^[a-z0-9-]+$/),
      'object',
    ])
  })

  async function script(block: string | undefined): Promise<string> {
    const file = path.join(sandbox.project, 'script.mjs')
    writeFileSync(file, block ?? '')
    const { stdout } = await run(process.execPath, [file], { cwd: sandbox.project, env: sandbox.environment })
    return stdout.trim()
  }

  test('the first paid workflow of README.md sells in TypeScript and on the command line, as printed', async () => {
    const [block] = blocksOf('../README.md', 'ts')
    expect(await script(block)).toMatch(/^http\S+\/p\/chk_\w+$/)
    const [commands] = blocksOf('../README.md', 'bash')
    const { stdout } = await run('bash', ['-euc', commands ?? ''], { env: sandbox.environment })
    const [created = '', ...listed] = stdout.trim().split('\n')
    expect(created).toMatch(/^chk_\w+ {2}http.*\/p\/chk_/)
    expect(listed).toContainEqual(expect.stringMatching(/^chk_\w+ .* 0\.5 {2}SEO audit$/))
    const paid = await asDemo('/v1/payments?product=checkout')
    expect(paid).toMatchObject({
      payments: expect.arrayContaining([expect.objectContaining({ state: 'paid', amount: 0.5 })]),
    })
  })

  test('and by curl, with the following runs and tools', async () => {
    const blocks = blocksOf('../README.md', 'sh').filter((block) => block.includes('curl '))
    expect(blocks).toHaveLength(3)
    const environment = { ...sandbox.environment, API: `${sandbox.url}/v1` }
    const outputs: string[] = []
    for (const block of blocks) {
      // The port alone is another one.
      const commands = block.replaceAll('http://localhost:4020', sandbox.url)
      outputs.push((await run('sh', ['-euc', commands], { env: environment, maxBuffer: 10_000_000 })).stdout)
    }
    expect(JSON.parse(outputs[0]!)).toMatchObject({ checkout: { url: expect.stringContaining('/p/chk_') } })
    expect(outputs[1]).toMatch(/"cost":0\.02/)
    expect(outputs[2]).toContain('github-issues-create')
    expect(outputs[2]).not.toContain('"error"')
    expect(await asDemo('/v1/runs')).toMatchObject({
      runs: expect.arrayContaining([
        expect.objectContaining({ rdaSlug: 'blog-outline', status: 'succeeded', cost: 0.02 }),
      ]),
    })
  })

  test.each(Object.keys(GUIDES))('every shell block of %s works in its order, as printed', async (guide) => {
    const payment = await sell()
    const names = { API: `${sandbox.url}/v1`, CHK: payment.checkoutId, PAYMENT: payment.id, TOKEN: payment.token }
    const blocks = blocksOf(guide, 'sh').map((block) => block.replaceAll('http://localhost:4020', sandbox.url))
    const { stdout } = await run('sh', ['-euc', blocks.join('\necho\n')], { env: { ...sandbox.environment, ...names } })
    const answers = stdout
      .trim()
      .replaceAll(/\}\n*(?=\{)/g, '}\n')
      .split('\n')
    expect(answers.map((answer) => Object.keys(JSON.parse(answer) as object)[0])).toEqual(GUIDES[guide])
  })

  test('every shell block of the guides is run by a test, or listed as not runnable in a sandbox', () => {
    const guides = [...guidesIn('.'), ...guidesIn('n8n').map((name) => `n8n/${name}`), '../README.md']
    const unknown = guides.filter(
      (guide) => blocksOf(guide, 'sh').length > 0 && !(guide in GUIDES) && !RUN_ELSEWHERE.has(guide),
    )
    expect(unknown).toEqual([])
    for (const guide of guides)
      expect([guide, blocksOf(guide, 'sh').filter((block) => /\$KEY\b/.test(block))]).toEqual([guide, []])
  })

  test('the pages for sellers name the limit of stock clients', () => {
    for (const page of ['../README.md', 'charging.md', 'paywall.md'])
      expect(readFileSync(path.join(root, 'docs', page), 'utf8')).toContain("maxAmountPerPayment: '$5'")
  })

  async function sell(): Promise<{ id: string; token: string; checkoutId: string }> {
    const headers = { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' }
    const post = async (at: string, body: object) => {
      const response = await fetch(`${sandbox.url}/v1/checkouts${at}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await response.json()) as {
        checkout: { id: string }
        payment: { id: string; token: string; checkoutId: string }
      }
    }
    const product = { callbackUrl: `${sandbox.url}/demo/echo`, product: { name: 'SEO audit' } }
    const { checkout } = await post('', { ...product, price: 0.5, network: 'base-sepolia', testMode: true })
    return (await post(`/${checkout.id}/test-payment`, { input: {} })).payment
  }

  test('runs an asset by the lines of its page in the marketplace, as printed', async () => {
    const input = encodeURIComponent(JSON.stringify({ id: 'blog-outline' }))
    const shown = (await asDemo(`/trpc/market.get?input=${input}`)) as { result: { data: Runnable } }
    const lines = linesOf(shown.result.data, `${sandbox.url}/v1`)
    expect(lines.map(({ label }) => label)).toEqual(['n8n', 'curl', 'TypeScript', 'Python'])
    const [, curl, typescript] = lines.map(({ source }) => source)
    const { stdout } = await run('bash', ['-euc', curl ?? ''], { env: sandbox.environment })
    expect(JSON.parse(stdout)).toMatchObject({ success: true, cost: 0.02 })
    expect(await script(typescript)).toMatch(/success: true/)
  })

  async function asDemo(at: string): Promise<unknown> {
    const response = await fetch(sandbox.url + at, { headers: { authorization: `Bearer ${sandbox.key}` } })
    return await response.json()
  }

  test('does the same on the command line as docs/cli.md prints it', async () => {
    const [commands] = blocksOf('cli.md', 'sh')
    const { stdout } = await run('sh', ['-euc', commands ?? ''], { env: sandbox.environment })
    const lines = stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^Signed in as usr_\w+ \(sandbox\)\.$/)
    expect(lines[1]).toMatch(/^chk_\w+ {2}http.*\/p\/chk_/)
    expect(lines[2]).toMatch(/^chk_\w+ .* 0\.5 {2}SEO audit$/)
    expect(stdout).toMatch(/^github-issues-create {2}/m)
    expect(JSON.parse(lines.at(-1)!)).toEqual(expect.any(Object))
  })

  test('completes commands, options and events in a shell', async () => {
    const after = async (line: string): Promise<string[]> => {
      const script = `source <(coinslot completion bash); COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _coinslot
        printf '%s\\n' "\${COMPREPLY[@]}"`
      return (await run('bash', ['-euc', script], { env: sandbox.environment })).stdout.trim().split('\n')
    }
    expect(await after(`coinslot to`)).toEqual(['tools'])
    expect(await after(`coinslot tools ''`)).toEqual(['call', 'search'])
    expect(await after(`coinslot pay https://example.com --m`)).toEqual(['--max', '--method'])
    expect(await after(`coinslot pay https://example.com --max 1 --m`)).toEqual(['--method'])
    expect(await after(`coinslot trigger payment.c`)).toEqual(['payment.completed'])
    expect(await after(`coinslot --json li`)).toEqual(['listen'])
    expect(await after(`coinslot logs --f`)).toEqual(['--follow'])
    expect(await after(`coinslot login --d`)).toEqual(['--device'])
    expect(await after(`coinslot open d`)).toEqual(['dashboard', 'docs', 'disputes'])
    for (const shell of ['zsh', 'fish']) {
      const { stdout } = await run('coinslot', ['completion', shell], { env: sandbox.environment })
      expect(stdout).toContain('coinslot completion words -- ')
    }
    await expect(run('coinslot', ['completion', 'tcsh'], { env: sandbox.environment })).rejects.toMatchObject({
      code: 2,
    })
  })

  test('shows how a command is written, and its version', async () => {
    const outputOf = async (...words: string[]) => (await run('coinslot', words, { env: sandbox.environment })).stdout
    expect(await outputOf('listen', '--help')).toMatch(/^Usage: coinslot listen --forward-to .*\n$/)
    expect(await outputOf('tools', 'call', '-h')).toMatch(/^Usage: coinslot tools call <tool> .*\n$/)
    expect(await outputOf('--help')).toBe(await outputOf('help'))
    const { version } = JSON.parse(readFileSync('service/client/package.json', 'utf8')) as { version: string }
    expect(await outputOf('--version')).toBe(`${version}\n`)
    const wrong = (...words: string[]) => run('coinslot', words, { env: sandbox.environment })
    await expect(wrong('tools')).rejects.toMatchObject({
      code: 2,
      stderr: 'Write one of: tools search, tools call. See coinslot help.\n',
    })
    // The only field is named once.
    await expect(wrong('checkouts', 'list', '--limit', '0')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^limit: [^\n]*\nHelp: \S+\n$/),
    })
  })

  test('ends with the documented exit codes', async () => {
    const codeOf = (words: string[], more: Record<string, string> = {}) =>
      run('coinslot', words, { env: { ...sandbox.environment, ...more } }).then(
        () => 0,
        (error: unknown) => (error as { code: number }).code,
      )
    expect(await codeOf(['help'])).toBe(0)
    expect(await codeOf(['tools', 'call', 'no-such-tool'])).toBe(1)
    await expect(
      run('coinslot', ['tools', 'call', 'no-such-tool'], { env: sandbox.environment }),
    ).rejects.toMatchObject({
      stderr: expect.stringMatching(/\nHelp: http:\/\/\S+\/errors\/tool_not_found\n$/),
    })
    expect(await codeOf(['pay', 'https://example.com'])).toBe(2)
    expect(await codeOf(['checkouts', 'list'], { COINSLOT_KEY: `csk_test_${'x'.repeat(43)}` })).toBe(3)
    expect(await codeOf(['run', 'blog-outline', 'topic=x', 'audience=practitioners', '--max-cost', '0'])).toBe(4)
    const issue = ['tools', 'call', 'github-issues-create', 'owner=octocat', 'repo=hello', 'title=x']
    expect(await codeOf([...issue, '--max-cost', '0'])).toBe(4)
  })
})
