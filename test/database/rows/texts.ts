import ts from 'typescript'

/** Stands in a text for what only a running service knows: a page's size, a filter. */
export const HOLE = '\uE000'

/**
 * What an expression of the source can be as text, found without running it: constants, templates, choices, and
 * functions that put texts together, for each of their calls. Empty where it cannot be said.
 */
export function textReader(program: ts.Program): (expression: ts.Expression) => string[] {
  const checker = program.getTypeChecker()
  const calls = callsByName(program)
  return (expression) => texts(expression, { bound: new Map(), depth: 0 })

  function texts(node: ts.Expression, scope: Scope): string[] {
    return [...new Set(read(node, scope).flatMap((value) => (typeof value === 'string' ? [value] : [])))].slice(0, MOST)
  }

  function read(node: ts.Expression, outer: Scope): Value[] {
    if (outer.depth > 40) return []
    const scope = { ...outer, depth: outer.depth + 1 }
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [node.text]
    if (ts.isTemplateExpression(node)) return readTemplate(node, scope)
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
      return read(node.expression, scope)
    }
    if (ts.isConditionalExpression(node)) return [...read(node.whenTrue, scope), ...read(node.whenFalse, scope)]
    if (ts.isIdentifier(node)) return readName(node, scope)
    if (ts.isPropertyAccessExpression(node)) {
      const found = read(node.expression, scope).flatMap((value) => member(value, node.name.text))
      return found.length > 0 ? found : literals(node)
    }
    if (ts.isElementAccessExpression(node)) {
      const keys = texts(node.argumentExpression, scope)
      return read(node.expression, scope).flatMap((value) => keys.flatMap((key) => member(value, key)))
    }
    if (ts.isCallExpression(node)) return readCall(node, scope)
    return isWhole(node) ? [{ node, scope }] : []
  }

  function readTemplate(node: ts.TemplateExpression, scope: Scope): string[] {
    let heads = [node.head.text]
    for (const { expression, literal } of node.templateSpans) {
      const pieces = texts(expression, scope)
      const known = pieces.length > 0 ? pieces : [HOLE]
      heads = product(heads, '', known).map((head) => head + literal.text)
    }
    return heads
  }

  function readName(node: ts.Identifier, scope: Scope): Value[] {
    const symbol = checker.getSymbolAtLocation(node)
    const found = symbol === undefined ? [] : readSymbol(symbol, scope)
    return found.length > 0 ? found : literals(node)
  }

  function readSymbol(symbol: ts.Symbol, scope: Scope): Value[] {
    const [declaration] = original(symbol).declarations ?? []
    return declaration === undefined ? [] : readDeclaration(declaration, scope)
  }

  function readDeclaration(declaration: ts.Node, scope: Scope): Value[] {
    if (ts.isFunctionDeclaration(declaration)) return [{ node: declaration, scope }]
    if (ts.isParameter(declaration)) return readParameter(declaration, scope)
    if (ts.isBindingElement(declaration)) {
      const { parent } = declaration
      const key = ts.isArrayBindingPattern(parent)
        ? String(parent.elements.indexOf(declaration))
        : (declaration.propertyName ?? declaration.name).getText()
      return readDeclaration(parent.parent, scope).flatMap((value) => member(value, key))
    }
    if (!ts.isVariableDeclaration(declaration) || !(declaration.parent.flags & ts.NodeFlags.Const)) return []
    if (declaration.initializer !== undefined) return read(declaration.initializer, scope)
    const loop = declaration.parent.parent
    return ts.isForOfStatement(loop) ? read(loop.expression, scope).flatMap((value) => member(value, null)) : []
  }

  /** As bound by the call that is being read; of a function that was not reached by one, what its calls pass. */
  function readParameter(parameter: ts.ParameterDeclaration, scope: Scope): Value[] {
    const bound = scope.bound.get(parameter)
    if (bound !== undefined) return read(bound.node, { ...bound.scope, depth: scope.depth })
    const place = parameter.parent.parameters.indexOf(parameter)
    return callsOf(parameter.parent).flatMap((call) => {
      const argument = call.arguments[place] ?? parameter.initializer
      return argument === undefined ? [] : read(argument, scope)
    })
  }

  function callsOf(called: ts.SignatureDeclaration): ts.CallExpression[] {
    const name = called.name ?? (ts.isVariableDeclaration(called.parent) ? called.parent.name : undefined)
    const named = calls.get(name?.getText() ?? '') ?? []
    return named.filter(({ expression }) => {
      const symbol = checker.getSymbolAtLocation(expression)
      const declaration = symbol === undefined ? undefined : original(symbol).valueDeclaration
      return declaration === called || declaration === called.parent
    })
  }

  function readCall(node: ts.CallExpression, scope: Scope): Value[] {
    if (node.expression.getText() === 'String') return node.arguments.flatMap((argument) => read(argument, scope))
    const { expression } = node
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'join') {
      const [separator] = node.arguments.flatMap((argument) => texts(argument, scope))
      const [first = [], ...rest] = elementsOf(expression.expression, scope).map((one) => texts(one.node, one.scope))
      return rest.reduce((heads, tails) => product(heads, separator ?? ',', tails), first)
    }
    return read(expression, scope).flatMap((value) =>
      typeof value === 'string'
        ? []
        : call(
            value,
            node.arguments.map((argument) => ({ node: argument, scope })),
          ),
    )
  }

  function call({ node, scope }: Inside, args: readonly Place[]): Value[] {
    if (!ts.isFunctionLike(node)) return []
    const bound = new Map(scope.bound)
    node.parameters.forEach((parameter, place) => {
      const argument = args[place] ?? (parameter.initializer && { node: parameter.initializer, scope })
      if (argument !== undefined) bound.set(parameter, argument)
    })
    const depth = Math.max(scope.depth, args[0]?.scope.depth ?? 0)
    return returnsOf(node).flatMap((result) => read(result, { bound, depth }))
  }

  /** Of a list written out, and of one made from it by `map`. */
  function elementsOf(node: ts.Expression, scope: Scope): Place[] {
    if (ts.isCallExpression(node) && calledName(node) === 'map' && ts.isPropertyAccessExpression(node.expression)) {
      const [turn] = node.arguments.flatMap((argument) => read(argument, scope))
      if (turn === undefined || typeof turn === 'string' || !ts.isFunctionLike(turn.node)) return []
      const [parameter] = turn.node.parameters
      const [result] = returnsOf(turn.node)
      if (parameter === undefined || result === undefined) return []
      return elementsOf(node.expression.expression, scope).map((element) => ({
        node: result,
        scope: { bound: new Map([...turn.scope.bound, [parameter, element]]), depth: scope.depth },
      }))
    }
    return read(node, scope).flatMap((value) =>
      typeof value !== 'string' && ts.isArrayLiteralExpression(value.node)
        ? value.node.elements.map((element) => ({ node: element, scope: value.scope }))
        : [],
    )
  }

  function member(value: Value, key: string | null): Value[] {
    if (typeof value === 'string') return []
    const { node, scope } = value
    if (ts.isArrayLiteralExpression(node)) {
      return node.elements
        .filter((_, place) => key === null || String(place) === key)
        .flatMap((one) => read(one, scope))
    }
    if (!ts.isObjectLiteralExpression(node)) return []
    return node.properties.flatMap((property) => {
      if (property.name?.getText() !== key) return []
      if (ts.isPropertyAssignment(property)) return read(property.initializer, scope)
      const symbol = ts.isShorthandPropertyAssignment(property) && checker.getShorthandAssignmentValueSymbol(property)
      return symbol ? readSymbol(symbol, scope) : []
    })
  }

  /** A name without a value may have a type that lists its values: `'live' | 'test'`. */
  function literals(node: ts.Expression): string[] {
    const type = checker.getTypeAtLocation(node)
    const members = type.isUnion() ? type.types : [type]
    return members.every((one) => one.isStringLiteral()) ? members.map((one) => one.value) : []
  }

  function original(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }
}

