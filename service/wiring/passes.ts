import { hkdfSync } from 'node:crypto'
import { z } from 'zod'
import { digestOfMessage, recoverMessage } from '../chain/messages.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Chains } from './chains.ts'
import type { Part, Platform } from './platform.ts'
import type { Topic } from '../queue/model.ts'
import { passRoutes } from '../passes/http.ts'
import type { WalletSignatures } from '../passes/ports.ts'
import { createPasses, ENDING, type Passes } from '../passes/service/passes.ts'
import { createPassHooks, createPassTokens, type PassDeps, type PassHooks } from '../passes/service/rights.ts'
import { createPassStore } from '../passes/store.ts'

/** Runs that customers have paid for ahead, and trial runs. */
export function openPasses(platform: Platform, { chains, deliveries, identity, nameOf }: Others): Opened {
  const { config, clock, database, outbox, secret, facts } = platform
  // A key of its own, so that a pass's token opens no payment.
  const tokens = createPassTokens(Buffer.from(hkdfSync('sha256', secret, '', 'coinslot pass tokens', 32)))
  const deps: PassDeps = {
    store: createPassStore(database.statements),
    tokens,
    event: (inside, event) => deliveries.event(inside, event),
    clock,
    signatures: signaturesBy(chains),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    mail: (mail) => identity.mailCustomer(mail),
    pageOf: (checkout) => `${config.addresses.pay}/${checkout}`,
    nameOf,
  }
  const passes = createPasses(deps)
  const passHooks = createPassHooks(deps)
  facts.subscribe('refund.ended', (inside, { sale }) => passHooks.refunded(inside, sale))
  const ending: Topic<{ passId: string }> = {
    topic: ENDING,
    decode: z.object({ passId: z.string() }),
    handle: ({ passId }, { id }) => passes.remind(passId, id),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  return {
    passes,
    passHooks,
    part: {
      routes: [{ surface: 'api', routes: passRoutes(passes, () => clock.now()) }],
      topics: [ending],
      sweepers: [
        { name: 'passes.due', everyMs: 10_000, run: (now) => passes.sweepers.due(now) },
        { name: 'passes.reminders', everyMs: 60_000, run: (now) => passes.sweepers.reminders(now) },
      ],
    },
  }
}

interface Opened {
  passes: Passes
  passHooks: PassHooks
  part: Part
}

interface Others {
  chains: Chains
  deliveries: Pick<Deliveries, 'event'>
  identity: Pick<Identity, 'mailCustomer'>
  nameOf: PassDeps['nameOf']
}

function signaturesBy({ byNetwork }: Chains): WalletSignatures {
  return {
    recover: recoverMessage,
    async isSignedByCode(network, wallet, { text, signature }) {
      const chain = byNetwork.get(network)
      return chain !== undefined && (await chain.isSignedByCode(wallet, digestOfMessage(text), signature))
    },
  }
}
