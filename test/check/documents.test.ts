import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** Guides that name files of the code: a name that is gone leads a newcomer nowhere. */
const GUIDES = ['docs/ARCHITECTURE.md', 'CONTRIBUTING.md', ...readmes('service')]

/** What a reader of the repository opens. */
const PAGES = ['README.md', 'SECURITY.md', ...GUIDES, ...filesIn('docs', '.md')].filter(isFirst)

test('every file and link that a guide names is there', () => {
  expect(GUIDES.flatMap(missingIn)).toEqual([])
})

test('every test that a page names is there', () => {
  expect(PAGES.flatMap(missingTestsIn)).toEqual([])
})

test('docs has the pictures that a page shows, at most 15, and no others', () => {
  const shown = PAGES.flatMap((page) => linksIn(page).map((link) => path.join(path.dirname(page), link)))
  const pictures = [...filesIn('docs', '.png'), ...filesIn('docs', '.svg')]
  expect(pictures.filter((picture) => !shown.includes(picture))).toEqual([])
  expect(pictures.length).toBeLessThanOrEqual(15)
})

test('every file that a guide of a folder names without a path is in that folder', () => {
  const missing = readmes('service').flatMap((guide) => {
    const here = new Set(
      readdirSync(path.join(root, path.dirname(guide)), { recursive: true, encoding: 'utf8' }).map((file) =>
        path.basename(file),
      ),
    )
    const named = [...textOf(guide).matchAll(/`([\w.-]+\.(?:tsx?|mjs|prisma))`/g)].map(([, file = '']) => file)
    return named.filter((file) => !here.has(file)).map((file) => `${guide}: ${file}`)
  })
  expect(missing).toEqual([])
})

function missingIn(guide: string): string[] {
  const folder = path.dirname(guide)
  const links = linksIn(guide).map((link) => [path.join(folder, link)])
  const named = [...textOf(guide).matchAll(/`([\w.-]+\/[\w./-]+\.(?:ts|tsx|mjs|md|prisma))`/g)].map(([, file = '']) =>
    ['', 'service', folder].map((at) => path.join(at, file)),
  )
  return [...links, ...named]
    .filter((places) => !places.some((place) => existsSync(path.join(root, place))))
    .map((places) => `${guide}: ${places.at(-1) ?? ''}`)
}

/** A name may be a folder, or the beginning of a file's, as Jest takes it. */
function missingTestsIn(page: string): string[] {
  const named = textOf(page).matchAll(/(?<![\w/.-])test\/[\w./-]*\w/g)
  return [...named].flatMap(([name]) => {
    const [folder, start] = [path.join(root, path.dirname(name)), path.basename(name)]
    const isThere = existsSync(folder) && readdirSync(folder).some((file) => file.startsWith(start))
    return isThere ? [] : [`${page}: ${name}`]
  })
}

function linksIn(page: string): string[] {
  return [...textOf(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link)
}

function textOf(page: string): string {
  return readFileSync(path.join(root, page), 'utf8')
}

function readmes(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(root, folder, entry.name, 'README.md')))
    .map(({ name }) => `${folder}/${name}/README.md`)
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name))
}

function isFirst(page: string, place: number, all: readonly string[]): boolean {
  return all.indexOf(page) === place
}
