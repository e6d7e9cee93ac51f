import type { CheckoutPage } from '../../model.ts'
import { say } from '../words/say.ts'
import { onThisHost } from './Result.tsx'

type Brand = NonNullable<CheckoutPage['brand']>

/** Who sells, above the product. */
export function Seller({ name, logo }: Pick<Brand, 'name' | 'logo'>) {
  if (name === null && logo === null) return null
  return (
    <p class="seller">
      {logo !== null && (
        // Its height is fixed, so that nothing moves when it has loaded.
        <img src={onThisHost(logo.url)} width={logo.width} height={logo.height} alt={name ?? ''} />
      )}
      {name !== null && <span class={logo === null ? '' : 'seller-name'}>{name}</span>}
    </p>
  )
}

/** Whom to ask, and what the law wants to be said. The seller's addresses are opened as links only. */
export function Legal({ supportEmail, supportUrl, imprintUrl, termsUrl, privacyUrl }: Brand) {
  const links = [
    [supportEmail === null ? null : `mailto:${supportEmail}`, supportEmail ?? ''],
    [supportUrl, say('terms.contact')],
    [imprintUrl, say('terms.imprint')],
    [termsUrl, say('terms.conditions')],
    [privacyUrl, say('terms.privacy')],
  ] as const
  if (links.every(([href]) => href === null)) return null
  return (
    <ul class="legal" aria-label={say('terms.support')}>
      {links.map(
        ([href, text]) =>
          href !== null && (
            <li key={text}>
              <a href={href} target="_blank" rel="noreferrer noopener">
                {text}
              </a>
            </li>
          ),
      )}
    </ul>
  )
}
