import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { linted } from './linted.ts'
import { OFFENDERS, SCRIPT_OFFENDERS } from './offenders.ts'

/** What the folders differ in: a line, and where it is refused and allowed. */
const FOLDERS = [
  {
    rule: 'house/guarded-calls',
    code: "export const x = fetch('https://example.org')",
    refused: ['service/a/a.ts', 'nodes/A/A.ts'],
    allowed: ['service/outbound/a.ts', 'service/chain/endpoint.ts', 'service/client/a.ts'],
  },
  {
    rule: 'house/environment',
    code: "export const x = process.env['HOME']",
    refused: ['service/a/b.ts', 'nodes/A/B.ts', 'service/cli/a.ts'],
    allowed: ['service/cli/setup.ts', 'service/client/cli/main.ts'],
  },
  {
    rule: 'no-console',
    code: "console.log('x')",
    refused: ['service/a/c.ts', 'nodes/A/C.ts'],
    allowed: ['service/cli/a/a.ts', 'service/main.ts', 'test/a/c.ts'],
  },
  {
    rule: 'house/pure-rules',
    code: 'export const x = Date.now()',
    refused: ['service/a/rules.ts', 'service/a/rules/a.ts'],
    allowed: ['service/a/service.ts'],
  },
  {
    rule: 'house/flat-literals',
    code: 'export const x = { ...{ a: 1 }, b: 2 }',
    refused: ['service/a/d.ts', 'nodes/A/D.ts'],
    allowed: ['test/a/d.ts'],
  },
  {
    rule: 'house/linear-patterns',
    code: 'export const x = /a+$/',
    refused: ['service/a/e.tsx', 'credentials/E.ts'],
    allowed: ['test/a/e.ts'],
  },
  {
    rule: 'house/whole-tests',
    code: "it.only('adds', () => undefined)",
    refused: ['test/a/f.test.ts', 'test/chaos/f.test.ts'],
    allowed: ['service/a/f.ts'],
  },
  {
    rule: 'house/steady-tests',
    code: 'export const x = Math.random()',
    refused: ['test/a/g.ts', 'test/a/g.test.ts'],
    allowed: ['test/a/g.timed.test.ts', 'test/chaos/g.ts', 'test/queue/outbox.test.ts', 'service/a/g.ts'],
  },
  {
    rule: 'typescript/no-non-null-assertion',
    code: 'export const f = (x: number | null): number => x!',
    refused: ['service/a/h.ts', 'credentials/H.ts'],
    allowed: ['test/a/h.ts'],
  },
  {
    rule: 'typescript/no-unsafe-assignment',
    code: "export const x = JSON.parse('1')",
    refused: ['service/a/i.ts', 'nodes/A/I.ts'],
    allowed: ['test/a/i.ts'],
  },
  {
    rule: 'typescript/no-unsafe-member-access',
    code: "export const x: unknown = JSON.parse('1').a",
    refused: ['service/a/j.ts'],
    allowed: ['test/a/j.ts'],
  },
  {
    rule: 'typescript/restrict-template-expressions',
    code: "export const x = `${JSON.parse('1')}`",
    refused: ['service/a/k.ts'],
    allowed: ['test/a/k.ts'],
  },
  {
    rule: 'typescript/no-floating-promises',
    code: 'Promise.resolve(1)',
    refused: ['service/a/l.ts', 'service/a/l.tsx', 'nodes/A/L.ts', 'credentials/L.ts', 'test/a/l.ts'],
    allowed: [],
  },
] as const

