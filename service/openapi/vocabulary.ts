import { createHash } from 'node:crypto'

/*
 * Values that fit a field's name or its format, drawn from a hash: the same path and seed give the same value.
 */

/** A field by its name, or by its list's name: an item of `/labels/0` is a label. */
export interface Field {
  words: string
  last: string
  hex: string
  pick(list: string): string
  /** The fields of one person name the same person. Null where the field is not one of a person. */
  person: Person | null
}

interface Person {
  first: string
  family: string
  login: string
}

export function fieldOf(path: string, seed: string, isOfPerson = false): Field {
  const parts = path.split('/')
  const names = parts.filter((name) => name !== '' && !/^\d+$/.test(name)).map(wordsOf)
  const words = names.at(-1) ?? 'value'
  const { hex, pick } = drawer(`${seed} ${path}`)
  const isPerson = isOfPerson || PEOPLE.test(names.at(-2) ?? '') || PEOPLE.test(words)
  return { words, last: words || 'value', hex, pick, person: isPerson ? personAt(parts, words, seed) : null }
}

function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase()
}

function personAt(parts: readonly string[], words: string, seed: string): Person {
  const at = PEOPLE.test(words) ? parts : parts.slice(0, -1)
  const { hex, pick } = drawer(`${seed} ${at.join('/')} person`)
  const first = pick(FIRST_NAMES)
  return { first, family: pick(LAST_NAMES), login: `${first.toLowerCase()}-${hex.slice(0, 4)}` }
}

function drawer(of: string): Pick<Field, 'hex' | 'pick'> {
  const hex = createHash('sha256').update(of).digest('hex')
  let drawn = 8
  const pick = (list: string): string => {
    const choices = list.split(' ')
    drawn += 4
    return choices[parseInt(hex.slice(drawn, drawn + 4), 16) % choices.length] ?? ''
  }
  return { hex, pick }
}

const PEOPLE =
  /^(user|owner|author|creator|actor|assignee|sender|reviewer|committer|member|person|contact|customer|employee|uploader|approver|participant|collaborator|invitee|(created|modified|updated|owned|resolved|closed|merged|requested|assigned|uploaded|shared|edited|deleted) by)s?$/

const FIRST_NAMES = 'Maria Kenji Amara Lukas Ines Omar Freya Diego'
const LAST_NAMES = 'Keller Tanaka Okafor Silva Novak Haddad Lind Costa'

export function textFor(field: Field): string {
  const found = TEXTS.find(([pattern]) => pattern.test(field.words))
  return found === undefined ? `Example ${field.last}` : found[1](field)
}

