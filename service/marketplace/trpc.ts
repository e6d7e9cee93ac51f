import { z } from 'zod'
import {
  actKey,
  asked,
  firstOf,
  keyed,
  named,
  newOperation,
  paging,
  person,
  placeOf,
  router,
  someDays,
  visitor,
} from '../api/trpc.ts'
import type { Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { toWire } from '../kit/money.ts'
import { amount } from '../kit/wire.ts'
import { createBody, createExample, editBody, rateBody, replyBody } from './http/asset-bodies.ts'
import { toDraft, toEdit, toRating, toReduced, toReview, toWhole } from './http/asset-shapes.ts'
import { runBody, runId, toCustomerRun, toDetail, toRunInput, toSummary } from './http/runs.ts'
import { ASSET_STATUSES, ASSET_TYPES, PRICING_MODELS, type Model } from './model/asset.ts'
import { RUN_STATES } from './model/run.ts'
import { exampleInputs } from './rules/asset-state.ts'
import type { Assets } from './service/assets/assets.ts'
import type { View } from './service/assets/read.ts'
import type { Runs } from './service/runs/runs.ts'

/** What the dashboard shows and does with assets, and with their runs. */
export function marketplaceRouters(assets: Assets, runs: Runs, clock: Clock) {
  return { assets: assetsRouter(assets, clock), market: marketRouter(assets), runs: runsRouter(runs, clock) }
}

function assetsRouter(assets: Assets, clock: Clock) {
  const whole = (view: View, caller: Caller) => toShown(view, assets.models(caller))
  const acting = (act: 'publish' | 'unpublish' | 'archive') =>
    person.input(asked(named)).mutation(async ({ ctx: { caller }, input }) => {
      return whole(await assets.viewOf(await assets[act](caller, input.id), caller), caller)
    })
  return router({
    list: person.input(asked(listInput)).query(async ({ ctx, input: { mine, type, search, ...rest } }) => {
      const ownerId = mine ? ctx.caller.subject : null
      const listing = { ...rest, type: type ?? null, ownerId, search: search ?? null }
      const { assets: found, total } = await assets.list(listing, ctx.caller)
      return { assets: found.map(toReduced), total }
    }),
    /** Those whose template the caller has bought, also where they are not published any more. */
    bought: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { assets: found, total } = await assets.bought(ctx.caller, input)
      return { assets: found.map(toReduced), total }
    }),
    // The caller is signed in: reads of drafts are counted by address for strangers only.
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => whole(await assets.get(input.id, ctx.caller, 'dashboard'), ctx.caller)),
    create: keyed.input(asked(createBody.extend(actKey), createExample)).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation) => {
        const { id, slug, type, status } = await assets.create(ctx.caller, toDraft(input), operation)
        return { id, slug, type, status }
      }),
    ),
    change: person.input(asked(z.object({ id: named.shape.id, body: editBody }))).mutation(async ({ ctx, input }) => {
      const { caller } = ctx
      const edited = await assets.edit(caller, input.id, toEdit(input.body), input.body.version ?? null)
      return whole(await assets.viewOf(edited, caller), caller)
    }),
    publish: acting('publish'),
    unpublish: acting('unpublish'),
    archive: acting('archive'),
    rate: person.input(asked(rateBody.extend(named.shape))).mutation(async ({ ctx, input }) => {
      const { stats } = await assets.rate(ctx.caller, input.id, toRating(input), newOperation(clock))
      return { averageRating: stats.averageRating, totalRatings: stats.totalRatings }
    }),
    reviews: person.input(asked(reviewPage)).query(async ({ ctx, input: { id, limit, before = null } }) => {
      const { reviews, next } = await assets.reviews(id, ctx.caller, { limit, before })
      return { reviews: reviews.map(toReview), next }
    }),
    reply: person.input(asked(replyBody.extend(named.shape))).mutation(async ({ ctx, input: { id, ...answer } }) => {
      await assets.reply(ctx.caller, id, answer)
      return { replied: true }
    }),
    buySource: person
      .input(asked(named.extend({ maxCost: runBody.shape.maxCost })))
      .mutation(async ({ ctx, input }) => {
        const { cost, ...source } = await assets.buySource(ctx.caller, input.id, input.maxCost ?? null)
        return { source, cost: toWire(cost) }
      }),
    models: person.query(({ ctx }) =>
      assets.models(ctx.caller).map(({ id, name, tier, inputPrice, outputPrice }) => ({
        id,
        name,
        tier,
        inputPrice: toWire(inputPrice),
        outputPrice: toWire(outputPrice),
      })),
    ),
  })
}

