import { copyTree, type CopiedTree } from './copied-tree.ts'

/** A new file in each project. */
const TYPED = [
  ...['service/planted.ts', 'test/planted.ts', 'test/nodes/planted.ts', 'nodes/planted.ts', 'credentials/planted.ts'],
  ...['service/client/planted.ts', 'service/paywall/middleware/planted.ts', 'service/ui-kit/planted.tsx'],
  ...['service/pages/browser/planted.tsx', 'service/dashboard/browser/planted.tsx'],
]

const TOOLS = {
  directions: [
    ...['dependency-cruiser/bin/dependency-cruise.mjs', '--no-cache', '--output-type', 'err-long'],
    ...['service', 'nodes', 'credentials', 'test'],
  ],
  // Only what is planted into: reading the whole tree takes longer than all else here.
  lint: ['oxlint/bin/oxlint', 'service/kit/clock.ts', 'service/ledger/rules.ts', 'service/sales/service/settle.ts'],
  types: ['oxlint/bin/oxlint', ...TYPED],
  'unused code': ['knip/bin/knip.js', '--no-progress'],
} as const

const PLANTS = [
  {
    what: 'an import cycle',
    text: { 'service/kit/clock.ts': "import './money.ts'\n", 'service/kit/money.ts': "import './clock.ts'\n" },
    tool: 'directions',
    refused: /no-cycles: service\/kit\/(clock|money)\.ts/,
  },
  {
    what: 'a store in the hands of an entry',
    text: { 'service/wallet/http.ts': "import '../ledger/store/ledger.ts'\n" },
    tool: 'directions',
    refused: /entry-holds-no-store: service\/wallet\/http\.ts → service\/ledger\/store\/ledger\.ts/,
  },
  {
    what: 'service code in a node',
    text: { 'nodes/Planted/Planted.node.ts': "import '../../service/kit/money.ts'\n" },
    tool: 'directions',
    refused: /nodes-stand-alone: nodes\/Planted\/Planted\.node\.ts → service\/kit\/money\.ts/,
  },
  {
    what: 'the environment read outside of the configuration',
    text: { 'service/kit/clock.ts': "export const home = process.env['HOME']\n" },
    tool: 'lint',
    refused: /house\(environment\)/,
  },
  {
    what: 'a rule that waits',
    text: {
      'service/ledger/rules.ts': 'export async function late(): Promise<void> {\n  await Promise.resolve()\n}\n',
    },
    tool: 'lint',
    refused: /house\(pure-rules\)/,
  },
  {
    what: 'a payment that nobody waits for',
    text: { 'service/sales/service/settle.ts': 'export function late(paid: Promise<void>): void {\n  paid\n}\n' },
    tool: 'lint',
    refused: /no-floating-promises/,
  },
  ...TYPED.map((file) => ({
    what: `a wrong type in ${file}`,
    text: { [file]: 'export const planted: string = 1\n' },
    tool: 'types' as const,
    refused: new RegExp(`TS2322[^]*${file}`),
  })),
  {
    what: 'an export that nobody imports',
    text: { 'service/kit/money.ts': 'export function neverCalled(): void {}\n' },
    tool: 'unused code',
    refused: /Unused exports[^]*neverCalled.+service\/kit\/money\.ts/,
  },
] as const

describe('npm run check', () => {
  let tree: CopiedTree
  beforeAll(async () => {
    tree = await copyTree()
  })
  afterAll(() => tree.remove())

  // All of a tool's plants at once, since each run takes many seconds; every refusal names its own plant, so that a
  // tool which is red anyway does not look like one that caught something (`npm run check` shows that it is not).
  it.each(Object.entries(TOOLS))(
    'refuses the planted violations: %s',
    async (name, tool) => {
      const plants = PLANTS.filter((plant) => plant.tool === name)
      const text = Object.fromEntries(plants.flatMap((plant) => Object.entries<string>(plant.text)))
      const refusal = await tree.planted(text, () => tree.refusal(tool))
      expect(plants.filter(({ refused }) => !refused.test(refusal)).map(({ what }) => what)).toEqual([])
      expect(plants).not.toHaveLength(0)
    },
    90_000,
  )
})
