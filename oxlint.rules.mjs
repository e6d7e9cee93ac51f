const ENVIRONMENT =
  'Only `readConfig` of service/config.ts reads the environment, once, at boot: take the value as a parameter.'

/** The time since a moment. A number, or a name in milliseconds, leads to another moment instead. */
const ELAPSED =
  'BinaryExpression[operator="-"][left.callee.object.name="Date"][left.callee.property.name="now"][right.type="Identifier"][right.name!=/(ms|MS|Ms)$/]'
const PAUSE =
  'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"][arguments.length=2][arguments.0.type="Identifier"][arguments.1.type="Literal"]'

/**
 * The project's own lint rules, each named after the habit that it enforces. They are tables of ESLint's selectors and
 * not `no-restricted-syntax`, because a second block of that rule silently replaces the first one, so a file could not
 * follow two habits at once.
 */
export default {
  meta: { name: 'house' },
  rules: {
    'pure-rules': forbid({
      'AwaitExpression, ForOfStatement[await=true], :function[async=true]':
        'A rule decides on what it is given and never waits: load in the service, then ask the rule.',
      'Identifier[name="Promise"]': 'A rule returns its answer, not the promise of one.',
      'MemberExpression[object.name=/^(Date|performance)$/][property.name="now"], MemberExpression[object.name="process"][property.name="hrtime"]':
        'A rule is told the time: take `now` as a parameter.',
      'NewExpression[callee.name="Date"][arguments.length=0], CallExpression[callee.name="Date"], Identifier[name="systemClock"]':
        'A rule is told the time: take `now` as a parameter.',
      'MemberExpression[object.name="Math"][property.name="random"], MemberExpression[property.name=/^(random(Bytes|UUID|Int|Fill|FillSync)|getRandomValues)$/]':
        'A rule gives the same answer twice: hand it the random value.',
      'ImportSpecifier[imported.name=/^(random(Bytes|UUID|Int|Fill|FillSync)|getRandomValues|newId)$/]':
        'A rule gives the same answer twice: hand it the random value or the id.',
      'CallExpression[callee.name=/^(fetch|setTimeout|setInterval|setImmediate|queueMicrotask)$/]':
        'A rule touches nothing outside: calls and timers belong to the service.',
    }),

    environment: forbid({
      // Each process passes its whole environment to the configuration. Nothing else may read it.
      'MemberExpression[object.name="process"]:matches([property.name="env"], [property.value="env"]):not(CallExpression[callee.name="readConfig"] > MemberExpression)':
        ENVIRONMENT,
      'VariableDeclarator[init.name="process"], MemberExpression[object.name="globalThis"][property.name="process"]':
        ENVIRONMENT,
      'ImportDeclaration[source.value=/^(node:)?process$/] ImportSpecifier[imported.name="env"]': ENVIRONMENT,
    }),

    'guarded-calls': {
      meta: { type: 'problem', schema: [] },
      create(context) {
        const message =
          'Calls to the world go through service/outbound, which guards the address, the time and the size.'
        return {
          'CallExpression[callee.name="fetch"], MemberExpression[object.name="globalThis"][property.name="fetch"]'(
            node,
          ) {
            context.report({ node, message })
          },
          'NewExpression[callee.name=/^(WebSocket|EventSource|XMLHttpRequest)$/]'(node) {
            context.report({ node, message })
          },
          // Parts of otherwise harmless libraries that open connections themselves.
          'ImportSpecifier[imported.name=/^(SSEClientTransport|StdioClientTransport|WebSocketClientTransport)$/]'(
            node,
          ) {
            context.report({ node, message })
          },
          ImportDeclaration(node) {
            if (CALLERS.test(node.source.value) && !harmless(node)) context.report({ node, message })
          },
          ImportExpression(node) {
            if (CALLERS.test(String(node.source.value))) context.report({ node, message })
          },
        }
      },
    },

    'whole-tests': forbid({
      'MemberExpression[property.name=/^(skip|only|todo|failing)$/]:matches([object.name=/^(it|test|describe)$/], [object.object.name=/^(it|test|describe)$/])':
        'The suite runs whole: finish the test or remove it.',
      'CallExpression[callee.name=/^([xf](it|describe)|xtest)$/]':
        'The suite runs whole: finish the test or remove it.',
    }),

    /** What decides the gate is the code alone: no clock, no load, no chance. */
    'steady-tests': forbid({
      [`MemberExpression[object.name="performance"][property.name="now"], MemberExpression[object.name="process"][property.name=/^(cpuUsage|memoryUsage|hrtime)$/], ${ELAPSED}`]:
        'How long something takes depends on the machine: count steps, calls or bytes, or measure in a *.timed.test.ts.',
      'MemberExpression[object.name="Math"][property.name="random"], BinaryExpression[operator="%"][left.callee.object.name="Date"]':
        'Every run has the same cases: draw them with fast-check or harness/random.ts, and make names with node:crypto.',
      [`${PAUSE}:not(:matches(WhileStatement, DoWhileStatement, ForStatement) *)`]:
        'A pause is too short on a busy machine and too long on others: wait for what must happen, with `until`.',
      'CallExpression[callee.property.name="listen"] > Literal.arguments:first-child[value>0]':
        'Another process may have this port: listen on 0 and read the port.',
    }),

    'linear-patterns': {
      meta: { type: 'problem', schema: [] },
      create(context) {
        return {
          'Literal[regex]'(node) {
            if (!branchesOf(node.regex.pattern).some(rescans)) return
            const message =
              'From each place of a run this tries again to reach the end, so it takes the square of the time: bound it ({1,9}$), or use kit/text.ts.'
            context.report({ node, message })
          },
        }
      },
    },

    'flat-literals': forbid({
      'ObjectExpression > SpreadElement > ObjectExpression':
        'Spreading a literal only saves lines: write its properties into the object itself.',
    }),

    'plain-names': {
      meta: { type: 'suggestion', schema: [] },
      create(context) {
        function check(node) {
          if (RIDDLES.test(node.name) && !TESTS.test(context.filename)) {
            context.report({
              node,
              message: `"${node.name}" is a riddle: name the thing itself, by a noun or a verb of the domain.`,
            })
          }
        }
        return {
          Program(node) {
            const word = VAGUE.exec(context.filename.slice(context.cwd.length))?.[1]
            if (word !== undefined) {
              context.report({ node, message: `"${word}" says nothing: name the file after what it is about.` })
            }
          },
          'VariableDeclarator > Identifier.id': check,
          ':matches(FunctionDeclaration, ClassDeclaration, TSInterfaceDeclaration, TSTypeAliasDeclaration) > Identifier.id':
            check,
          ':matches(TSPropertySignature, TSMethodSignature, PropertyDefinition) > Identifier.key': check,
        }
      },
    },

    /** For comments and sentences: they must say plainly who does what. */
    'plain-words': {
      meta: { type: 'suggestion', schema: [] },
      create(context) {
        function check(node, text) {
          const word = VAGUE_WORDS.exec(text)?.[0]
          if (word !== undefined) context.report({ loc: node.loc, message: `"${word}": say who or what does it.` })
        }
        return {
          Program() {
            for (const comment of context.sourceCode.getAllComments()) check(comment, comment.value)
          },
          Literal(node) {
            if (typeof node.value === 'string') check(node, node.value)
          },
          TemplateElement(node) {
            check(node, node.value.raw)
          },
          JSXText(node) {
            check(node, node.value)
          },
        }
      },
    },
  },
}

