/** Each has the folders that it reads files of its own from. */
const PROJECTS = [
  { name: 'service', config: 'service/tsconfig.json', files: /^service\// },
  { name: 'test', config: 'test/tsconfig.json', files: /^(test|service)\// },
  { name: 'dashboard', config: 'service/dashboard/browser/tsconfig.json', files: /^service\// },
  { name: 'pages', config: 'service/pages/browser/tsconfig.json', files: /^service\// },
  { name: 'client', config: 'service/client/tsconfig.json', files: /^service\/client\// },
  { name: 'nodes', config: 'tsconfig.json', files: /^(nodes|credentials)\// },
  { name: 'test/nodes', config: 'test/nodes/tsconfig.json', files: /^(test\/nodes|nodes|credentials)\// },
]
const OXLINT = 'oxlint/bin/oxlint'

/** `npm run check`: every check that a machine can make. The slow ones come first, so that the last two end together. */
export const STEPS = [
  // Reads the types of all projects, and reports what is wrong with them too: no compiler has to read them again.
  { name: 'lint and types', run: [OXLINT] },
  {
    name: 'format',
    run: [
      ...['prettier/bin/prettier.cjs', '--check', '.', '--log-level', 'warn'],
      ...['--cache', '--cache-strategy', 'content', '--cache-location', '.build/prettier'],
    ],
  },
  {
    name: 'directions',
    run: [
      ...['dependency-cruiser/bin/dependency-cruise.mjs', '--output-type', 'err-long'],
      ...['service', 'nodes', 'credentials', 'test'],
    ],
  },
  { name: 'unused code', run: ['knip/bin/knip.js', '--no-progress'] },
  {
    // Needs no database: the migrations are replayed on a throw-away one inside the process.
    name: 'schema drift',
    run: [
      ...['prisma/build/index.js', 'migrate', 'diff', '--exit-code'],
      ...['--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema'],
    ],
  },
  // Written by programs, so it is not linted; and its declarations are published.
  ...PROJECTS.filter(({ name }) => name === 'client').map(typesOf),
  { name: 'licences', run: ['../service/launch/licences.mjs'] },
  { name: 'size', run: ['../service/launch/size.mjs'], prints: true },
  { name: 'format of schema', run: ['prisma/build/index.js', 'format', '--check'] },
  { name: 'schema', run: ['prisma/build/index.js', 'validate'] },
]

/** A change can break types in files that did not change, so the projects are read whole, with a record of the last time. */
function typesOf({ name, config }) {
  const record = `.build/types/${name.replace('/', '-')}.tsbuildinfo`
  return {
    name: `types of ${name}`,
    run: ['typescript-7/lib/tsc.js', '-p', config, '--noEmit', '--incremental', '--tsBuildInfoFile', record],
  }
}

/**
 * `npm run check -- changed`, for the files that differ from the main branch and those of them that are there: what the
 * whole check would refuse because of them. Lint and format look at these files alone. Types, directions and unused code
 * follow from all files, of which each step keeps a record. What the steps themselves are set by needs the whole check.
 */
export function stepsFor(files, there) {
  if (files.some((file) => SETTINGS.test(file))) return STEPS
  if (files.length === 0) return []
  const ofAll = files.some((file) => CODE.test(file)) ? ['directions', 'unused code', 'licences', 'size'] : []
  return [
    ...STEPS.filter(({ name }) => ofAll.includes(name)),
    ...(there.length === 0 ? [] : [{ name: 'lint', run: [OXLINT, '--no-error-on-unmatched-pattern', ...there] }]),
    ...PROJECTS.filter((project) => files.some((file) => project.files.test(file))).map(typesOf),
    ...(there.length === 0
      ? []
      : [
          {
            name: 'format',
            run: ['prettier/bin/prettier.cjs', '--check', '--ignore-unknown', '--log-level', 'warn', ...there],
          },
        ]),
  ]
}

const CODE = /\.([cm]?[jt]sx?|css|html)$/
/** Other files that the steps read: settings, rules, packages, and the tables that the client's types come from. */
const SETTINGS =
  /^[^/]+\.(c?js|mjs|jsonc?|ts)$|^\.[^/]+$|(^|\/)(tsconfig[^/]*|package(-lock)?)\.json$|^prisma\/|^service\/launch\/(check|checks|licences|size)\.mjs$/
