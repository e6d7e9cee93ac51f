'use strict'

/**
 * Which capability may call which. Every arrow is a decision: a new one needs a record under docs/decisions that gives
 * the reason, and none may ever close a circle.
 */
const MAY_CALL = {
  ledger: [],
  identity: ['ledger'],
  outflow: [],
  facilitator: [],
  discovery: [],
  files: [],
  coupons: [],
  connections: [],
  brands: ['files'],
  transfers: ['facilitator'],
  sales: ['facilitator'],
  methods: ['facilitator', 'sales'],
  deliveries: ['identity'],
  wallet: ['ledger', 'facilitator', 'transfers', 'outflow'],
  budgets: ['ledger', 'deliveries'],
  charging: ['ledger', 'budgets'],
  oauth: ['identity', 'budgets'],
  'outgoing-payments': ['ledger', 'budgets', 'outflow', 'transfers'],
  refunds: ['ledger', 'facilitator', 'transfers', 'sales', 'methods', 'wallet', 'outflow', 'deliveries'],
  disputes: ['sales', 'refunds', 'deliveries'],
  invoices: ['sales'],
  marketplace: ['ledger', 'budgets', 'charging', 'outflow', 'sales'],
  tools: ['ledger', 'budgets', 'charging', 'sales', 'connections'],
  passes: ['sales', 'deliveries'],
  'payment-addresses': ['facilitator', 'transfers', 'sales', 'checkouts'],
  'passkey-wallets': ['facilitator', 'checkouts'],
  checkouts: ['facilitator', 'files', 'brands', 'sales', 'methods', 'deliveries', 'passes', 'coupons'],
  paywall: ['facilitator', 'sales', 'methods', 'deliveries'],
  storefront: ['sales', 'marketplace', 'paywall'],
  pruning: [],
  changes: [],
}
refuseCircles(MAY_CALL)

/** Inside a capability, each layer may import the layers before it. The last four are its entry points and equal. */
const LAYERS = ['model', 'errors', 'rules', 'ports', 'service', 'http|trpc|mcp|jobs']
const ENTRIES = LAYERS.at(-1)
/** The file in which the api describes an entry point, unless it has the entry point's name. */
const DECLARED_BY = { http: 'route', mcp: 'mcp/(parts|results)' }

const CAPABILITY = Object.keys(MAY_CALL).join('|')
const ADAPTER = 'tracing|chain|models|transforms|outbound|openapi|mcp-client|oauth-client|vault|mail|pdf|queue|database'
/**
 * Adapters whose model.ts every capability may import: sealed secrets, responses from outside, queued work, networks.
 */
const SPOKEN_OF = 'outbound|vault|pdf|queue|chain'
const STORE = '^service/.+[/-]store(/|[.]ts$)'
/**
 * What connects ports with their implementations: wiring/ opens each capability for the service, the commands and the
 * launch for an operator, the middleware for other people's servers.
 */
const ROOTS = ['^service/(main|serve)[.]ts$', '^service/(wiring|processes|cli|launch|paywall/middleware)/']