/** By the words of a field's name, the most telling first. */
const TEXTS: readonly (readonly [RegExp, (field: Field) => string])[] = [
  [/\b(e mail|email|mail)\b/, emailFor],
  [/\b(url|uri|href|link|website|homepage|html url|endpoint)$/, addressFor],
  [/\b(phone|mobile|fax)\b/, ({ hex }) => `+1555010${String((parseInt(hex.slice(0, 4), 16) % 900) + 100)}`],
  [/^cve( id)?$/, ({ hex }) => `CVE-2026-${String((parseInt(hex.slice(0, 4), 16) % 9_000) + 1_000)}`],
  [/^ghsa( id)?$/, ({ hex }) => `GHSA-${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8, 12)}`],
  [/\burn$/, ({ hex }) => `urn:example:${hex.slice(0, 12)}`],
  [/\b(sha|hash|digest|checksum|etag|oid)\d{0,4}$/, ({ hex }) => hex.slice(0, 40)],
  [/\b(token|secret|key|password|passcode|signature|cursor|marker)$/, ({ hex }) => hex.slice(0, 24)],
  [/\b(at|time|timestamp|since|until)$/, (field) => timeFor(field)],
  [/\b(date|week|released|birthday|deadline|period|(period|range) (start|end))$/, (field) => dayFor(field)],
  [/^(hour|time of day)$/, ({ pick }) => `${pick('08 12 17 21')}:00`],
  [/\byear$/, () => '2026'],
  [/\bmonth$/, ({ pick }) => `0${pick('1 2 3 4 5 6')}`],
  [/^day$/, ({ pick }) => `1${pick('1 4 7')}`],
  [/\bgranularity$/, () => 'daily'],
  [/\b(next|prev|previous|first|last) page$/, ({ hex }) => `https://example.com/pages?cursor=${hex.slice(0, 12)}`],
  [/\b(domain|host|hostname|dns name)s?$/, ({ pick }) => `${pick('www api shop')}.example.com`],
  [/\b(tag|label|topic|keyword)s?$/, ({ pick }) => pick('urgent launch design billing')],
  [/\b(feature|capability|permission|scope)s?$/, ({ pick }) => pick('read write backups monitoring')],
  [/\bsizes?$/, ({ pick }) => pick('small medium large')],
  [/\bregions$/, ({ pick }) => pick('eu-central us-east ap-south')],
  [/\b(ids?|uuid|guid|sid|number)$/, ({ hex }) => hex.slice(0, 12)],
  [/\b(ip|ip address)$/, ipFor],
  [
    /\b(login|username|user name|handle)$/,
    ({ person, hex, pick }) => person?.login ?? `${pick(FIRST_NAMES).toLowerCase()}-${hex.slice(0, 4)}`,
  ],
  [/\bslug$/, ({ pick }) => `${pick('harbour summit meadow river')}-${pick('web data docs api')}`],
  [/\b(user|owner|author|creator|person|full name|[a-z]+ed by)( name)?$/, fullNameFor],
  [/\b(first name|given name)$/, ({ person, pick }) => person?.first ?? pick(FIRST_NAMES)],
  [/\b(last name|family name|surname)$/, ({ person, pick }) => person?.family ?? pick(LAST_NAMES)],
  [/\bcity$/, ({ pick }) => pick('Lisbon Berlin Osaka Toronto Nairobi')],
  [/\bcountry( code)?$/, ({ pick }) => pick('PT DE JP CA KE')],
  [/\bcurrency( code)?$/, () => 'USD'],
  [/\b(language|locale|lang)s?( code)?$/, () => 'en'],
  [/\btime ?zone$/, () => 'UTC'],
  [/\bregion( slug)?$/, ({ pick }) => pick('eu-central us-east ap-south')],
  [
    /\b(company|organi[sz]ation|enterprise|employer)( name)?$/,
    ({ pick }) => `${pick('Harbour Summit Meadow River')} ${pick('Labs Works Group')}`,
  ],
  [/\b(address|street)$/, ({ pick }) => `${pick('12 27 48 105')} Harbour Street`],
  [/\bcolou?r$/, ({ hex }) => `#${hex.slice(0, 6)}`],
  [/\b(version|tag) range$/, () => '>= 1.2.0, < 1.4.0'],
  [/\b(version|tag)( name)?$/, ({ pick }) => `1.${pick('2 4 7')}.${pick('0 1 3')}`],
  [/\b(branch|ref)$/, () => 'main'],
  [/\b(mime type|content type|media type)$/, () => 'application/json'],
  [/\b(path|file|file ?name)$/, ({ pick }) => `${pick('report notes invoice plan')}-2026.txt`],
  [/\b(status|state)$/, () => 'active'],
  [/\b(type|kind|category|plan)$/, ({ pick }) => pick('standard default basic')],
  [/\b(price|amount|cost|balance|total)$/, ({ pick }) => `${pick('4 12 25 99')}.${pick('00 50 90')}`],
  [
    /\b(title|subject|headline|summary)$/,
    ({ pick }) => `${pick('Quarterly Weekly Launch Design')} ${pick('review plan notes report')}`,
  ],
  [
    /\b(description|body|text|message|comment|note|content|details|reason|fragment|html|markdown)$/,
    () => 'An example text, made up by the sandbox.',
  ],
  [/\b(display )?names?$/, (field) => (field.person === null ? thingName(field) : fullNameFor(field))],
  [
    /\b(project|repo|repository|bucket|cluster|environment|namespace|queue|team|group|channel|source|target|property)s?$/,
    thingName,
  ],
]