const CALLERS = /^(?:node:)?(?:https?|http2|net|tls|dgram)$|^undici(?:\/|$)/
/** What of these modules serves, and calls nobody. */
const LISTENERS =
  /^(createServer|Server|IncomingMessage|ServerResponse|isIP(v[46])?|validateHeader(Name|Value)|STATUS_CODES)$/
const VAGUE = /[\\/](?:[a-z-]+[-.])?(utils?|helpers?|managers?)(?=[\\/.-])/i

/** Names that were replaced by the domain's own words. */
const RIDDLES =
  /^(fate|crowded|glance|witness|sight|agreement|ground|fleeting|patient|idLike|concernId|(create|open)?(Told|Said|Kept|Given|Asked|Asking|Ask|Answer|Sight|Ground|LifeSign))$/
/** In tests, only file names are checked so far. */
const TESTS = /[\\/]test[\\/]/
const VAGUE_WORDS = /\b(whoever|whatever|nobody|somebody|how manieth)\b/i

/** The alternatives of a regular expression: the parts between bars outside of groups and character classes. */
function branchesOf(pattern) {
  const branches = ['']
  let depth = 0
  for (const [piece] of pattern.matchAll(/\\.|\[(?:[^\]\\]|\\.)*\]|[^]/g)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === '|' && depth === 0) branches.push('')
    else branches[branches.length - 1] += piece
  }
  return branches
}

/** Whether the expression can begin anywhere and ends with an unlimited repetition before the text's end. */
function rescans(branch) {
  return !branch.startsWith('^') && /(?<!\\)(?:[+*]|\{\d+,\})\??\)?\$$/.test(branch)
}

function forbid(messages) {
  return {
    meta: { type: 'problem', schema: [] },
    create: (context) =>
      Object.fromEntries(
        Object.entries(messages).map(([selector, message]) => [selector, (node) => context.report({ node, message })]),
      ),
  }
}

/** Naming a type, listening for connections and inspecting an address open no connection. */
function harmless(node) {
  return (
    node.importKind === 'type' ||
    (node.specifiers.length > 0 &&
      node.specifiers.every(({ importKind, imported }) => importKind === 'type' || LISTENERS.test(imported?.name)))
  )
}
