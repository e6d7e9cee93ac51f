import eslint from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { house } from './eslint.rules.mjs'

/**
 * Who may open a connection of his own. Each has a reason that the guarded client cannot serve; a new line
 * here is a decision.
 */
const MAY_CALL_OUT = [
  'service/outbound/**', // the guarded client itself
  'service/chain/endpoint.ts', // the RPC addresses are the operator's own
  'service/paywall/middleware/**', // runs in other people's servers, which name the facilitator and the RPC themselves
  'service/pages/browser/**', // runs in the customer's browser, which lets it ask nobody but its own service
  'service/dashboard/browser/**', // the same, for whoever is signed in
]

const SERVICE = ['service/**/*.{ts,tsx}']
const NODES = ['nodes/**/*.ts', 'credentials/**/*.ts']
const TESTS = ['test/**/*.ts']

export default defineConfig(
  globalIgnores(['**/dist/', 'service/database/generated/', '.build/', '.coinslot/', 'coverage/']),
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
      // A union that grows must break every switch over it; a written `default` says that it was thought of.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // An import that is only a type draws a weaker arrow: the dependency check tells the two apart.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      // Numbers and bigints read in a sentence as they are; everything else has to be turned into text by name.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `_next` says that a signature had to be met.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Taste: a record is an interface in one file and a type in another, wherever it reads better.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // It believes that a `let` changed by a callback keeps its value, and that `record[key] ??= …` always finds
      // one: obeying it would take away checks that are needed.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Objects here are closures whose methods use no `this`; from the shape of an interface it cannot tell.
      '@typescript-eslint/unbound-method': 'off',
      // `return await this.release()` ends a branch in one line; that nothing comes back harms nobody.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `async` without `await` is how a port's implementation keeps its promise to fail by rejecting.
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
  // Whoever starts one of these sits at a terminal: there the console is the interface.
  { files: ['service/main.ts', 'service/cli/**'], rules: { 'no-console': 'off' } },
  { files: MAY_CALL_OUT, rules: { 'house/guarded-calls': 'off' } },
  { files: ['service/**/rules.ts', 'service/**/rules/*.ts'], rules: { 'house/pure-rules': 'error' } },
  {
    files: NODES,
    rules: { 'no-console': 'error', 'house/environment': 'error', 'house/guarded-calls': 'error' },
  },
  {
    files: TESTS,
    rules: {
      'house/whole-tests': 'error',
      // An answer is what came over the wire: a test looks into it field by field, and fails where it guessed wrong.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      // A wrong guess fails the very test that made it.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, false])),
    },
  },
  { files: ['**/*.cjs', 'gulpfile.js'], languageOptions: { sourceType: 'commonjs' } },
)