/** Where each choice doubles the texts, the first ones are enough. */
const MOST = 64

interface Scope {
  bound: ReadonlyMap<ts.ParameterDeclaration, Place>
  depth: number
}

/** An expression, and what its names stand for there. */
interface Place {
  node: ts.Expression
  scope: Scope
}

/** A text, or what has texts inside: an object, a list, a function. */
type Value = string | Inside
interface Inside {
  node: Whole
  scope: Scope
}
type Whole =
  | ts.ObjectLiteralExpression
  | ts.ArrayLiteralExpression
  | ts.ArrowFunction
  | ts.FunctionExpression
  | ts.FunctionDeclaration

function isWhole(node: ts.Node): node is Whole {
  return (
    ts.isObjectLiteralExpression(node) ||
    ts.isArrayLiteralExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isFunctionExpression(node)
  )
}

function product(heads: string[], between: string, tails: string[]): string[] {
  return heads.flatMap((head) => tails.map((tail) => head + between + tail)).slice(0, MOST)
}

function returnsOf({ body }: ts.ArrowFunction | ts.FunctionExpression | ts.FunctionDeclaration): ts.Expression[] {
  if (body === undefined) return []
  if (!ts.isBlock(body)) return [body]
  const found: ts.Expression[] = []
  const look = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression)
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, look)
  }
  look(body)
  return found
}

function callsByName(program: ts.Program): Map<string, ts.CallExpression[]> {
  const calls = new Map<string, ts.CallExpression[]>()
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const name = calledName(node)
      const same = calls.get(name)
      if (same === undefined) calls.set(name, [node])
      else same.push(node)
    }
    ts.forEachChild(node, look)
  }
  for (const file of program.getSourceFiles()) if (isOurs(file)) look(file)
  return calls
}

export function calledName({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText()
}

export function isOurs(file: ts.SourceFile): boolean {
  return !/node_modules|generated|\.d\.ts$/.test(file.fileName)
}
