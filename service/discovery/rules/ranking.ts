import type { Address } from '../../chain/model.ts'
import type { Patronage, Transfer } from '../model.ts'

/** What is ranked: an entry, its merchant, and whether another entry is about the same resource. */
export interface RankedResource {
  id: bigint
  merchant: Address
  /** Equal for entries of the same resource on the same network. */
  place: string
  firstAt: Date
  /** False for a withdrawn entry, which is not shown and hides no other entry. */
  isSold: boolean
}

export type Visit = Patronage & { lastAt: Date }

export interface Rank {
  score: number
  /** All distinct payers: shown, and not ranked by. */
  payers: number
  calls: number
  /** Another merchant's entry about the same resource ranks higher. */
  shadowed: boolean
}

/**
 * Ranks by distinct payers who were funded elsewhere, then by success and speed. Calls and amounts do not count at all,
 * because one's own wallets can make any number of them. It yields between its parts, so that a process with a large
 * catalogue can answer requests in between.
 */
export function* ranking(
  resources: readonly RankedResource[],
  visits: readonly Visit[],
  transfers: readonly Transfer[],
): Generator<undefined, Map<bigint, Rank>> {
  const accounts = new Accounts()
  const merchants = new Map(resources.map(({ id, merchant }) => [id, accounts.of(merchant)]))
  const all = visits.map((visit) => ({ ...visit, account: accounts.of(visit.payer) }))
  const funding = transfers.map(({ from, to }): [Account, Account] => [accounts.of(from), accounts.of(to)])
  yield
  const money = new Money()
  yield* money.read(all, funding, merchants)
  const visitsOf = grouped(all, ({ resource }) => resource)
  const ranks = new Map<bigint, Rank>()
  for (const [id, merchant] of merchants) {
    const of = visitsOf.get(id) ?? []
    const calls = of.reduce((sum, { settled }) => sum + settled, 0)
    const payers = of.filter(({ settled }) => settled > 0).length
    ranks.set(id, { score: scoreOf(money.groupsOf(merchant, of)), payers, calls, shadowed: false })
    if (ranks.size % PART === 0) yield
  }
  shadow(resources, ranks)
  return ranks
}

const PART = 500

/** Of several entries about one resource only the best is shown; of equal ones the one that was first. */
function shadow(resources: readonly RankedResource[], ranks: ReadonlyMap<bigint, Rank>): void {
  const sold = resources.filter(({ isSold }) => isSold)
  for (const rivals of grouped(sold, ({ place }) => place).values()) {
    if (rivals.length < 2) continue
    const scoreIn = ({ id }: RankedResource): number => ranks.get(id)?.score ?? 0
    const [, ...others] = rivals.toSorted(
      (one, other) => scoreIn(other) - scoreIn(one) || one.firstAt.getTime() - other.firstAt.getTime(),
    )
    for (const { id } of others) {
      const found = ranks.get(id)
      if (found !== undefined) found.shadowed = true
    }
  }
}

/** The payers that do not count have no say in success and speed either. */
function scoreOf({ count, groups }: Groups): number {
  return count * successOf(groups) * quicknessOf(groups.flat())
}

/**
 * Each group of payers has one vote, so failed payments from many wallets of one origin cannot spoil a seller's rate.
 * Four successes are added: otherwise the first failure would rank a new seller last.
 */
function successOf(groups: readonly (readonly Visit[])[]): number {
  let rates = 0
  for (const group of groups) {
    const settled = group.reduce((sum, one) => sum + one.settled, 0)
    const failed = group.reduce((sum, one) => sum + one.failed, 0)
    rates += settled / Math.max(1, settled + failed)
  }
  return 0.2 + (0.8 * (rates + 4)) / (groups.length + 4)
}

/** Half a second costs almost nothing, ten seconds a fifth. The median payer decides. */
function quicknessOf(visits: readonly Visit[]): number {
  const means = visits.filter(({ timed }) => timed > 0).map(({ waitedMs, timed }) => waitedMs / timed)
  if (means.length === 0) return 1
  const median = means.sort((one, other) => one - other)[Math.floor(means.length / 2)] ?? 0
  return 1 / (1 + Math.max(0, median) / 2_000) ** 0.12
}

