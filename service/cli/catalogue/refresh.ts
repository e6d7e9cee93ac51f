import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parse, validate } from '@readme/openapi-parser'
import { compacted } from '../../openapi/compact.ts'
import { SHIPPED, shippedFile, type Shipped } from '../../openapi/shipped.ts'

/**
 * Takes the documents that come with the service from their npm packages again, at the versions that
 * `service/openapi/shipped.ts` names. For developers: the outcome is committed.
 */
export async function refresh(names: readonly string[]): Promise<number> {
  const wanted = SHIPPED.filter(({ slug }) => names.length === 0 || names.includes(slug))
  const folder = await mkdtemp(path.join(tmpdir(), 'coinslot-documents-'))
  try {
    const unpacked = new Map<string, string>()
    for (const shipped of wanted) {
      const name = `${shipped.package}@${shipped.version}`
      const where = unpacked.get(name) ?? (await unpack(name, folder, unpacked.size))
      unpacked.set(name, where)
      const text = JSON.stringify(compacted(await readDocument(shipped, where)))
      const bytes = await promisify(gzip)(text, { level: 9 })
      await writeFile(shippedFile(shipped.slug), bytes)
      console.log(`${shipped.slug}: ${String(text.length)} characters, ${String(bytes.length)} bytes, of ${name}`)
    }
    return wanted.length === 0 ? 2 : 0
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The package's files as they were published; nothing of it is installed or run. */
async function unpack(name: string, folder: string, nth: number): Promise<string> {
  const run = promisify(execFile)
  const { stdout } = await run('npm', ['pack', name, '--silent', '--ignore-scripts', '--pack-destination', folder])
  const where = path.join(folder, String(nth))
  await run('mkdir', [where])
  await run('tar', ['-xzf', path.join(folder, stdout.trim()), '-C', where])
  return path.join(where, 'package')
}

async function readDocument(
  { slug, file, licence }: Shipped,
  where: string,
): Promise<Readonly<Record<string, unknown>>> {
  const whole = path.join(where, file)
  const options = { resolve: { external: false, file: true } }
  const checked = await validate(whole, options)
  if (!checked.valid) throw new Error(`${slug} is not valid: ${checked.errors[0]?.message ?? ''}`)
  const document = (await parse(whole, options)) as unknown as Readonly<Record<string, unknown>>
  await assertLicence(document, where, licence)
  return document
}

/** What may be passed on can change from one version to the next. */
async function assertLicence(document: object, where: string, licence: Shipped['licence']): Promise<void> {
  const { info } = document as { info?: { license?: { name?: string } } }
  const { license } = JSON.parse(await readFile(path.join(where, 'package.json'), 'utf8')) as { license?: string }
  const declared = info?.license?.name ?? license ?? ''
  if (!LICENCES[licence].test(declared)) throw new Error(`${where} is licensed as "${declared}", not ${licence}`)
}

const LICENCES = { MIT: /\bMIT\b/, 'Apache-2.0': /Apache(-|\s)?(License,? )?(Version )?2/i }
