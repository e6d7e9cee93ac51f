import { SHIPPED, shippedText } from '../openapi/shipped.ts'
import type { Collection } from '../tools/model/draft.ts'
import type { Environment } from '../kit/owner.ts'
import type { Catalogue } from '../tools/service/catalogue/catalogue.ts'
import type { ImportRequest } from '../tools/service/catalogue/importing.ts'

/**
 * Imports the tools that come with the service: in the sandbox their calls are answered with examples, in production they
 * act in their callers' own accounts. Repeating the import changes nothing, and at a start the operator's own changes stay.
 */
export async function importShipped(
  catalogue: Catalogue,
  environment: Environment,
  { isOver = () => false, restores = false }: Seeding = {},
): Promise<void> {
  for (const { slug } of SHIPPED) {
    if (isOver()) return
    const request = { ...shippedImport(slug, environment), yields: !restores }
    await catalogue.importDocument(request, await shippedText(slug))
  }
  const known = await catalogue.collections(environment, null)
  for (const collection of COLLECTIONS) {
    if (known.some(({ slug }) => slug === collection.slug)) continue
    await catalogue.saveCollection({ ...collection, environment, ownerId: null })
  }
}

interface Seeding {
  isOver?: () => boolean
  /** Also those that the operator removed, with the prices that they come with. */
  restores?: boolean
}

/** The import of a document that comes with the service. */
export function shippedImport(slug: string, environment: Environment): ImportRequest {
  const shipped = SHIPPED.find((one) => one.slug === slug)
  if (shipped === undefined) throw new Error(`the service has no document ${slug}`)
  const { name, description, version, licence, pricing, auth = null } = shipped
  return {
    environment,
    ownerId: null,
    slug,
    name,
    description,
    pricing,
    auth,
    trusted: true,
    simulated: environment === 'sandbox',
    source: { from: shipped.package, licence, version },
  }
}

const COLLECTIONS: readonly Omit<Collection, 'environment' | 'ownerId'>[] = [
  {
    slug: 'code-review',
    name: 'Code review',
    description: 'Pull requests, their reviews, comments, commits and checks.',
    patterns: ['github-pulls-*', 'github-checks-*', 'github-repos-compare-commits*', 'github-repos-get-content'],
  },
  {
    slug: 'issue-tracking',
    name: 'Issue tracking',
    description: 'Issues, labels, milestones and search.',
    patterns: ['github-issues-*', 'github-search-issues*', 'github-reactions-*-issue*'],
  },
  {
    slug: 'cloud-servers',
    name: 'Cloud servers',
    description: 'Droplets and their images, volumes, firewalls and domains.',
    patterns: [
      'digitalocean-*droplet*',
      'digitalocean-*image*',
      'digitalocean-*volume*',
      'digitalocean-*firewall*',
      'digitalocean-*domain*',
    ],
  },
  {
    slug: 'documents',
    name: 'Documents and files',
    description: 'Files and folders, their sharing and their comments.',
    patterns: ['box-*file*', 'box-*folder*', 'box-*comment*', 'box-*search*', '!box-*metadata*'],
  },
  {
    slug: 'design',
    name: 'Design',
    description: 'Design files, images, components, styles and comments.',
    patterns: ['figma-*'],
  },
  {
    slug: 'open-knowledge',
    name: 'Open knowledge',
    description:
      'Encyclopedia pages, page views and edits, and the astronomy picture of the day; no account is needed.',
    patterns: ['wikimedia-*', 'nasa-*'],
  },
]
