/** The word stems of a text, for the search. */
export function stemsOf(text: string): string[] {
  return allWords(text).map(stemOf)
}

/** `E-mail` is one word, however it is written. */
function allWords(text: string): string[] {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/\be-(?=mails?\b)/g, 'e')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word.length <= WORD_MAX)
}

/** A query's first words as they are, in their order. */
export function firstWords(query: string): string[] {
  return allWords(query.slice(0, QUERY_MAX)).slice(0, STEMS_MAX)
}

/** All stems of a query's first words, in their order. */
export function firstStems(query: string): string[] {
  return firstWords(query).map(stemOf)
}

/** The stems of a query, each once. Filler words are left out, unless the query has no others. */
export function queryStems(query: string): string[] {
  const all = [...new Set(firstStems(query))]
  const telling = all.filter((stem) => !isStop(stem))
  return telling.length === 0 ? all : telling
}

export function isStop(stem: string): boolean {
  return STOP.has(stem)
}

const WORD_MAX = 40
const QUERY_MAX = 1_000
/** A model may paste a whole task. Its first words are enough. */
const STEMS_MAX = 24

/**
 * Removes English endings, few enough that different words stay different: `repositories` and `repository` get one
 * stem.
 */
function stemOf(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  let stem = word
  if (/[^aeiou]ies$/.test(stem)) stem = `${stem.slice(0, -3)}y`
  else if (/(ss|x|ch|sh|z)es$/.test(stem)) stem = stem.slice(0, -2)
  else if (/[^su]s$/.test(stem)) stem = stem.slice(0, -1)
  if (/[aeiouy].*ing$/.test(stem.slice(0, -3) + 'ing') && stem.length > 5 && stem.endsWith('ing'))
    stem = stem.slice(0, -3)
  else if (stem.endsWith('ed') && stem.length > 4 && /[aeiouy]/.test(stem.slice(0, -2))) stem = stem.slice(0, -2)
  // `creating` and `create` both become `creat`. `stopping` becomes `stopp` and then `stop`.
  if (/([b-df-hj-np-tv-z])\1$/.test(stem) && !/(ll|ss|ff)$/.test(stem)) stem = stem.slice(0, -1)
  return stem.length > 3 && stem.endsWith('e') ? stem.slice(0, -1) : stem
}

const STOP = new Set(
  `a an and any are as at be by can could do does for from give have how i in is it its need of on or please so some that
  the their them then there this to tool use using want was we what when where which who will with would you your api
  information about all one someone somebody something between so s t us him her his am me`
    .split(/\s+/)
    .map(stemOf),
)
