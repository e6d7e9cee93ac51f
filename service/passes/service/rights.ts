import { ZERO_ADDRESS } from '../../kit/address.ts'
import { createHmac } from 'node:crypto'
import { canonicalJson } from '../../kit/hash.ts'
import { deriveId, leastId, relatedId, type Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { rightOf, type Right, type Sale } from '../../sales/model.ts'
import { noRunLeft, passEnded, passMissing, passSuspended, passUsedUp, proofRefused, trialsGone } from '../errors.ts'
import { PASS_TOKEN, statusOf, type Claim, type Pass, type Place, type Plan, type WalletProof } from '../model.ts'
import type { Announce, MailCustomer, PassStore, WalletSignatures, WriteEvent } from '../ports.ts'
import {
  assertFresh,
  boundsOf,
  dayOf,
  earliestUse,
  eventDataOf,
  granted,
  hashOfToken,
  isPast,
  nextDay,
  proofText,
  remindAtOf,
} from '../rules.ts'
import type { Clock } from '../../kit/clock.ts'

/** A pass's secret token follows from its id, so that it can be shown to its buyer again. Only its hash is stored. */
export function createPassTokens(key: Buffer) {
  return {
    of: (pass: string): string => `pst_${createHmac('sha256', key).update(`pass ${pass}`).digest('base64url')}`,
  }
}

export type PassTokens = ReturnType<typeof createPassTokens>

/** Who has a right to a run. Nothing is counted here: the sale's own transaction does that. */
export function createRights({ store, signatures, clock }: PassDeps) {
  /** Throws for a token of another checkout or network, and for one of test mode where money is paid. */
  async function byToken({ checkoutId, testMode, network }: PassPlace, token: string) {
    const pass = PASS_TOKEN.test(token) ? await store.byToken(hashOfToken(token)) : null
    const isHere = pass?.checkoutId === checkoutId && pass.simulated === testMode && pass.network === network
    if (!isHere) throw passMissing()
    return pass
  }

  /** Null where the wallet has no right left. */
  async function bySignature(place: Place, proof: WalletProof, inputHash: Buffer): Promise<Right | null> {
    const { checkoutId, network, testMode: simulated, trialRuns } = place
    const now = clock.now()
    assertFresh(proof, now)
    const payer = proof.address.toLowerCase() as Right['payer']
    const text = proofText(place, inputHash, proof.expiresAt)
    const { signature } = proof
    const isSigned =
      (await signatures.recover(text, signature)) === payer ||
      (await signatures.isSignedByCode(network, payer, { text, signature }))
    if (!isSigned) throw proofRefused()
    const wallet = { checkoutId, holder: payer, simulated, network }
    const pass = await store.usableBy(wallet, now)
    if (pass !== null) return { kind: 'pass', id: pass.id, payer, simulated }
    return trialRuns === 0 ? null : { kind: 'trial', id: null, payer, simulated }
  }

  return {
    byToken,

    /** The right, and the operation of this request: the same for the same right and request. */
    async find(place: Place, claim: Claim, asked: { inputHash: Buffer; operation: Id<'op'> }): Promise<FoundRight> {
      if ('pass' in claim) {
        const { id, holder: payer, simulated } = await byToken(place, claim.pass)
        return { right: { kind: 'pass', id, payer, simulated }, operation: relatedId(asked.operation, id) }
      }
      const { proof } = claim
      const right = await bySignature(place, proof, asked.inputHash)
      return { right, operation: operationOf(place, proof, asked.inputHash) }
    },

    /**
     * The operation of a run that a signature may have made before it expired: whoever has that run's token reads it. The
     * signature itself proves nothing any more. Null where it is still good, or expired a day ago.
     */
    past(place: Place, claim: Claim, { inputHash }: { inputHash: Buffer }): Id<'op'> | null {
      if ('pass' in claim || !isPast(claim.proof, clock.now())) return null
      return operationOf(place, claim.proof, inputHash)
    },
  }
}

/** A signature may be written in several forms, so the text that was signed names the request. */
function operationOf({ checkoutId }: Place, proof: WalletProof, inputHash: Buffer): Id<'op'> {
  const request = [checkoutId, proof.address.toLowerCase(), proof.expiresAt.getTime(), inputHash.toString('hex')]
  return relatedId(leastId('op', earliestUse(proof)), canonicalJson(request))
}

export interface FoundRight {
  /** Null where none is left: what was run before for the same request is answered all the same. */
  right: Right | null
  operation: Id<'op'>
}

/** What sales do to passes and trials, in their own transactions. */
export function createPassHooks({ store, event, clock, tokens }: PassHookDeps) {
  async function assertTaken(inside: Statements, id: string, now: Date): Promise<void> {
    if (await store.take(inside, id, now)) return
    const pass = await store.find(id, inside)
    if (pass === null) throw passMissing()
    if (statusOf(pass, now) === 'ended') throw passEnded()
    throw (await store.isSuspended(inside, id)) ? passSuspended() : passUsedUp()
  }

  async function assertTrial(inside: Statements, sale: Sale, place: Trials): Promise<void> {
    const { subject: checkoutId, payer: holder, simulated, createdAt } = sale
    const { trialRuns, trialsPerDay } = place
    const isLeft = trialRuns > 0 && (await store.takeTrial(inside, { checkoutId, holder, simulated }, trialRuns))
    if (!isLeft) throw noRunLeft(trialRuns)
    const day = dayOf(createdAt)
    if (!(await store.takeTrialOfDay(inside, { checkoutId, day }, trialsPerDay))) throw trialsGone(nextDay(createdAt))
  }

  return {
    /** Counts the run that a free sale uses. Throws where none is left, so that there is no sale. */
    async take(inside: Statements, sale: Sale, place: Trials): Promise<void> {
      const right = rightOf(sale)
      if (right?.kind === 'pass') await assertTaken(inside, right.id ?? '', sale.createdAt)
      if (right?.kind === 'trial') await assertTrial(inside, sale, place)
    },

    /** As it is in this transaction. */
    find: (inside: Statements, id: string): Promise<Pass | null> => store.find(id, inside),

    /** The work of a free sale has failed. The sale's state changes once, so the run comes back once. */
    async giveBack(inside: Statements, sale: Sale): Promise<void> {
      const right = rightOf(sale)
      const { subject: checkoutId, payer: holder, simulated, createdAt } = sale
      if (right?.kind === 'pass') await store.giveBack(inside, right.id ?? '')
      if (right?.kind === 'trial')
        await store.giveTrialBack(inside, { checkoutId, holder, simulated }, dayOf(createdAt))
    },

    /** The plan is paid: its buyer gets a pass, or more of the one that they have. */
    async grant(inside: Statements, sale: Sale, { plan, email }: { plan: Plan; email: string | null }): Promise<Pass> {
      const now = sale.endedAt ?? clock.now()
      const { subject: checkoutId, payer: holder, simulated, network } = sale
      const wallet = { checkoutId, holder, simulated, network }
      const before = isKnown(sale)
        ? await store.lockRunning(inside, { ...wallet, planId: plan.id, ...boundsOf(plan) }, now)
        : null
      const holding = granted(plan, before, now)
      const more = { ...holding, remindAt: remindAtOf(holding.until, now), email: simulated ? null : email }
      const pass =
        before === null
          ? newPass(sale, { plan, ...more, now, tokens })
          : await store.extend(inside, before.id, { ...more, planName: plan.name })
      if (pass === null) throw new Error('a pass was not found')
      if (before === null) await store.add(inside, pass)
      const days = plan.kind === 'period' ? plan.days : null
      await store.addSale(inside, { saleId: sale.id, passId: pass.id, runs: plan.runs, days })
      const data = { ...eventDataOf(pass, now), renewed: before !== null }
      await event(inside, { id: eventOf(sale.id, 'pass'), owner: pass.owner, event: 'pass.created', data })
      return pass
    },

    /** All of this sale's money went back, so what it paid for ends. */
    async refunded(inside: Statements, sale: Sale): Promise<void> {
      if (sale.state !== 'refunded') return
      const now = clock.now()
      const pass = await store.revoke(inside, sale.id, now)
      if (pass?.endReason === 'refunded') await tellEnded(inside, pass, event, now)
    },
  }
}

export type PassHooks = ReturnType<typeof createPassHooks>

/** `pass.ended`, once for each pass. */
export async function tellEnded(inside: Statements, pass: Pass, event: WriteEvent, now: Date): Promise<void> {
  const data = { ...eventDataOf(pass, now), reason: pass.endReason ?? 'time' }
  await event(inside, { id: eventOf(pass.id, 'ended'), owner: pass.owner, event: 'pass.ended', data })
}

/** Each event of a pass or its sale has an id of its own, the same at every attempt. */
export function eventOf(id: string, what: string): Id<'evt'> {
  return deriveId('evt', relatedId(id as Id<'pas'>, what))
}

/** Where nobody signed, buyers cannot be told apart. */
function isKnown({ payer }: Sale): boolean {
  return payer !== ZERO_ADDRESS
}

function newPass(
  { id: saleId, subject: checkoutId, userId, environment, payer: holder, simulated, network }: Sale,
  { plan, now, tokens, ...holding }: NewPass,
): Pass {
  if (userId === null) throw new Error('the sale of a plan has no owner')
  const id = deriveId('pas', saleId as Id<'pay'>)
  return {
    id,
    checkoutId,
    owner: { userId, environment },
    planId: plan.id,
    planName: plan.name,
    holder,
    simulated,
    network,
    tokenHash: hashOfToken(tokens.of(id)),
    ...holding,
    endedAt: null,
    endReason: null,
    createdAt: now,
  }
}

interface NewPass extends Pick<Pass, 'runs' | 'used' | 'until' | 'remindAt' | 'email'> {
  plan: Plan
  now: Date
  tokens: PassTokens
}

type PassPlace = Pick<Place, 'checkoutId' | 'testMode' | 'network'>
type Trials = Pick<Place, 'trialRuns' | 'trialsPerDay'>

export interface PassHookDeps {
  store: PassStore
  event: WriteEvent
  clock: Clock
  tokens: PassTokens
}

export interface PassDeps extends PassHookDeps {
  signatures: WalletSignatures
  announce: Announce
  mail: MailCustomer
  /** The page of a checkout. */
  pageOf(checkout: string): string
  /** The name that a checkout has now. Null where it sells nothing any more. */
  nameOf(checkout: string): Promise<string | null>
}
