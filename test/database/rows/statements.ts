import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { HOLE, calledName, isOurs, textReader } from './texts.ts'

/** One call of `Statements.run`, with every text that it may send. */
export interface Statement {
  /** `service/ledger/store.ts:135` */
  place: string
  texts: string[]
  /** Under which a connection keeps it prepared; empty where it does not, or where the source does not say it. */
  names: string[]
  /** The type of its rows; null where nothing is read from them. */
  row: ts.Type | null
}

const service = path.join(import.meta.dirname, '../../../service')

/** All files that run SQL, and `planted` ones, which exist nowhere else. */
export function programOf(planted: Readonly<Record<string, string>>): ts.Program {
  const host: ts.ParseConfigFileHost = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined }
  const config = ts.getParsedCommandLineOfConfigFile(path.join(service, 'tsconfig.json'), {}, host)
  if (config === undefined) throw new Error('service/tsconfig.json cannot be read')
  const texts = new Map(Object.entries(planted).map(([name, text]) => [path.join(service, name), text]))
  const compiler = ts.createCompilerHost(config.options)
  const files = { ...compiler }
  files.fileExists = (name) => texts.has(name) || compiler.fileExists(name)
  files.readFile = (name) => texts.get(name) ?? compiler.readFile(name)
  files.getSourceFile = (name, options) => {
    const text = texts.get(name)
    return text === undefined ? compiler.getSourceFile(name, options) : ts.createSourceFile(name, text, options)
  }
  const stores = config.fileNames.filter((name) => /\.run[<(]/.test(readFileSync(name, 'utf8')))
  return ts.createProgram([...stores, ...texts.keys()], config.options, files)
}

export function findStatements(program: ts.Program): Statement[] {
  const checker = program.getTypeChecker()
  const textsOf = textReader(program)
  const found: Statement[] = []
  const look = (file: ts.SourceFile, node: ts.Node): void => {
    if (ts.isCallExpression(node) && calledName(node) === 'run' && runsSql(node)) {
      const [text, , name] = node.arguments
      const [row] = node.typeArguments ?? []
      found.push({
        place: placeOf(file, node),
        texts: text === undefined ? [] : textsOf(text).flatMap((one) => filled(one) ?? []),
        names: name === undefined ? [] : textsOf(name),
        row: row === undefined ? null : checker.getTypeFromTypeNode(row),
      })
    }
    ts.forEachChild(node, (child) => look(file, child))
  }
  for (const file of program.getSourceFiles()) if (isOurs(file)) look(file, file)
  return found

  function runsSql({ expression }: ts.CallExpression): boolean {
    const [declaration] = checker.getSymbolAtLocation(expression)?.declarations ?? []
    return (
      declaration !== undefined &&
      ts.isInterfaceDeclaration(declaration.parent) &&
      declaration.parent.name.text === 'Statements'
    )
  }
}

/** What only a running service knows has to be no column: any condition, number or nothing does in its place. */
function filled(text: string): string | null {
  const [head = '', ...pieces] = text.split(HOLE)
  if ([head, ...pieces].slice(0, -1).some((before) => AMONG_COLUMNS.test(before))) return null
  return pieces.reduce((before, after) => before + stopgap(before) + after, head)
}

const AMONG_COLUMNS = /(?:\b(?:select|returning|distinct)|,)\s*$/i

function stopgap(before: string): string {
  if (/\b(?:where|and|or|not)\s*\(?$/i.test(before)) return 'true'
  if (/\b(?:limit|offset|by)\s*$/i.test(before)) return '1'
  if (!before.endsWith('$')) return ''
  const places = [...before.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
  return String(1 + Math.max(0, ...places))
}

function placeOf(file: ts.SourceFile, node: ts.Node): string {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart())
  return `${path.relative(path.dirname(service), file.fileName)}:${String(line + 1)}`
}
