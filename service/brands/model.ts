/** How an account shows itself to its buyers, in one environment. */
export interface Brand {
  name: string | null
  /** A file of the purpose `picture`. */
  logo: string | null
  /** Any colour, as #rrggbb in lower case. */
  accent: string | null
  theme: Theme
  supportEmail: string | null
  supportUrl: string | null
  imprintUrl: string | null
  termsUrl: string | null
  privacyUrl: string | null
}

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** What buyers see of it. */
export interface BrandView extends Omit<Brand, 'logo'> {
  logo: { url: string; width: number; height: number } | null
  /** Made from the accent, so that every text on it and in it can be read. Null without an accent. */
  colors: { light: Palette; dark: Palette } | null
}

/** Colours as #rrggbb. */
export interface Palette {
  /** For links and marks, on the page's ground. */
  accent: string
  /** Of buttons: the accent itself. */
  fill: string
  onFill: string
  /** Of a button under the pointer. */
  fillDeep: string
}

export const NO_BRAND: Brand = {
  name: null,
  logo: null,
  accent: null,
  theme: 'auto',
  supportEmail: null,
  supportUrl: null,
  imprintUrl: null,
  termsUrl: null,
  privacyUrl: null,
}
