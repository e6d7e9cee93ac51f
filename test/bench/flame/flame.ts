import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { flamePicture, type Profile } from './picture.ts'

/*
 * `npm run bench -- flame <folder> <picture.svg> <title> [skip]`: a flame graph of what a benchmark recorded with
 * `BENCH_PROFILE=<folder>`. `skip` is the part of the recording that is not drawn, from its beginning: the start.
 */

const [folder, picture, title, skip = '0.5'] = process.argv.slice(2)
const main = folder === undefined ? undefined : readdirSync(folder).find((name) => name.includes('.0.0'))
if (folder === undefined || picture === undefined || title === undefined || main === undefined) {
  process.stderr.write('Name a folder with a recording, the picture to make, and its title.\n')
  process.exitCode = 2
} else {
  const profile = JSON.parse(readFileSync(path.join(folder, main), 'utf8')) as Profile
  writeFileSync(picture, flamePicture(profile, title, Number(skip)))
}
