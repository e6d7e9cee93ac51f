/** The languages of the pages that people without an account see. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'ja', 'zh'] as const

export type Language = (typeof LANGUAGES)[number]

/** What a request says about its reader's language. */
export interface Reader {
  /** `?lang=`, which decides where it names a language of the pages. */
  lang: unknown
  /** The header `Accept-Language`. */
  accepted: string | undefined
}

/** The reader's first choice among the languages of the pages, by the weights of RFC 9110; English for all others. */
export function languageOf({ lang, accepted = '' }: Reader): Language {
  if (typeof lang === 'string') {
    const chosen = known(lang)
    if (chosen !== null) return chosen
  }
  const ranges = accepted.slice(0, LENGTH_MAX).split(',')
  const choices = ranges.flatMap((range) => {
    const [tag = '', weight = ''] = range.split(';')
    const language = known(tag)
    const quality = Number(/^\s{0,9}q=([01](?:\.\d{0,3})?)\s{0,9}$/i.exec(weight)?.[1] ?? (weight === '' ? 1 : 0))
    return language === null || quality === 0 ? [] : [{ language, quality }]
  })
  // Of equal weights the first one counts, because the sort is stable.
  return choices.sort((one, other) => other.quality - one.quality)[0]?.language ?? 'en'
}

/** `de-AT` is German; the pages have one form of each language. */
function known(tag: string): Language | null {
  const primary = tag.trim().toLowerCase().split('-')[0]
  return LANGUAGES.find((language) => language === primary) ?? null
}

/** Browsers send less than this. */
const LENGTH_MAX = 500
