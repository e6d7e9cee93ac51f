/** Everything under test/ runs as native ES modules (runner.mjs); swc only strips the types, `npm run check` reads them. */
export default {
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
  testRunner: '<rootDir>/test/harness/runner.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/harness/setup.ts'],
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/(chaos|bench|conformance|n8n)/',
    // What a clock decides is proved by `npm run prove -- timed`, what takes long by `npm run prove -- long`.
    '[.](timed|long)[.]test[.]ts$',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  // Its build for `import` is no module to Node; n8n itself loads the other one.
  moduleNameMapper: { '^n8n-workflow$': '<rootDir>/node_modules/n8n-workflow/dist/cjs/index.js' },
  // Starting a server takes a second, and on a busy machine twenty; a test may start two and look at them for a while.
  testTimeout: 180_000,
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/harness/sequencer.mjs',
  // What n8n loads is loaded for each of its files, and stays.
  workerIdleMemoryLimit: '2GB',
}