/** The marketplace for visitors: production on a live server, else the sandbox. */
function marketRouter(assets: Assets) {
  return router({
    list: visitor.input(asked(offerFilter)).query(async ({ input: { type, search, ...rest } }) => {
      const listing = {
        ...rest,
        type: type ?? null,
        status: 'published',
        ownerId: null,
        search: search ?? null,
      } as const
      const { assets: found, total } = await assets.list(listing, null)
      return { assets: found.map(toReduced), total }
    }),
    get: visitor
      .input(asked(named))
      .query(async ({ input }) => toShown(await assets.offer(input.id), assets.models(null))),
    reviews: visitor.input(asked(reviewPage)).query(async ({ input: { id, limit, before = null } }) => {
      const { reviews, next } = await assets.reviews(id, null, { limit, before })
      return { reviews: reviews.map(toReview), next }
    }),
  })
}

/** Also inputs with which it can be run, for the lines to copy. */
function toShown(view: View, models: readonly Model[]) {
  return { ...toWhole(view, models), exampleInputs: exampleInputs(view.asset.content) }
}

function runsRouter(runs: Runs, clock: Clock) {
  return router({
    list: person.input(asked(runFilter)).query(async ({ ctx, input: { status = null, rda = null, ...rest } }) => {
      const found = await runs.list(ctx.caller, { state: status, rda, ...rest })
      return { runs: found.runs.map(toSummary), total: found.total }
    }),
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toDetail(await runs.get(ctx.caller, runId(input.id)))),
    /** What customers ran of one's own asset. */
    ofCustomers: person
      .input(asked(runFilter.omit({ rda: true }).extend(named.shape)))
      .query(async ({ ctx, input: { id, status = null, ...rest } }) => {
        const found = await runs.ofCustomers(ctx.caller, id, { state: status, ...rest })
        return { runs: found.runs.map(toCustomerRun), total: found.total }
      }),
    /** How many paid for one's own asset, and how many of them again. */
    buyersOf: person.input(asked(named)).query(({ ctx, input }) => runs.buyersOf(ctx.caller, input.id)),
    days: person.input(asked(someDays)).query(async ({ ctx, input }) => {
      const days = await runs.days(ctx.caller, firstOf(input, clock))
      return days.map(({ day, state, runs: count, cost }) => ({ day, status: state, count, cost: toWire(cost) }))
    }),
    /** Runs in the background: the page follows its events. */
    start: keyed
      .input(
        asked(
          runBody
            .pick({ rdaSlug: true, inputs: true, modelId: true, maxCost: true, sharesInputs: true })
            .extend({ pricing: statedPricing.optional(), ...actKey }),
        ),
      )
      .mutation(({ ctx, input }) =>
        ctx.once(input, async (operation, keyHash) => {
          const { pricing } = input
          const wanted = { ...toRunInput(input), ...(pricing === undefined ? {} : { statedPricing: pricing }) }
          const { id, state } = await runs.queue(ctx.caller, wanted, { operation, keyed: keyHash !== null })
          return { id, status: state }
        }),
      ),
    cancel: person
      .input(asked(named))
      .mutation(async ({ ctx, input }) => toDetail(await runs.cancel(ctx.caller, runId(input.id)))),
  })
}

const statedPricing = z.strictObject({ model: z.enum(PRICING_MODELS), amount })

const listInput = paging.extend({
  mine: z.boolean().default(false),
  type: z.enum(ASSET_TYPES).optional(),
  status: z.enum(ASSET_STATUSES).default('published'),
  verified: z.boolean().default(false),
  featured: z.boolean().default(false),
  trending: z.boolean().default(false),
  search: z.string().max(200).optional(),
})

const reviewPage = named.extend({
  limit: z.int().min(1).max(100).default(20),
  before: placeOf('op'),
})

const offerFilter = listInput.omit({ mine: true, status: true })

const runFilter = paging.extend({ status: z.enum(RUN_STATES).optional(), rda: z.string().max(200).optional() })
