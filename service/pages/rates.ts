import type { Clock } from '../kit/clock.ts'
import { readJson } from '../kit/json.ts'
import type { Reader } from '../kit/language.ts'
import type { Log } from '../kit/log.ts'
import { isRecord } from '../kit/schema/merge.ts'

/** How much of each currency one US dollar is worth. */
export type Rates = Readonly<Record<string, number>>

/** The currency of a reader, and its rate. */
export interface LocalMoney {
  currency: string
  rate: number
}

/**
 * The rates of the operator's source. No page waits for them: what is known is shown, and asked for again after an hour. Rates of
 * the day before are shown no more.
 */
export function createRates({ ask, clock, log }: RateDeps): () => Rates | null {
  let known: { rates: Rates; at: number } | null = null
  let askAt = 0

  async function read(): Promise<void> {
    try {
      known = { rates: ratesIn(await ask()), at: clock.now().getTime() }
    } catch (error) {
      askAt = clock.now().getTime() + AGAIN_MS
      log.warn({ err: error }, 'the rates of currencies could not be read')
    }
  }

  return () => {
    const now = clock.now().getTime()
    if (now >= askAt) {
      askAt = now + EVERY_MS
      void read()
    }
    return known !== null && now - known.at < KEPT_MS ? known.rates : null
  }
}

/** Of the form `{"rates": {"EUR": 0.92}}`, which the common sources have. */
export function ratesIn(text: string): Rates {
  const body = readJson(text)
  const given = isRecord(body) ? body['rates'] : null
  const rates = Object.entries(isRecord(given) ? given : {}).filter(
    (entry): entry is [string, number] => /^[A-Z]{3}$/.test(entry[0]) && isRate(entry[1]),
  )
  if (rates.length === 0) throw new Error('the answer has no rates')
  return Object.fromEntries(rates)
}

function isRate(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value < RATE_MAX
}

/** By the country of the reader's first language. Null for dollars, and where the currency or its rate is not known. */
export function localMoney(rates: Rates | null, { accepted = '' }: Pick<Reader, 'accepted'>): LocalMoney | null {
  const tag = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}/.exec(accepted.trimStart())?.[0]
  const region = tag === undefined || !isTag(tag) ? undefined : new Intl.Locale(tag).maximize().region
  const currency = CURRENCIES.get(region ?? '')
  const rate = currency === undefined || rates === null || !Object.hasOwn(rates, currency) ? undefined : rates[currency]
  return currency === undefined || rate === undefined ? null : { currency, rate }
}

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

const EVERY_MS = 3_600_000
const AGAIN_MS = 60_000
const KEPT_MS = 24 * EVERY_MS
/** A million of no currency is worth less than a dollar. */
const RATE_MAX = 1_000_000

/** The currency that prices are in, after its countries. Where it is the dollar there is nothing to say. */
const CURRENCIES: ReadonlyMap<string, string> = currenciesOf(`
  AD AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MC ME MT NL PT SI SK SM VA XK: EUR
  GB GG IM JE: GBP, CH LI: CHF, DK: DKK, SE: SEK, NO: NOK, IS: ISK, PL: PLN, CZ: CZK, HU: HUF, RO: RON, UA: UAH, TR: TRY
  JP: JPY, CN: CNY, HK: HKD, TW: TWD, KR: KRW, SG: SGD, IN: INR, ID: IDR, TH: THB, VN: VND, MY: MYR, PH: PHP, PK: PKR, BD: BDT
  AU: AUD, NZ: NZD, CA: CAD, MX: MXN, BR: BRL, AR: ARS, CL: CLP, CO: COP, PE: PEN
  IL: ILS, AE: AED, SA: SAR, EG: EGP, ZA: ZAR, NG: NGN, KE: KES
`)

function currenciesOf(table: string): ReadonlyMap<string, string> {
  const rows = table.trim().split(/,|\n/)
  return new Map(
    rows.flatMap((row) => {
      const [countries = '', currency = ''] = row.trim().split(': ')
      return countries.split(' ').map((country): [string, string] => [country, currency])
    }),
  )
}

interface RateDeps {
  /** The text of the source's answer. */
  ask(): Promise<string>
  clock: Clock
  log: Log
}