interface Groups {
  /** How many independent origins the payers have. */
  count: number
  /** The payers that count, by origin. */
  groups: readonly (readonly Numbered[])[]
}

/** Where payers have their money from, as far as it is known here. */
class Money {
  /** Accountes whose money has one origin: each sent some to another one of them. */
  private readonly origins = new Union()
  /** Accountes of which a transfer is known that funded them. */
  private readonly funded = new Set<Account>()
  private readonly senders = new Map<Account, Set<Account>>()
  private readonly receivers = new Map<Account, Set<Account>>()
  /** The origins of what an address earns here, when they are few. */
  private readonly incomes = new Map<Account, ReadonlySet<Account>>()
  private readonly businesses = new Set<Account>()
  private exchanges: ReadonlySet<Account> = new Set()

  /**
   * The payers of a merchant by origin. Payers whose money comes from the merchant, or shares its origin, do not count.
   * All payers of unknown origin are one group.
   */
  groupsOf(merchant: Account, visits: readonly Numbered[]): Groups {
    if (visits.length === 0) return { count: 0, groups: [] }
    const own = this.origins.of(merchant)
    const paidBack = this.reachedFrom(merchant)
    const local = new Union()
    const counting: Numbered[] = []
    for (const visit of visits) {
      const { account: payer, settled } = visit
      const labels = this.labelsOf(payer)
      if (settled === 0 || payer === merchant || paidBack.has(payer) || labels.includes(own)) continue
      counting.push(visit)
      for (const label of labels) local.join(payer, label)
    }
    const groups = [...grouped(counting, ({ account }) => local.of(account)).values()]
    return { count: groups.length - this.repeated(groups), groups }
  }

  /** The origins of an address: of what was sent to it, and of its income where a few customers made that. */
  private labelsOf(payer: Account): Account[] {
    const income = this.businesses.has(payer) ? [payer] : [...(this.incomes.get(payer) ?? [])]
    const labels = this.funded.has(payer) ? [this.origins.of(payer), ...income] : income
    return labels.length === 0 ? [UNKNOWN] : labels
  }

  /** Many people withdraw from one exchange, and one person may do it many times: each doubling counts once. */
  private repeated(groups: readonly (readonly Numbered[])[]): number {
    const counts = new Map<Account, number>()
    for (const group of groups) {
      const [source, ...others] = new Set(group.flatMap(({ account }) => [...(this.senders.get(account) ?? [])]))
      if (source === undefined || others.length > 0 || !this.exchanges.has(source)) continue
      counts.set(source, (counts.get(source) ?? 0) + 1)
    }
    return [...counts.values()].reduce((sum, count) => sum + count - (1 + Math.log2(count)), 0)
  }

  /** Part by part. Everything else needs what is read here. */
  *read(
    visits: readonly Numbered[],
    transfers: readonly (readonly [Account, Account])[],
    merchants: ReadonlyMap<bigint, Account>,
  ): Generator<undefined, void> {
    const trade = tradeOf(visits, merchants)
    yield
    // The payments of customers are on the chain too. They are income, and customers are not owners.
    const funding = transfers.filter(([from, to]) => from !== to && trade.bought.get(from)?.has(to) !== true)
    for (const [from, to] of funding) {
      this.add(from, to)
      this.funded.add(to)
    }
    yield
    this.exchanges = this.findExchanges(trade)
    for (const [from, to] of funding) {
      if (!this.exchanges.has(from) && !this.exchanges.has(to)) this.origins.join(from, to)
    }
    yield
    this.addIncome(trade)
  }

  private add(from: Account, to: Account): void {
    if (from === to) return
    setIn(this.senders, to).add(from)
    setIn(this.receivers, from).add(to)
  }

