import type { PaymentJournal } from '../service/deps.ts'

/** The journal with these operations in place of its own. */
export function withOwn(books: PaymentJournal, own: Partial<PaymentJournal>): PaymentJournal {
  // A journal on a database may be a class, whose methods need it as `this`.
  return new Proxy(books, {
    get(journal, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown
      const value: unknown = Reflect.get(journal, name)
      return typeof value === 'function' ? (value.bind(journal) as unknown) : value
    },
  })
}
