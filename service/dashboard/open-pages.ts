import { embedded } from '../ui-kit/document.ts'
import { inUsdc } from '../ui-kit/format.ts'
import { escaped } from '../ui-kit/plain-page.ts'

/*
 * The marketplace as it stands in the document, before its script runs: what search engines, previews of links and
 * readers without scripts see. The script then shows the same assets, with more that can be done.
 */

/** What anybody may know of a published asset. */
export interface OpenAsset {
  slug: string
  name: string
  description: string
  type: string
  creator: string | null
  pricing: { model: string; amount: number; estimatedCost: string | null }
  runs: number
  rating: { average: number; count: number | null } | null
}

export interface OpenOffer extends OpenAsset {
  longDescription: string | null
  inputs: readonly { label: string; description: string | null; required: boolean }[]
  examples: readonly { title: string; output: string }[]
  /** The newest ones. */
  reviews: readonly { score: number; text: string; createdAt: Date; reply: string | null }[]
}

/** The published assets of the environment that visitors see. */
export interface OpenOffers {
  page(limit: number, offset: number): Promise<{ assets: readonly OpenAsset[]; total: number }>
  /** Null for one that is not published, or not there. */
  find(slug: string): Promise<OpenOffer | null>
}

/** The parts of a document that are about its own address. */
export interface OpenPage {
  head: string
  /** In place of the page, until the script runs. */
  content: string
  /** JSON-LD. */
  about: string
}

/** The page of one path, or null where the script alone knows what to show. */
export async function openPage(
  offers: OpenOffers,
  { path, number }: { path: string; number: number },
  site: string,
): Promise<OpenPage | null> {
  const [, first, slug, ...more] = path.split('/')
  if (first !== 'marketplace' || more.length > 0) return null
  if (slug === undefined || slug === '') return await listPage(offers, Math.min(Math.max(1, number), PAGES_MAX), site)
  if (!SLUG.test(slug)) return null
  const offer = await offers.find(slug)
  return offer === null ? null : offerPage(offer, site)
}

async function listPage(offers: OpenOffers, number: number, site: string): Promise<OpenPage> {
  const { assets, total } = await offers.page(PAGE, (number - 1) * PAGE)
  const address = (at: number): string => `${site}/marketplace${at === 1 ? '' : `?page=${String(at)}`}`
  const hasNext = number * PAGE < total && number < PAGES_MAX
  const turns = [
    ...(number > 1 ? [`<a class="link" rel="prev" href="${address(number - 1)}">Previous page</a>`] : []),
    ...(hasNext ? [`<a class="link" rel="next" href="${address(number + 1)}">Next page</a>`] : []),
  ]
  return {
    head: headOf({ title: 'Marketplace', description: INTRO, address: address(number), kind: 'website' }),
    content: frame(
      `<h1 class="text-xl font-semibold tracking-tight">Marketplace</h1>
<p class="mt-1 mb-6 text-quiet">${INTRO}</p>
<ul class="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">${assets.map((asset) => cardOf(asset, site)).join('\n')}</ul>
<p class="mt-6 flex gap-4">${turns.join(' ')}</p>`,
    ),
    about: embedded({
      '@context': 'https://schema.org',
      '@type': 'ItemList',
      name: 'Marketplace',
      numberOfItems: total,
      itemListElement: assets.map(({ slug, name }, at) => ({
        '@type': 'ListItem',
        position: (number - 1) * PAGE + at + 1,
        name,
        url: `${site}/marketplace/${slug}`,
      })),
    }),
  }
}