/** `model` means model.ts or, when that has grown too long, the files in model/. */
const named = (files, of = CAPABILITY) => `^service/(${of})/(${files})(/|[.]ts$)`

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one idea in two halves: move what both need below them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circle-of-folders',
      comment:
        'Two folders that need each other are one. Only wiring/ knows all, and the dashboard the type of its router.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^service/[^/]+$', pathNot: '^service/wiring$' },
      to: { circular: true, path: '^service/[^/]+$', pathNot: '^service/wiring$' },
    },
    {
      name: 'resolves',
      comment: 'An import that this check cannot follow is an arrow that it cannot judge.',
      severity: 'error',
      from: {},
      // Our own client is imported there as it is packed and installed, not as it stands here.
      to: { couldNotResolve: true, pathNot: '^coinslot$' },
    },
    {
      name: 'kit-knows-nothing',
      comment: 'kit/ has no domain words: it is what every part stands on.',
      severity: 'error',
      from: { path: '^service/kit/' },
      to: { path: '^service/', pathNot: '^service/kit/' },
    },
    {
      name: 'protocols-hold-no-state',
      comment: 'x402/ and mpp/ are how a payment is asked for and presented: no state, no capability, no adapter.',
      severity: 'error',
      from: { path: '^service/(x402|mpp)/' },
      to: { path: '^service/', pathNot: ['^service/(x402|mpp|kit)/', named('model|networks', 'chain')] },
    },
    ...LAYERS.slice(0, -1).map((layer, depth) => ({
      name: `${layer}-looks-down`,
      comment: `Inside a capability the direction is ${LAYERS.join(' <- ')}.`,
      severity: 'error',
      from: { path: named(layer) },
      to: { path: named(LAYERS.slice(depth + 1).join('|')) },
    })),
    {
      name: 'capability-shows-its-face',
      comment: 'Of another capability only model, errors and service are to be seen. A method is what its folder has.',
      severity: 'error',
      from: { path: `^service/(${CAPABILITY})/`, pathNot: '^service/methods/' },
      to: { path: `^service/(${CAPABILITY})/`, pathNot: ['^service/(methods|$1)/', named('model|errors|service')] },
    },
    {
      name: 'method-implements-ports',
      comment: 'A method is what sales and the facilitator ask for in their ports.',
      severity: 'error',
      from: { path: '^service/methods/' },
      to: {
        path: '^service/',
        pathNot: [
          '^service/(methods|kit|x402|mpp)/',
          named('model|networks', 'chain'),
          named('model|ports', 'sales'),
          named('model|errors|rules|ports|service', 'facilitator'),
        ],
      },
    },
    ...Object.entries(MAY_CALL).map(([caller, called]) => ({
      name: `may-call-${caller}`,
      comment: `${caller} may call ${called.join(', ') || 'no other capability'} (MAY_CALL in .dependency-cruiser.cjs).`,
      severity: 'error',
      from: { path: `^service/${caller}/` },
      to: { path: `^service/(${CAPABILITY})/`, pathNot: `^service/(${[caller, ...called].join('|')})/` },
    })),
    {
      name: 'entry-holds-no-store',
      comment:
        'An entry decodes, makes one call to its service and encodes: what it needs from a store, the service gives.',
      severity: 'error',
      from: { path: named(ENTRIES) },
      to: {
        path: [STORE, `^service/(${ADAPTER})/`],
        pathNot: named('model|networks', SPOKEN_OF),
        reachable: true,
      },
    },
    {
      name: 'core-holds-no-store',
      comment:
        'A service asks its ports. Reaching a store or an adapter, even through another file, would tie it to one.',
      severity: 'error',
      from: { path: named(LAYERS.slice(0, -1).join('|')) },
      to: {
        path: [STORE, `^service/(${ADAPTER})/`],
        pathNot: named('model|networks', SPOKEN_OF),
        reachable: true,
      },
    },
    {
      name: 'store-is-handed-in',
      comment: 'wiring/ alone makes stores; everybody else is given a port.',
      severity: 'error',
      from: { path: '^service/', pathNot: [...ROOTS, STORE] },
      to: { path: STORE },
    },
    {
      name: 'store-points-inward',
      comment: 'A store implements ports: it knows neither the service that uses it nor an entry.',
      severity: 'error',
      from: { path: STORE },
      to: { path: ['^service/(api|pages|dashboard)/', named(`service|${ENTRIES}`)], pathNot: STORE },
    },
    {
      name: 'adapter-is-handed-in',
      comment: 'wiring/ alone makes adapters; everybody else is given a port. Of some the types in model.ts are free.',
      severity: 'error',
      from: { path: '^service/([^/]+)(/|$)', pathNot: ROOTS },
      to: {
        path: `^service/(${ADAPTER})/`,
        pathNot: ['^service/$1/', '^service/database/', named('model|networks', SPOKEN_OF)],
      },
    },
    {
      name: 'database-is-for-stores',
      comment: 'The database and its generated client are reached through service/database and a store.ts.',
      severity: 'error',
      from: { path: '^service/', pathNot: [...ROOTS, STORE, '^service/database/'] },
      to: { path: '^service/database/' },
    },
    {
      name: 'adapter-points-inward',
      comment: 'An adapter implements ports: it knows no service, no entry and no other adapter.',
      severity: 'error',
      from: { path: `^service/(${ADAPTER})/` },
      to: {
        path: '^service/',
        pathNot: [
          '^service/$1/',
          '^service/(kit/|config[.]ts$)',
          named('model|errors|ports'),
          named('model|networks', SPOKEN_OF),
        ],
      },
    },
    {
      name: 'api-knows-no-capability',
      comment:
        'wiring/ hands the entries to the api; what it must know of who is asking is in kit. Its reference is a screen, and shows samples as the dashboard does.',
      severity: 'error',
      from: { path: '^service/api/' },
      to: {
        path: '^service/',
        pathNot: ['^service/(api|kit|database)/', '^service/ui-kit/code-samples[.]ts$', '^service/config[.]ts$'],
      },
    },
    ...ENTRIES.split('|').map((entry) => ({
      name: `${entry}-declares`,
      comment: `A ${entry} entry needs the type of what it declares and nothing else of the api.`,
      severity: 'error',
      from: { path: named(entry) },
      to: { path: '^service/api/', pathNot: `^service/api/${DECLARED_BY[entry] ?? entry}[.]ts$` },
    })),
    {
      name: 'core-knows-no-api',
      comment: 'What a capability decides does not depend on how it was asked.',
      severity: 'error',
      from: { path: `^service/(${CAPABILITY})/`, pathNot: named(ENTRIES) },
      to: { path: '^service/api/' },
    },
    {
      name: 'wiring-is-the-top',
      comment: 'wiring/, serve.ts and main.ts put the parts together; no part knows the whole.',
      severity: 'error',
      from: { path: '^service/', pathNot: [...ROOTS, '^service/dashboard/'] },
      to: { path: ROOTS },
    },
    {
      name: 'config-is-handed-over',
      comment: 'A part is given the values that it needs; only the type of the configuration is free.',
      severity: 'error',
      from: { path: '^service/', pathNot: ROOTS },
      to: { path: '^service/config[.]ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'dashboard-sees-the-router-type',
      comment:
        'The dashboard talks to the service over tRPC and shares nothing with it but the types of what is asked and answered. What it has in common with the pages is in ui-kit.',
      severity: 'error',
      from: { path: '^service/dashboard/' },
      to: {
        path: '^service/',
        pathNot: [
          '^service/dashboard/',
          '^service/ui-kit/',
          '^service/(wiring/compose|identity/http/sign-in)[.]ts$',
          '^service/pages/compress[.]mjs$',
        ],
      },
    },
    {
      name: 'dashboard-runs-no-service-code',
      comment: 'Of the service a browser is given types: no schema and no rule of it is shipped.',
      severity: 'error',
      from: { path: '^service/dashboard/' },
      to: { path: '^service/(wiring/compose|identity/http/sign-in)[.]ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'ui-kit-stands-below-the-screens',
      comment: 'What the dashboard and the pages share knows neither of them; of the service it knows types of kit.',
      severity: 'error',
      from: { path: '^service/ui-kit/' },
      to: { path: '^service/', pathNot: ['^service/ui-kit/', '^service/kit/'] },
    },
    {
      name: 'viem-lives-in-chain',
      comment: 'One folder speaks to chains, so that the library can be replaced where it is slow.',
      severity: 'error',
      from: { path: '^service/', pathNot: '^service/chain/' },
      to: { path: 'node_modules/viem/' },
    },
    {
      name: 'service-stands-alone',
      comment: 'The service is not shipped with the nodes or the tests.',
      severity: 'error',
      from: { path: '^service/' },
      to: { path: '^(nodes|credentials|test)/' },
    },
    {
      name: 'nodes-stand-alone',
      comment: "The package is installed into somebody else's n8n: it brings nothing along.",
      severity: 'error',
      from: { path: '^(nodes|credentials)/' },
      to: { path: '.', pathNot: ['^(nodes|credentials)/', 'node_modules/n8n-workflow/', '^(node:)?crypto$'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^service/database/generated/'] },
    // The last ones are separate packages, installed only for long test suites. They contain none of our code.
    exclude: {
      path: [
        '(^|/)dist/',
        '^[.]build/',
        '^test/(bench/(reference|legacy)|conformance/(v[12]|axios|mpp|models|packages)|n8n/(lint|scan|[0-9.]+))/',
      ],
    },
    // The dependencies of the root's and of the service's package.json both count.
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
    cache: { folder: '.build/depcruise', strategy: 'content' },
  },
}

function refuseCircles(table) {
  const visit = (name, path) => {
    if (path.includes(name)) throw new Error(`MAY_CALL closes a circle: ${[...path, name].join(' -> ')}`)
    for (const next of table[name]) visit(next, [...path, name])
  }
  for (const name of Object.keys(table)) visit(name, [])
}