/** What the options decide: lines that each rule refuses and allows. */
const OPTIONS: Readonly<Record<string, { allowed: readonly string[]; refused: readonly string[] }>> = {
  eqeqeq: {
    allowed: ['export const f = (x: unknown): boolean => x == null'],
    refused: ['export const f = (x: unknown): boolean => x == 1'],
  },
  'max-params': {
    allowed: ['export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d'],
    refused: ['export const f = (a: number, b: number, c: number, d: number, e: number): number => a + b + c + d + e'],
  },
  'max-lines-per-function': {
    allowed: [`export function f(): void {\n${'  g()\n\n  // why\n'.repeat(98)}}\ndeclare function g(): void`],
    refused: [`export function f(): void {\n${'  g()\n'.repeat(99)}}\ndeclare function g(): void`],
  },
  'no-unused-vars': {
    allowed: ['export const f = (_a: number): number => 1'],
    refused: ['export const f = (a: number): number => 1', 'const _a = 1'],
  },
  'typescript/ban-ts-comment': {
    allowed: ['// @ts-expect-error -- it is a number\nexport const x: string = 1'],
    refused: ['// @ts-expect-error -- why\nexport const x: string = 1'],
  },
  'typescript/restrict-template-expressions': {
    allowed: ['export const f = (x: number, y: bigint, z: string): string => `${x}${y}${z}`'],
    refused: ['boolean', 'string | undefined', 'string | null', 'RegExp', 'string[]'].map(
      (type) => `export const f = (x: ${type}): string => \`\${x}\``,
    ),
  },
  'typescript/restrict-plus-operands': {
    allowed: ['export const f = (x: bigint, y: bigint): bigint => x + y'],
    refused: ['number', 'boolean', 'null', 'RegExp'].map((type) => `export const f = (x: ${type}): string => 'a' + x`),
  },
  'typescript/return-await': {
    allowed: ['declare function g(): Promise<void>\nexport const f = async (): Promise<void> => g()'],
    refused: [
      'declare function g(): Promise<void>\nexport async function f(): Promise<void> { try { return g() } catch {} }',
    ],
  },
  'typescript/switch-exhaustiveness-check': {
    allowed: ["export function f(x: 'a' | 'b'): number { switch (x) { case 'a': return 1; default: return 2 } }"],
    refused: ["export function f(x: 'a' | 'b'): void { switch (x) { case 'a': return } }"],
  },
  'typescript/no-misused-promises': {
    allowed: ['export const f = (x: number[]): void => { x.forEach((y) => { void Promise.resolve(y) }) }'],
    refused: [
      'export const f = (x: number[]): void => { x.forEach(async () => { await Promise.resolve() }) }',
      'declare function g(): Promise<object>\nexport const f = (): object => ({ ...g() })',
    ],
  },
}

/** Not planted: as a module, and as TypeScript, such a file is refused before any rule reads it. */
const REFUSED_BY_THE_PARSER = ['no-nonoctal-decimal-escape', 'no-with']

const NEEDLESS = {
  'service/needless/a.ts': '// oxlint-disable-next-line no-console -- why\nexport const x = 1',
  'service/needless/b.ts': '// oxlint-disable-next-line typescript/no-floating-promises -- why\nexport const x = 1',
}

describe('npm run check', () => {
  const files: Record<string, string> = { ...NEEDLESS }
  const plant = (file: string, code: string): string => {
    files[file] = code
    return file
  }
  const offenders = [
    ...Object.entries(OFFENDERS).map(([rule, code]) => ({ rule, file: plant(`service/offenders/${rule}.ts`, code) })),
    ...Object.entries(SCRIPT_OFFENDERS).map(([rule, code]) => ({
      rule,
      file: plant(`service/scripts/${rule}.mjs`, code),
    })),
  ]
  const folders = FOLDERS.flatMap(({ rule, code, ...judged }) =>
    (['allowed', 'refused'] as const).flatMap((verdict) =>
      judged[verdict].map((file) => ({ rule, verdict, file: plant(file, code) })),
    ),
  )
  const options = Object.entries(OPTIONS).flatMap(([rule, judged]) =>
    (['allowed', 'refused'] as const).flatMap((verdict) =>
      judged[verdict].map((code, place) => ({
        ...{ rule, verdict },
        file: plant(`service/options/${rule}/${verdict}-${String(place)}.ts`, code),
      })),
    ),
  )
  plant('service/types/a.ts', 'export const x: string = 1')

  let refusals: Map<string, string[]>
  beforeAll(async () => {
    refusals = await linted(files)
  })

  it.each(offenders)('refuses code that violates $rule', ({ rule, file }) => {
    expect(refusals.get(file)).toContain(rule)
  })

  it('has a line here for each of its rules', async () => {
    const config = await readFile(path.resolve(import.meta.dirname, '../../.oxlintrc.jsonc'), 'utf8')
    const configured = new Set(
      [...config.matchAll(/^ +"([\w/-]+)": (?:\[?"error"|\[\n +"error")/gm)].map(([, rule]) => rule),
    )
    const tried = [...Object.keys({ ...OFFENDERS, ...SCRIPT_OFFENDERS }), ...REFUSED_BY_THE_PARSER]
    configured.delete('reportUnusedDisableDirectives')
    // The project's own have a file of theirs.
    const foreign = [...configured].filter((rule) => rule?.startsWith('house/') === false)
    expect(foreign.sort()).toEqual(tried.sort())
  })

  it.each(folders)('has $rule $verdict in $file', ({ rule, verdict, file }) => {
    expect((refusals.get(file) ?? []).includes(rule)).toBe(verdict === 'refused')
  })

  it.each(options)('has $rule $verdict in $file', ({ rule, verdict, file }) => {
    expect((refusals.get(file) ?? []).includes(rule)).toBe(verdict === 'refused')
  })

  it.each(Object.keys(NEEDLESS))('refuses a comment that switches nothing off: %s', (file) => {
    expect(refusals.get(file)).toEqual([expect.stringContaining('Unused')])
  })

  it('refuses a wrong type', () => {
    expect(refusals.get('service/types/a.ts')).toEqual(['typescript/TS2322'])
  })
})
