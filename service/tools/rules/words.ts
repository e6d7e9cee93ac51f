/** The word stems of a text, for the search. */
export function stemsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => (word === '' || word.length > WORD_MAX ? [] : [stemOf(word)]))
}

/** The stems of a query, each once. Filler words are left out, unless the query has no others. */
export function queryStems(query: string): string[] {
  return queryWords(query).map(({ stem }) => stem)
}

/** The same, and each stem also joined with its neighbours: `page views` may mean `pageviews`. */
export function queryWords(query: string): QueryWord[] {
  const all = stemsOf(query.slice(0, QUERY_MAX)).slice(0, STEMS_MAX)
  const words = new Map<string, QueryWord>()
  for (const [place, stem] of all.entries()) {
    const [before, after] = [all[place - 1], all[place + 1]]
    const joined = [...(before === undefined ? [] : [before + stem]), ...(after === undefined ? [] : [stem + after])]
    if (!words.has(stem)) words.set(stem, { stem, joined })
  }
  const telling = [...words.values()].filter(({ stem }) => !STOP.has(stem))
  return telling.length === 0 ? [...words.values()] : telling
}

export interface QueryWord {
  stem: string
  joined: readonly string[]
}

/** Stems that mean nearly the same. */
export function synonymsOf(stem: string): readonly string[] {
  return SYNONYMS.get(stem) ?? []
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
  call information about all one`
    .split(/\s+/)
    .map(stemOf),
)

/** All words in a line are synonyms of each other. */
const MEANINGS = `
create add new make insert open
delete remove destroy erase drop
update edit change modify set patch rename
get read fetch retrieve show view describe
list enumerate browse index
search find query lookup
send post publish submit
stop cancel abort terminate end
start run launch trigger dispatch execute begin
repository repo
pull-request pr pull merge
issue ticket bug
user member account person people collaborator
organization org company
team group
file document attachment
folder directory
image picture photo screenshot thumbnail
server droplet instance vm machine host
email mail
message chat comment reply
key token credential secret
domain dns hostname
database db
kubernetes k8 cluster
invoice bill payment charge
star favorite like bookmark
article page wiki wikipedia
permission access role right
branch ref
commit revision changeset
workflow action pipeline ci
webhook hook callback
statistic stat metric analytic view
usage consumption quota
log event audit history
space astronomy nasa
weather forecast climate
font typeface
color colour style
component widget
variable env environment
backup snapshot
region datacenter location
cost price billing spend
vulnerability advisory security alert
label tag
release version
lock protect
my me own authenticated current self
upload import
download export`

const SYNONYMS = readMeanings()

function readMeanings(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>()
  for (const line of MEANINGS.trim().split('\n')) {
    const stems = line.split(' ').map(stemOf)
    for (const stem of stems) {
      const others = found.get(stem) ?? new Set()
      for (const other of stems) if (other !== stem) others.add(other)
      found.set(stem, others)
    }
  }
  return new Map([...found].map(([stem, others]) => [stem, [...others]]))
}
