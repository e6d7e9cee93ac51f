/** Everything under test/ runs as native ES modules; swc only strips the types, `npm run check` reads them. */
export default {
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(chaos|bench|conformance)/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  // Starting a server takes a second, and on a busy machine ten.
  testTimeout: 30_000,
  maxWorkers: 2,
}
