import type { Language } from '../../../kit/language.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { pt } from './pt.ts'
import type { Words } from './say.ts'
import { zh } from './zh.ts'

/** Only for the server: a browser gets one language, with its page. */
export const LANGUAGES: Readonly<Record<Language, Words>> = { en, de, fr, es, pt, it, ja, zh }

/** The texts of these groups, as a page's script reads them. English stands in for none: every language is complete. */
export function wordsOf(language: Language, groups: readonly string[]): Partial<Words> {
  const wanted = Object.entries(LANGUAGES[language]).filter(([key]) => groups.includes(key.split('.')[0] ?? ''))
  return Object.fromEntries(wanted)
}
