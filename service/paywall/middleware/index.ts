/*
 * The paywall for other people's own servers. It has no database and no account: it calls a facilitator over HTTP and,
 * if configured, a chain's RPC. Its rules and their order are those of the gateway, from the same files.
 */
export { paywall, type PaywallOptions } from './express.ts'
export { memoryBooks, type MemoryBooks, type PaymentEvent } from './memory.ts'
export { verifyIdentity, type VerifiedIdentity } from './identity.ts'
export type { Held, Hold } from '../ports.ts'
export type { PaymentJournal as Books } from '../service/deps.ts'
export { claimedSale, type Delivered, type NewSale, type Sale, type StoredAnswer } from '../../sales/model.ts'
export { nextTier, type Places } from '../rules/pricing.ts'
export { paymentOf } from '../rules/payment.ts'
export type { Payment, Pricing, Route, Tier } from '../model.ts'
