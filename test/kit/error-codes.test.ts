import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import ts from 'typescript'
import { ERROR_GROUPS, helpFor } from '../../service/kit/error-codes/catalogue.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** The sources that answer, or find errors, by file. */
const SOURCES = readdirSync(path.join(ROOT, 'service'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/node_modules|dist\/|\/browser\/|error-codes\//.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(ROOT, 'service', file), 'utf8') }))

describe('the catalogue of error codes', () => {
  test('has every code that an answer is made with', () => {
    const missing: string[] = []
    for (const { file, text } of SOURCES) {
      for (const code of codesIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest))) {
        if (helpFor(code) === null) missing.push(`${file}: ${code}`)
      }
    }
    expect(missing).toEqual([])
  })

  test('has no code that nothing makes', () => {
    const all = [...SOURCES.map(({ text }) => text), ...signInCodes().map((code) => `'${code}'`)].join('\n')
    const unused = ERROR_GROUPS.flatMap(({ title, codes }) => (title === REASONS ? [] : [...codes.keys()])).filter(
      (code) => !formsOf(code).some((form) => all.includes(form)),
    )
    expect(unused).toEqual([])
  })

  test('has each code once, with two complete sentences', () => {
    const codes = ERROR_GROUPS.flatMap((group) => [...group.codes])
    expect(new Set(codes.map(([code]) => code)).size).toBe(codes.length)
    for (const [code, { cause, cure }] of codes) {
      expect(code).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
      expect([code, cause]).toEqual([code, expect.stringMatching(/^[A-Z`].{10,}\.$/)])
      expect([code, cure]).toEqual([code, expect.stringMatching(/^[A-Z`].{5,}\.$/)])
    }
  })
})

describe('the codes of the sign-in', () => {
  test('are in the catalogue, those of its package too', () => {
    const own = SOURCES.filter(({ file }) => file.startsWith('identity/signin/')).flatMap(({ text }) =>
      [...text.matchAll(/\bcode: '([A-Z][A-Z_]*)'/g)].map(([, code = '']) => code),
    )
    expect(own.length).toBeGreaterThan(20)
    expect(own.filter((code) => helpFor(code.toLowerCase()) === null)).toEqual([])
    const packaged = signInCodes().filter((code) => !NOT_SERVED.has(code))
    expect(packaged.length).toBeGreaterThan(20)
    expect(packaged.filter((code) => helpFor(code) === null)).toEqual([])
  })
})

/** What the package's files can refuse with, in small letters as it is answered. */
function signInCodes(): string[] {
  const folder = path.dirname(createRequire(path.join(ROOT, 'service/main.ts')).resolve('better-auth'))
  const files = [
    ...['sign-up', 'sign-in', 'sign-out', 'session', 'update-user', 'password', 'email-verification'].map(
      (name) => `api/routes/${name}.mjs`,
    ),
    'api/middlewares/origin-check.mjs',
    'utils/password.mjs',
  ]
  const codes = files.flatMap((file) =>
    [...readFileSync(path.join(folder, file), 'utf8').matchAll(/(?:BASE_ERROR_CODES\.|\bcode: ")([A-Z][A-Z_]*)/g)].map(
      ([, code = '']) => code.toLowerCase(),
    ),
  )
  // The package that serves its routes, for a body of the wrong form.
  return [...new Set([...codes, 'validation_error'])]
}

/** Of endpoints and settings that the service does not use. */
const NOT_SERVED = new Set([
  'body_must_be_an_object',
  'change_email_disabled',
  'email_can_not_be_updated',
  'email_mismatch',
  'email_password_disabled',
  'email_password_sign_up_disabled',
  'failed_to_get_user_info',
  'id_token_not_supported',
  'internal_server_error',
  'invalid_error_callback_url',
  'invalid_new_user_callback_url',
  'method_not_allowed_defer_session_required',
  'oauth_link_error',
  'password_already_set',
  'reset_password_disabled',
  'session_expired',
  'user_email_not_found',
  'verification_email_not_enabled',
])

/** The reasons of `@x402/evm` are this catalogue's own list, and their users are typed by it. */
const REASONS = 'Reasons of refused payments'

/** A code as it may stand in a source: whole, or put together from its kind and the rest. */
function formsOf(code: string): readonly string[] {
  const [first = ''] = code.split('_')
  const rest = code.slice(first.length + 1)
  const built = ['agent', 'tool'].includes(first)
    ? [`'${rest}'`]
    : code.endsWith('_gas_budget_spent')
      ? [`}_${rest}\``]
      : []
  // The sign-in's package writes its codes in capitals.
  return [`'${code}'`, `"${code}"`, ` ${code}:`, `'${code.toUpperCase()}'`, ...built]
}

/** Literals that become the code of an answer: of `DomainError`, `invalid`, and objects with a sentence beside it. */
function codesIn(source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      const place = { DomainError: 1, ExecutionFailed: 0, SignatureError: 0 }[node.expression.text]
      if (place !== undefined) collect(node.arguments?.[place])
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'invalid') {
      collect(node.arguments[1])
    }
    if (ts.isObjectLiteralExpression(node)) {
      const fields = new Map(node.properties.map((field) => [field.name?.getText(source), field]))
      const code = fields.get('code')
      const beside = ['sentence', 'error', 'requestId', 'status', 'cause'].some((name) => fields.has(name))
      if (code !== undefined && ts.isPropertyAssignment(code) && beside) collect(code.initializer)
    }
    ts.forEachChild(node, visit)
  }
  const collect = (node: ts.Expression | undefined): void => {
    // The codes of Better Auth are in capitals: sign-in has a list of its own.
    if (node !== undefined && ts.isStringLiteral(node) && /^[a-z]/.test(node.text)) found.push(node.text)
  }
  visit(source)
  return found
}
