import { readFileSync } from 'node:fs'
import path from 'node:path'
import { missingPlatforms } from '../../service/launch/complete-lock.mjs'

test('the lock file describes every platform, or `npm ci` refuses it: run service/launch/complete-lock.mjs', () => {
  const lock = readFileSync(path.resolve(import.meta.dirname, '../../package-lock.json'), 'utf8')
  expect(missingPlatforms(JSON.parse(lock))).toEqual([])
})

test('missingPlatforms names a platform that a lock file lacks', () => {
  const packages = {
    'node_modules/a': { optionalDependencies: { 'a-linux-x64': '1.0.0', 'a-darwin-arm64': '1.0.0' }, dev: true },
    'node_modules/a/node_modules/a-linux-x64': { version: '1.0.0' },
  }
  expect(missingPlatforms({ packages })).toEqual([{ name: 'a-darwin-arm64', version: '1.0.0', dev: true }])
})
