import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** Guides that name files of the code: a name that is gone leads a newcomer nowhere. */
const GUIDES = ['docs/ARCHITECTURE.md', 'CONTRIBUTING.md', ...readmes('service')]

test('every file and link that a guide names is there', () => {
  expect(GUIDES.flatMap(missingIn)).toEqual([])
})

function missingIn(guide: string): string[] {
  const text = readFileSync(path.join(root, guide), 'utf8')
  const folder = path.dirname(guide)
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => [path.join(folder, link)])
  const named = [...text.matchAll(/`([\w.-]+\/[\w./-]+\.(?:ts|tsx|mjs|md|prisma))`/g)].map(([, file = '']) =>
    ['', 'service', folder].map((at) => path.join(at, file)),
  )
  return [...links, ...named]
    .filter((places) => !places.some((place) => existsSync(path.join(root, place))))
    .map((places) => `${guide}: ${places.at(-1) ?? ''}`)
}

function readmes(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(root, folder, entry.name, 'README.md')))
    .map(({ name }) => `${folder}/${name}/README.md`)
}