function offerPage(offer: OpenOffer, site: string): OpenPage {
  const { slug, name, description, creator, pricing, rating, longDescription, inputs, examples, reviews } = offer
  const address = `${site}/marketplace/${slug}`
  const price = { '@type': 'Offer', price: String(pricing.amount), priceCurrency: 'USDC', url: address }
  const isPriced = pricing.model === 'per-run' || pricing.model === 'free'
  const section = (title: string, inner: string): string =>
    `<section class="mt-6"><h2 class="font-semibold">${escaped(title)}</h2>${inner}</section>`
  return {
    head: headOf({ title: name, description, address, kind: 'product' }),
    content: frame(
      `<p><a class="link" href="${site}/marketplace">Marketplace</a></p>
<h1 class="text-xl font-semibold tracking-tight break-words">${escaped(name)}</h1>
<p class="mt-1 break-words text-quiet">${escaped(description)}</p>
<p class="mt-4">${escaped(lineOf(offer))}</p>
${longDescription === null ? '' : section('Description', `<p class="break-words whitespace-pre-wrap">${escaped(longDescription)}</p>`)}
${section(
  'Inputs',
  `<ul>${inputs
    .map(
      (input) =>
        `<li>${escaped(input.label)} (${input.required ? 'required' : 'optional'})${input.description === null ? '' : `: ${escaped(input.description)}`}</li>`,
    )
    .join('')}</ul>`,
)}
${examples.map(({ title, output }) => section(`Example: ${title}`, `<pre class="break-words whitespace-pre-wrap">${escaped(output)}</pre>`)).join('\n')}
${reviews.length === 0 ? '' : section('Reviews', `<ul>${reviews.map(reviewOf).join('')}</ul>`)}`,
    ),
    about: embedded({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name,
      description,
      url: address,
      category: offer.type,
      ...(creator === null ? {} : { brand: { '@type': 'Brand', name: creator } }),
      ...(isPriced ? { offers: price } : {}),
      ...(rating?.count == null
        ? {}
        : {
            aggregateRating: {
              '@type': 'AggregateRating',
              ratingValue: rating.average,
              ratingCount: rating.count,
              bestRating: 5,
              worstRating: 1,
            },
          }),
      ...(reviews.length === 0
        ? {}
        : {
            review: reviews.map(({ score, text, createdAt }) => ({
              '@type': 'Review',
              reviewRating: { '@type': 'Rating', ratingValue: score, bestRating: 5, worstRating: 1 },
              reviewBody: text,
              datePublished: createdAt.toISOString().slice(0, 10),
            })),
          }),
    }),
  }
}

function headOf({ title, description, address, kind }: Record<'title' | 'description' | 'address' | 'kind', string>) {
  const text = escaped(description.slice(0, DESCRIPTION_MAX))
  return `<title>${escaped(title)} · Coinslot</title>
<meta name="description" content="${text}">
<link rel="canonical" href="${escaped(address)}">
<meta property="og:type" content="${kind}">
<meta property="og:title" content="${escaped(title)}">
<meta property="og:description" content="${text}">
<meta property="og:url" content="${escaped(address)}">`
}

/** As the script draws it around the pages of visitors, so that little moves when it takes over. */
function frame(inner: string): string {
  return `<header class="flex h-14 items-center border-b border-line bg-paper px-4 font-semibold tracking-tight sm:px-6">Coinslot</header>
<main class="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 sm:px-6 lg:py-8">${inner}
<noscript><p class="mt-6 text-quiet">To run an asset on this page, turn on JavaScript. Everything can be done over the API, too: see /docs.</p></noscript>
</main>`
}

function cardOf(asset: OpenAsset, site: string): string {
  return `<li class="rounded-xl border border-line bg-paper p-4">
<h2 class="font-semibold break-words"><a class="link" href="${site}/marketplace/${asset.slug}">${escaped(asset.name)}</a></h2>
<p class="break-words text-quiet">${escaped(asset.description)}</p>
<p>${escaped(lineOf(asset))}</p>
</li>`
}

function reviewOf({ score, text, reply }: OpenOffer['reviews'][number]): string {
  const answer = reply === null ? '' : `<p class="text-quiet">The creator answered: ${escaped(reply)}</p>`
  return `<li class="mt-2 break-words whitespace-pre-wrap"><p>${String(score)} of 5: ${escaped(text)}</p>${answer}</li>`
}

function lineOf({ type, creator, pricing: { model, amount, estimatedCost }, rating, runs }: OpenAsset): string {
  const price =
    model === 'free'
      ? 'Free'
      : model === 'per-run'
        ? `${estimatedCost ?? `${inUsdc(amount)} USDC`} per run`
        : (estimatedCost ?? `${inUsdc(amount)} USDC ${UNITS[model] ?? ''}`)
  return [
    type,
    ...(creator === null ? [] : [`by ${creator}`]),
    price,
    ...(rating === null ? [] : [`rated ${rating.average.toFixed(1)} of 5`]),
    `${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`,
  ].join(' · ')
}

const UNITS: Readonly<Record<string, string>> = { 'per-token': 'per 1,000 tokens', 'per-second': 'per second' }
const INTRO = 'Prompts, agents and tools by other creators. You pay for each run, in USDC.'
/** As long as the list's page in the script. */
const PAGE = 24
/** What is further back is found by a search or a link. */
const PAGES_MAX = 50
/** Search engines show about this much. */
const DESCRIPTION_MAX = 300
const SLUG = /^[A-Za-z0-9_-]{1,100}$/