function thingName({ pick }: Field): string {
  return `${pick('harbour summit meadow river')}-${pick('web data docs api')}`
}

function fullNameFor({ person, pick }: Field): string {
  return person === null ? `${pick(FIRST_NAMES)} ${pick(LAST_NAMES)}` : `${person.first} ${person.family}`
}

function emailFor({ person, pick }: Field): string {
  return `${(person?.first ?? pick(FIRST_NAMES)).toLowerCase()}@example.com`
}

function addressFor({ hex }: Field): string {
  return `https://example.com/${hex.slice(0, 8)}`
}

function ipFor({ hex }: Field): string {
  return `203.0.113.${String((parseInt(hex.slice(0, 2), 16) % 254) + 1)}`
}

/** What begins comes before what changed, and that before what ends. */
function dayFor({ words, hex }: Field): string {
  const [month, day] = [byteAt(hex, 0), byteAt(hex, 1)]
  const first = ENDS.test(words) ? 10 : CHANGES.test(words) ? 4 : 1
  return `2026-${two(first + (month % 3))}-${two((day % 28) + 1)}`
}

function timeFor(field: Field): string {
  const [hour, minute, second] = [byteAt(field.hex, 2), byteAt(field.hex, 3), byteAt(field.hex, 4)]
  return `${dayFor(field)}T${two(8 + (hour % 10))}:${two(minute % 60)}:${two(second % 60)}Z`
}

function byteAt(hex: string, place: number): number {
  return parseInt(hex.slice(2 * place, 2 * place + 2), 16)
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

const ENDS = /\b(expir[a-z]*|due|end|ends|until|after|next|valid|deadline|renew[a-z]*|scheduled|to|before|max)\b/
const CHANGES =
  /\b(updat[a-z]*|modif[a-z]*|push[a-z]*|last|chang[a-z]*|clos[a-z]*|merg[a-z]*|complet[a-z]*|finish[a-z]*|resolv[a-z]*|publish[a-z]*|delet[a-z]*|ended|stopped|dismissed|refreshed)\b/

/** By the format, where the example has only the one that stands for all of them. */
export const FORMATS: Readonly<Record<string, readonly [RegExp, (field: Field) => string]>> = {
  'date-time': [/^2019-08-24T14:15:22Z$/, timeFor],
  date: [/^2019-08-24$/, dayFor],
  email: [/^user@example\.com$/, emailFor],
  uri: [/^https?:\/\/example\.com\/?$/, addressFor],
  url: [/^https?:\/\/example\.com\/?$/, addressFor],
  hostname: [/^example\.com$/, ({ pick }) => `${pick('www api shop')}.example.com`],
  ipv4: [/^192\.168\.0\.1$/, ipFor],
  uuid: [
    /^497f6eca-6276-4993-bfeb-53cbbbba6f08$/,
    ({ hex }) =>
      [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
        '-',
      ),
  ],
}

export function numberFor({ words, hex }: Field): number {
  const random = parseInt(hex.slice(0, 8), 16)
  const [, make = (draw: number) => (draw % 48) + 1] = NUMBERS.find(([pattern]) => pattern.test(words)) ?? []
  return make(random)
}

const NUMBERS: readonly (readonly [RegExp, (random: number) => number])[] = [
  [/\bids?$/, (random) => 100_000 + (random % 9_000_000)],
  [/\b(at|time|timestamp|expires|reset)$/, (random) => 1_780_000_000 + (random % 10_000_000)],
  [/\byear$/, () => 2026],
  [/\bmonth$/, (random) => (random % 12) + 1],
  [/\b(lat|latitude)$/, (random) => (random % 80) + 0.5],
  [/\b(lon|lng|longitude)$/, (random) => (random % 170) + 0.25],
  [/\b(bytes|size|memory|disk)$/, (random) => 1_024 * ((random % 900) + 1)],
  [/\b(width|height)$/, (random) => 64 * ((random % 16) + 4)],
  [/\b(page|offset|version)$/, () => 1],
  [/\b(port)$/, () => 443],
  // Lists in examples have one item.
  [/\b(total|count)\b/, () => 1],
]
