import { didYouMean, nearest } from '../../kit/nearest.ts'
import { DomainError } from '../../kit/errors.ts'
import { BUSINESS } from './business.ts'
import { COMMUNICATION } from './communication.ts'
import { DATA } from './data.ts'
import { DEVELOPER } from './developer.ts'
import type { CuratedProvider, OAuthConnect } from './model.ts'

/**
 * The providers that the service knows how to add. Left out are those that publish no OpenAPI document of their own:
 * Google (Discovery documents), Microsoft Graph (a document larger than is read), Notion, Airtable, Calendly, Shopify,
 * Dropbox and Telegram; and those whose documents come with the service.
 */
export const CURATED: readonly CuratedProvider[] = [...COMMUNICATION, ...BUSINESS, ...DEVELOPER, ...DATA]

export function curatedProvider(slug: string, all = CURATED): CuratedProvider {
  const found = all.find((one) => one.slug === slug)
  if (found !== undefined) return found
  const meant = nearest(
    slug,
    all.map((one) => one.slug),
  )
  const sentence = `There is no provider ${slug} to add; list them with \`npm run tools -- providers\`.${didYouMean(meant)}`
  throw new DomainError('missing', 'provider_not_found', sentence)
}

/** What the operator does next, so that accounts reach their data: in sentences. */
export function connectingOf(provider: CuratedProvider): string[] {
  const { slug, connect, keyPage, isPublic = false } = provider
  if (connect.length === 0) return ['Its tools need no key.']
  const client = connect.find((one): one is OAuthConnect => one.kind === 'oauth')
  const hasKey = connect.some(({ kind }) => kind === 'key')
  return [
    ...(isPublic
      ? [`Its data is public: \`npm run tools -- key ${slug} --key-file <file>\` calls it with your key for everybody.`]
      : []),
    ...(hasKey && !isPublic ? ['Each account connects with its own key.'] : []),
    ...(keyPage === null ? [] : [`${client === undefined || hasKey ? 'Keys' : 'Clients'}: ${keyPage}`]),
    ...(client === undefined
      ? []
      : [`To have accounts sign in, register a client there, then:`, signInCommand(slug, client)]),
  ]
}

function signInCommand(slug: string, { authorizationUrl, tokenUrl, scopes }: OAuthConnect): string {
  const wanted = scopes.length === 0 ? '' : ` --scopes "${scopes.join(' ')}"`
  const addresses = `--authorization-url ${authorizationUrl} --token-url ${tokenUrl}`
  return `  npm run tools -- oauth ${slug} --client-id <id> --client-secret-file <file> ${addresses}${wanted}`
}
