import { readdirSync, readFileSync } from 'node:fs'
import { languageOf } from '../../service/kit/language.ts'
import { en } from '../../service/pages/browser/words/en.ts'
import { LANGUAGES, wordsOf } from '../../service/pages/browser/words/languages.ts'
import { say, sayCode, speak, usdc, type Words } from '../../service/pages/browser/words/say.ts'

const BROWSER = 'service/pages/browser'
const KEYS = Object.keys(en) as (keyof Words)[]

/** Every form of a text. */
function formsOf(words: Words, key: keyof Words): readonly string[] {
  const text = words[key]
  return typeof text === 'string' ? [text] : Object.values(text)
}

function slotsOf(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort()
}

describe('the languages of the pages', () => {
  it.each(Object.entries(LANGUAGES))('%s has the same placeholders, in each plural form', (language, words) => {
    const plurals = new Intl.PluralRules(language).resolvedOptions().pluralCategories
    for (const key of KEYS) {
      for (const form of formsOf(words, key)) expect([key, slotsOf(form)]).toEqual([key, slotsOf(formsOf(en, key)[0]!)])
      const text = words[key]
      if (typeof text !== 'string') {
        // French and its like have a form for millions, of which no page speaks.
        expect(plurals.filter((category) => category !== 'many' && !(category in text))).toEqual([])
      }
    }
  })

  it.each(Object.entries(LANGUAGES))('%s translates every text', (language, words) => {
    if (language === 'en') return
    const same = KEYS.filter((key) => formsOf(words, key)[0] === formsOf(en, key)[0] && !SAME.has(key))
    expect(same).toEqual([])
    expect(KEYS.filter((key) => formsOf(words, key).some((form) => form.trim() !== form || form === ''))).toEqual([])
  })

  it('has no text that no page shows', () => {
    const sources = readdirSync(BROWSER, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/^words\/(?:de|en|es|fr|it|ja|pt|zh)\.ts$/.test(name))
      .map((name) => readFileSync(`${BROWSER}/${name}`, 'utf8'))
      .join('\n')
    // Two groups are named by codes: those of the server's reports and of failed attempts.
    const named = KEYS.filter((key) => !sources.includes(`'${key}'`) && !/^(?:report|fault)\./.test(key))
    expect(named).toEqual([])
  })

  it('sends a page the groups that it uses, in one language', () => {
    const words = wordsOf('de', ['verify'])
    expect(words['verify.title']).toBe('Beleg prüfen')
    expect(Object.keys(words).every((key) => key.startsWith('verify.'))).toBe(true)
  })

  it('writes an amount in full, and a number in the form that its language has for it', () => {
    speak('de', LANGUAGES.de)
    expect([usdc(1234.5), usdc(0.000001), usdc(5)]).toEqual(['1.234,50 USDC', '0,000001 USDC', '5,00 USDC'])
    expect(say('form.orLess', { limit: 0.0005 })).toBe('Geben Sie 0,0005 oder weniger ein.')
    speak('fr', LANGUAGES.fr)
    expect(say('form.atLeast', { count: 0 })).toBe('Saisissez au moins 0 caractère.')
    speak('ja', LANGUAGES.ja)
    expect(say('form.atLeast', { count: 1 })).toBe('1 文字以上で入力してください。')
    // Codes come from others' servers.
    expect([sayCode('fault', 'constructor'), sayCode('fault', 'response_timeout')]).toEqual([
      null,
      '時間内に応答がありませんでした。',
    ])
  })
})

/** Words that are the same in some languages, or names. */
const SAME: ReadonlySet<string> = new Set([
  'passkey.wallet',
  'common.test',
  'common.optional',
  'terms.poweredBy',
  'terms.privacy',
  'terms.assistantFile',
  'progress.transaction',
  'progress.date',
  'verify.transaction',
  'verify.date',
  'message.transaction',
  'transfer.transaction',
  'chat.conversation',
  'chat.messages',
])

describe("a reader's language", () => {
  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', undefined, 'de'],
    ['nl,fr-CH;q=0.4, it;q=0.7', undefined, 'it'],
    ['zh-Hant-TW', undefined, 'zh'],
    ['sv,da;q=0.5', undefined, 'en'],
    ['de;q=0, es', undefined, 'es'],
    ['*', undefined, 'en'],
    [undefined, undefined, 'en'],
    ['de', 'ja', 'ja'],
    ['de', 'xx', 'de'],
    ['de', ['fr', 'it'], 'de'],
    ['de;q=2,fr', undefined, 'fr'],
  ])('%s with lang=%j is %s', (accepted, lang, language) => {
    expect(languageOf({ accepted, lang })).toBe(language)
  })

  it('is looked for in the beginning of a long header only', () => {
    expect(languageOf({ accepted: `${'sv,'.repeat(200)}de`, lang: undefined })).toBe('en')
  })
})