  /**
   * Accountes that fund so many payers, at so many unrelated merchants, that they cannot be one merchant's own: without
   * them all customers of an exchange would count as one. Most of those merchants must have other payers too, which a
   * group of one's own merchants has not.
   */
  private findExchanges({ bought, sold }: Trade): Set<Account> {
    const found = new Set<Account>()
    for (const [sender, receivers] of this.receivers) {
      const payers = [...receivers].filter((receiver) => bought.has(receiver))
      if (payers.length < EXCHANGE.payers || sold.has(sender) || bought.has(sender)) continue
      const shares = new Map<Account, number>()
      for (const payer of payers) {
        for (const merchant of bought.get(payer) ?? []) shares.set(merchant, (shares.get(merchant) ?? 0) + 1)
      }
      const mixed = [...shares].filter(([merchant, share]) => share * 2 <= (sold.get(merchant)?.size ?? 0))
      const isSpread = Math.max(...shares.values()) * EXCHANGE.shareDivisor <= payers.length
      if (shares.size >= EXCHANGE.merchants && isSpread && mixed.length * 2 >= shares.size) found.add(sender)
    }
    return found
  }

  /**
   * Who earns here and spends here is funded by its customers. With few of them it spends their money; with more it is a
   * business of its own.
   */
  private addIncome({ bought, sold }: Trade): void {
    for (const [merchant, payers] of sold) {
      if (!bought.has(merchant)) continue
      const customers = [...payers].filter((payer) => payer !== merchant)
      const origins = new Set(customers.map((one) => (this.funded.has(one) ? this.origins.of(one) : UNKNOWN)))
      if (origins.size > INCOMES_MAX) this.businesses.add(merchant)
      else this.incomes.set(merchant, origins)
      for (const customer of customers) this.add(customer, merchant)
    }
  }

  /** Where the merchant's money went, a few steps far. It does not go on through exchanges and businesses. */
  private reachedFrom(merchant: Account): Set<Account> {
    const reached = new Set<Account>()
    let border: Account[] = [merchant]
    for (let step = 0; step < STEPS_MAX && border.length > 0 && reached.size < REACHED_MAX; step++) {
      const next: Account[] = []
      for (const address of border) {
        if (step > 0 && (this.exchanges.has(address) || this.businesses.has(address))) continue
        for (const receiver of this.receivers.get(address) ?? []) {
          if (reached.has(receiver)) continue
          reached.add(receiver)
          next.push(receiver)
        }
      }
      border = next
    }
    return reached
  }
}

/** Stands for all origins that are not known: together they are one. */
const UNKNOWN: Account = 0

const EXCHANGE = { payers: 20, merchants: 5, shareDivisor: 4 }
const INCOMES_MAX = 3
const STEPS_MAX = 4
const REACHED_MAX = 1_000

/** Who bought from whom. */
interface Trade {
  bought: ReadonlyMap<Account, ReadonlySet<Account>>
  sold: ReadonlyMap<Account, ReadonlySet<Account>>
}

function tradeOf(visits: readonly Numbered[], merchants: ReadonlyMap<bigint, Account>): Trade {
  const bought = new Map<Account, Set<Account>>()
  const sold = new Map<Account, Set<Account>>()
  for (const { resource, account: payer, settled } of visits) {
    const merchant = merchants.get(resource)
    if (merchant === undefined || settled === 0) continue
    setIn(bought, payer).add(merchant)
    setIn(sold, merchant).add(payer)
  }
  return { bought, sold }
}

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

function setIn<Key>(map: Map<Key, Set<Account>>, key: Key): Set<Account> {
  let found = map.get(key)
  if (found === undefined) map.set(key, (found = new Set()))
  return found
}

/** Union-find: sets of addresses that belong together. */
class Union {
  private readonly parents = new Map<Account, Account>()

  of(account: Account): Account {
    let root = account
    for (let parent = this.parents.get(root); parent !== undefined; parent = this.parents.get(root)) root = parent
    // Every address on the way now points to the root, so the next look-up is one step.
    for (let at = account; at !== root;) {
      const next = this.parents.get(at) ?? root
      this.parents.set(at, root)
      at = next
    }
    return root
  }

  join(one: Account, other: Account): void {
    const [first, second] = [this.of(one), this.of(other)]
    if (first !== second) this.parents.set(Math.max(first, second), Math.min(first, second))
  }
}

/** An address as a number, because numbers are looked up several times as fast. */
type Account = number

type Numbered = Visit & { account: Account }

class Accounts {
  private readonly numbers = new Map<Address, Account>()

  of(address: Address): Account {
    const known = this.numbers.get(address)
    if (known !== undefined) return known
    const made = this.numbers.size + 1
    this.numbers.set(address, made)
    return made
  }
}
