import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { METHODS } from '../../service/sales/model.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The last method that came, and every file that names it: who adds the next one begins here. */
const LAST = 'account'
const PLACES = [
  'prisma/schema/sales.prisma',
  'service/methods/account/settle.ts',
  'service/methods/registry.ts',
  'service/sales/model.ts',
  'service/sales/service/unsigned.ts',
  'service/sales/store/held.ts',
]

test(`the method ${LAST} is named in its folder, in the registry, and where its money differs`, () => {
  expect(METHODS).toContain(LAST)
  const files = ['service', 'prisma'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  const code = files.filter((file) => /\.(tsx?|prisma)$/.test(file) && !/\/(node_modules|dist|generated)\//.test(file))
  const named = new RegExp(
    `method(:| ===| =) '${LAST}'|^ +'${LAST}',$|${LAST}: ${LAST}Method\\(|^enum SaleMethod {[^}]*\\b${LAST}\\b`,
    'm',
  )
  const isIts = (file: string): boolean =>
    file.startsWith(`service/methods/${LAST}/`) || named.test(readFileSync(path.join(root, file), 'utf8'))
  const found = code.filter(isIts).sort()
  console.log(`to add a method: ${found.join(', ')}, and a migration`)
  expect(found).toEqual(PLACES)
})
