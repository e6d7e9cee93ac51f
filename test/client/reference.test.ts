import { execFile, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { referenceSamples, type ReferenceSample } from './reference.ts'
import { startSandbox, type Sandbox } from './sandbox.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

describe('the samples of the reference', () => {
  let sandbox: Sandbox
  let samples: readonly ReferenceSample[]
  let runnable: readonly ReferenceSample[]
  const here = (text: string): string => text.replaceAll('https://example.com', sandbox.url)
  beforeAll(async () => {
    sandbox = await startSandbox()
    samples = await referenceSamples(sandbox.url)
    // The reader's own server. Tests reach no names of the internet.
    runnable = samples.map((one) => ({ ...one, curl: here(one.curl), typescript: here(one.typescript) }))
  })
  afterAll(() => sandbox.close())

  test('show each operation in curl, TypeScript and Python', () => {
    expect(samples.length).toBeGreaterThan(150)
    for (const { name, curl, typescript, python } of samples) {
      expect([name, curl, typescript, python]).toEqual([
        name,
        expect.stringMatching(/^curl -s /),
        expect.stringMatching(/await (coinslot\.request|fetch)\(/),
        expect.stringMatching(/coinslot\.request\(|urlopen\(/),
      ])
    }
    const typed = samples.filter(({ typescript }) => typescript.includes('coinslot.request('))
    expect(typed.length).toBeGreaterThan(100)
  })

  test('type-check in TypeScript against the published client', async () => {
    const files = samples.map(({ typescript }, place) => {
      const file = path.join(sandbox.project, `reference-${String(place)}.mts`)
      writeFileSync(file, `${typescript}\nexport {}\n`)
      return file
    })
    symlinkSync(path.join(root, 'node_modules/@types'), path.join(sandbox.project, 'node_modules/@types'))
    symlinkSync(path.join(root, 'node_modules/undici-types'), path.join(sandbox.project, 'node_modules/undici-types'))
    const tsc = path.join(root, 'node_modules/typescript-7/lib/tsc.js')
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
    const check = (all: readonly string[]) =>
      run(process.execPath, [tsc, ...options, ...all], { cwd: sandbox.project }).then(
        () => '',
        (error: unknown) => (error as { stdout: string }).stdout,
      )
    expect(await check(files)).toBe('')
    // It has to find what is wrong, or its silence proves nothing.
    const wrong = path.join(sandbox.project, 'wrong.mts')
    writeFileSync(wrong, sampleOf('GET /v1/payments/{id}').typescript.replace('GET /v1/payments', 'GET /v1/paymnets'))
    expect(await check([wrong])).toContain('error TS')
  })

  test('run as they are printed, in a shell and in Node', async () => {
    for (const name of ['GET /v1/me', 'POST /v1/checkouts', 'GET /v1/payments', 'POST /v1/agents', 'GET /tools/']) {
      const { curl, typescript } = sampleOf(name)
      const inShell = await run('sh', ['-euc', curl], { env: sandbox.environment })
      const answer = JSON.parse(inShell.stdout) as Record<string, unknown>
      expect([name, answer['error']]).toEqual([name, undefined])
      const file = path.join(sandbox.project, 'sample.mjs')
      writeFileSync(file, typescript.replace('console.log(answer)', 'console.log(JSON.stringify(answer))'))
      const inNode = await run(process.execPath, [file], { cwd: sandbox.project, env: sandbox.environment })
      expect([name, Object.keys(JSON.parse(inNode.stdout) as object)]).toEqual([name, Object.keys(answer)])
    }
  })

  test('are refused by no endpoint for their form', async () => {
    const refused: string[] = []
    writeFileSync(path.join(sandbox.project, 'file'), 'A report.')
    for (const { name, curl } of runnable) {
      if (!/^(POST|PUT|PATCH) \/v1\//.test(name)) continue
      const { stdout } = await run('sh', ['-ec', curl], { cwd: sandbox.project, env: sandbox.environment })
      if (/"code":"(invalid|bad_request)/.test(stdout)) refused.push(`${name} ${stdout.slice(0, 300)}`)
    }
    expect(refused).toEqual([])
  })

  test('run with an id that is set, as they are printed', async () => {
    const created = await run('sh', ['-euc', sampleOf('POST /v1/checkouts').curl], { env: sandbox.environment })
    const { checkout } = JSON.parse(created.stdout) as { checkout: { id: string } }
    const { curl } = sampleOf('GET /v1/checkouts/{id}')
    const { stdout } = await run('sh', ['-euc', curl], { env: { ...sandbox.environment, ID: checkout.id } })
    expect(JSON.parse(stdout)).toMatchObject({ checkout: { id: checkout.id } })
  })

  test('of the procedures run as printed, and answer as described', async () => {
    const document = (await (await fetch(`${sandbox.url}/openapi-trpc.json`)).json()) as ProcedureDocument
    const procedures = await referenceSamples(sandbox.url, 'openapi-trpc')
    expect(procedures.length).toBeGreaterThan(100)
    const wrong: string[] = []
    let answered = 0
    const modules = startModules(sandbox)
    for (const { name, curl, typescript } of procedures) {
      const { stdout } = await run('sh', ['-euc', here(curl)], { env: sandbox.environment })
      const answer = JSON.parse(stdout) as { result?: unknown; error?: { data: { reason: string } } }
      // The samples of the API may have made the same before.
      const isThere = stdout.includes('is taken by another')
      if (!isThere && /^(invalid|bad_request)/.test(answer.error?.data.reason ?? ''))
        wrong.push(`${name} ${stdout.slice(0, 300)}`)
      const [method = '', address = ''] = name.split(' ')
      const described =
        document.paths[address]![method.toLowerCase()]!.responses['200'].content['application/json'].schema
      if (answer.result !== undefined) {
        answered++
        wrong.push(...differences(described, answer).map((difference) => `${name} ${difference}`))
      }
      // What is done cannot be done again; a query answers both the same.
      if (method !== 'GET') continue
      const [, status, body = ''] = /^(\d+) (.*)$/s.exec(await modules.run(typescript)) ?? []
      const { result } = JSON.parse(body) as { result?: object }
      expect([name, status === '200', result && shapeOf(result)]).toEqual([
        name,
        answer.result !== undefined,
        answer.result && shapeOf(answer.result),
      ])
    }
    modules.end()
    expect(wrong).toEqual([])
    expect(answered).toBeGreaterThan(40)
  })

  function sampleOf(name: string): ReferenceSample {
    const found = runnable.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${name} is not in the reference`)
    return found
  }
})

/**
 * One process of Node in the project, which runs one sample after the other as a module of its own: to start Node for each
 * takes longer than all samples.
 */
function startModules(sandbox: Sandbox): { run(source: string): Promise<string>; end(): void } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', RUN_EACH], {
    cwd: sandbox.project,
    env: sandbox.environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  const signal = new EventEmitter()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    signal.emit('heard')
  })
  child.once('close', () => signal.emit('heard'))
  let count = 0
  return {
    async run(source) {
      const file = path.join(sandbox.project, `procedure-${String(count++)}.mjs`)
      writeFileSync(file, source)
      output = ''
      child.stdin.write(`${file}\n`)
      while (!output.endsWith(END)) {
        if (child.exitCode !== null) throw new Error(`It ended at:\n${source}`)
        await once(signal, 'heard')
      }
      return output.slice(0, -END.length).trim()
    },
    end: () => child.stdin.end(),
  }
}

const END = '\0\n'
const RUN_EACH = `
import { createInterface } from 'node:readline'
for await (const file of createInterface({ input: process.stdin })) {
  await import(file)
  console.log('\\0')
}`

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
}

interface ProcedureDocument {
  paths: Record<string, Record<string, { responses: { 200: { content: { 'application/json': { schema: Schema } } } } }>>
}

/** Where a value is not what the schema says, and what the schema does not name. */
function differences(schema: Schema, value: unknown, at = ''): string[] {
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => differences(one, value, at))
    return each.some((found) => found.length === 0) ? [] : each[0]!
  }
  if (schema.const !== undefined) return schema.const === value ? [] : [`${at} is not ${JSON.stringify(schema.const)}`]
  if (schema.enum !== undefined) return schema.enum.includes(value) ? [] : [`${at} is none of the values`]
  if (schema.type === undefined) return []
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (kind !== schema.type) return [`${at} is ${kind}, not ${schema.type}`]
  if (Array.isArray(value)) return value.flatMap((one) => differences(schema.items ?? {}, one, `${at}[]`))
  if (kind !== 'object') return []
  const fields = value as Record<string, unknown>
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(fields, name))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...Object.entries(fields).flatMap(([name, one]) => {
      const inner = schema.properties?.[name] ?? schema.additionalProperties
      return inner === undefined ? [`${at}.${name} is not described`] : differences(inner, one, `${at}.${name}`)
    }),
  ]
}

function shapeOf(value: unknown): unknown {
  return value === null || typeof value !== 'object' ? typeof value : Object.keys(value)
}
