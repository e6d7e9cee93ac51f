import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import ts from 'typescript'

const root = path.resolve(import.meta.dirname, '../..')

/** A seller installs the middleware as one bundle: whatever it imports runs in the seller's own server. */
test('the middleware contains its own packages only, and no client of a model or a database', () => {
  const found = reachedFrom('service/paywall/middleware/index.ts')
  expect([...found.packages].sort()).toEqual(['gpt-tokenizer', 'viem', 'zod'])
  expect([...found.files].filter((file) => /^service\/(marketplace|database|queue|outbound)\//.test(file))).toEqual([])
})

/** Follows the imports that are left once types are removed. */
function reachedFrom(entry: string): { files: Set<string>; packages: Set<string> } {
  const [files, packages] = [new Set([entry]), new Set<string>()]
  for (const file of files) {
    for (const from of importsOf(file)) {
      if (from.startsWith('.')) files.add(path.join(path.dirname(file), from))
      else if (!isBuiltin(from)) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from)
    }
  }
  return { files, packages }
}

function importsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
      found.push(textOf(node.moduleSpecifier))
    if (ts.isExportDeclaration(node) && !node.isTypeOnly && node.moduleSpecifier !== undefined)
      found.push(textOf(node.moduleSpecifier))
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      for (const argument of node.arguments) found.push(textOf(argument))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteral(node) ? node.text : ''
}
