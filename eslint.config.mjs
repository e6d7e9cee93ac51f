import eslint from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { house } from './eslint.rules.mjs'

/**
 * The files that may open connections of their own. Each has a reason why the guarded client does not work for it. A
 * new line here is a decision.
 */
const MAY_CALL_OUT = [
  'service/outbound/**', // the guarded client itself
  'service/chain/endpoint.ts', // the RPC addresses are the operator's own
  'service/paywall/middleware/**', // runs in other people's servers, which configure both addresses
  'service/client/**', // runs in other people's programs, and takes to the addresses that they name
  'service/pages/browser/**', // runs in the customer's browser, which only lets it call its own service
  'service/dashboard/browser/**', // the same, for signed-in users
]

/**
 * Tests that measure time or memory, which the gate should not. A line goes when its file is mended; none comes.
 */
const UNSTEADY = [
  'test/database/{embedded.test,processes}.ts', // ends a wait
  'test/discovery/ranking.test.ts', // the longest part of a ranking
  'test/outbound/memory.ts', // the most that a hostile answer makes the client hold
  'test/queue/outbox.test.ts', // a lease from a long backlog
  'test/security/fuzz/wire.ts', // an answer must come in time
  'test/tools/catalogue-{hostile,swagger,tasks}.test.ts', // how a large document and a large catalogue are read
]

const SERVICE = ['service/**/*.{ts,tsx}']
const NODES = ['nodes/**/*.ts', 'credentials/**/*.ts']
const TESTS = ['test/**/*.ts']

export default defineConfig(
  globalIgnores([
    '**/dist/',
    'service/database/generated/',
    'service/client/api.ts',
    'service/api/reference/outputs.ts',
    '.build/',
    '.coinslot/',
    'coverage/',
  ]),
  eslint.configs.recommended,
  {
    plugins: { house },
    linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' },
    rules: { eqeqeq: ['error', 'always', { null: 'ignore' }], 'house/plain-names': 'error' },
  },
  {
    files: [...SERVICE, ...NODES, ...TESTS],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A new member of a union must break every switch over it. An explicit `default` shows that the author considered
      // it.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // A type-only import is a weaker dependency. The dependency check distinguishes the two.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      // Numbers and bigints may stand in a template as they are. Any other value must be converted explicitly.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `_next` shows that the parameter is only there because the signature requires it.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // A matter of taste: a record may be an interface in one file and a type in another.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // The rule assumes that a `let` changed by a callback keeps its value, and that `record[key] ??= …` always finds
      // one. Following it would remove checks that are needed.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Objects here are closures whose methods do not use `this`, which the rule cannot see from an interface.
      '@typescript-eslint/unbound-method': 'off',
      // `return await this.release()` ends a branch in one line. Returning nothing this way is harmless.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `async` without `await` makes a port's implementation fail by rejecting, as the port promises.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: SERVICE,
    rules: { 'no-console': 'error', 'house/environment': 'error', 'house/guarded-calls': 'error' },
  },
  { files: [...SERVICE, ...NODES], rules: { 'house/linear-patterns': 'error' } },
  {
    files: [...SERVICE, ...NODES],
    rules: {
      'max-params': ['error', 4],
      'max-lines-per-function': ['error', { max: 100, skipBlankLines: true, skipComments: true }],
      'house/flat-literals': 'error',
    },
  },
  // These files run in a terminal, so the console is their interface.
  { files: ['service/main.ts', 'service/cli/**'], rules: { 'no-console': 'off' } },
  { files: MAY_CALL_OUT, rules: { 'house/guarded-calls': 'off' } },
  // A program of its own, which no configuration of the service reaches.
  { files: ['service/client/cli/main.ts'], rules: { 'house/environment': 'off' } },
  // It writes the settings that the configuration is later read from, so each one may still be missing.
  { files: ['service/cli/setup.ts'], rules: { 'house/environment': 'off' } },
  { files: ['service/**/rules.ts', 'service/**/rules/*.ts'], rules: { 'house/pure-rules': 'error' } },
  {
    files: NODES,
    rules: { 'no-console': 'error', 'house/environment': 'error', 'house/guarded-calls': 'error' },
  },
  {
    files: TESTS,
    rules: {
      'house/whole-tests': 'error',
      // A response comes from the wire. A test reads it field by field, and fails when an assumption is wrong.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      // A wrong assumption makes the test that contains it fail.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: TESTS,
    // Proofs depend on chance and clocks.
    ignores: [
      ...['**/*.timed.test.ts', 'test/harness/{growth,request-growth}.ts'],
      ...['test/{bench,chaos,conformance,deploy,n8n,simulation}/**', ...UNSTEADY],
    ],
    rules: { 'house/steady-tests': 'error' },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, false])),
    },
  },
  { files: ['**/*.cjs', 'gulpfile.js'], languageOptions: { sourceType: 'commonjs' } },
)
