import { SOURCE_FILE_PATTERNS, analyzePackage } from '@n8n/scan-community-package/scanner/scanner.mjs'

// `node scan.mjs source|packed <folder>`: the rules of n8n's scanner, which by itself takes only what npm has already.
const PATTERNS = { source: SOURCE_FILE_PATTERNS, packed: ['**/*.js', 'package.json'] }
const [kind, folder] = process.argv.slice(2)
const { passed, message, details } = await analyzePackage(folder, PATTERNS[kind])
if (!passed) {
  process.stdout.write(`${message}\n${details ?? ''}\n`)
  process.exitCode = 1
}
