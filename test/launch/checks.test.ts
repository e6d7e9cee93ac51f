import { STEPS, stepsFor } from '../../service/launch/checks.mjs'

const names = (files: string[], there = files): string[] => stepsFor(files, there).map(({ name }) => name)

describe('the checks of changed files', () => {
  test('are lint and format of these files, and the types, directions and unused code of all', () => {
    const files = ['service/kit/text.ts', 'test/kit/line.test.ts']
    expect(names(files)).toEqual(
      expect.arrayContaining([
        ...['directions', 'unused code', 'licences', 'size', 'lint', 'format'],
        ...['types of service', 'types of test', 'types of dashboard', 'types of pages'],
      ]),
    )
    const lint = stepsFor(files, files).find(({ name }) => name === 'lint')
    expect(lint?.run).toEqual(expect.arrayContaining(files))
  })

  test('include the types that a removed file was part of', () => {
    const left = names(['service/kit/text.ts'], [])
    expect(left).toEqual(expect.arrayContaining(['types of service', 'types of test', 'directions', 'unused code']))
    expect(left).not.toContain('lint')
    expect(left).not.toContain('format')
  })

  test('are lint and format alone for documents', () => {
    expect(names(['docs/operating.md'])).toEqual(['lint', 'format'])
  })

  test('are none without a change', () => {
    expect(names([])).toEqual([])
  })

  test.each([
    '.oxlintrc.jsonc',
    'oxlint.rules.mjs',
    '.dependency-cruiser.cjs',
    '.prettierignore',
    'knip.jsonc',
    'test/tsconfig.json',
    'tsconfig.base.json',
    'service/package.json',
    'package-lock.json',
    'prisma/schema/ledger.prisma',
    'prisma.config.ts',
    'service/launch/checks.mjs',
  ])('are all checks where %s decides how the others end', (file) => {
    expect(stepsFor([file, 'service/kit/text.ts'], [file])).toBe(STEPS)
  })
})
