import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

/*
 * Prints what is wrong with the types of a packed package, for each way in which a program may resolve it, as JSON:
 * `[]` when nothing is, and null when it has no types.
 */
const { types, problems } = await checkPackage(createPackageFromTarballData(readFileSync(process.argv[2])))
const found = (problems ?? []).map(({ kind, resolutionKind, entrypoint }) => ({ kind, resolutionKind, entrypoint }))
console.log(JSON.stringify(types === false ? null : found))
