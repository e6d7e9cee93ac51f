import { z } from 'zod'
import { reply, route, type AnyRoute, type Reply } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page } from '../../kit/wire.ts'
import type { Caller } from '../../kit/caller.ts'
import { MODEL_TIERS, type Asset } from '../model/asset.ts'
import type { Assets } from '../service/assets/assets.ts'
import type { View } from '../service/assets/read.ts'
import {
  createBody,
  createExample,
  editBody,
  listFilters,
  rateBody,
  reducedOut,
  sourceBody,
  wholeOut,
} from './asset-bodies.ts'
import { reviewRoutes } from './reviews.ts'
import { toDraft, toEdit, toReduced, toRating, toWhole } from './asset-shapes.ts'

export function assetRoutes(assets: Assets): AnyRoute[] {
  return [...readRoutes(assets), ...writeRoutes(assets), ...tradeRoutes(assets), ...reviewRoutes(assets)]
}

const identifier = z.object({ identifier: z.string().meta({ description: 'Its slug or id' }) })
const whole = z.object({ rda: wholeOut })
const MISSING = 'There is no such RDA, or you may not see it.'
const NOT_YOURS = 'You have no such RDA in this environment.'

function readRoutes(assets: Assets): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/rdas',
      summary: 'List RDAs, most popular first',
      tag: 'Marketplace',
      auth: 'optional',
      query: z.object({ ...listFilters, ...page.shape }),
      answers: { 200: z.object({ rdas: z.array(reducedOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      errors: { 401: 'Any status other than published lists only your own RDAs.' },
      async handle({ caller, query }) {
        const { type = null, ownerId = null, search, ...rest } = query
        const { assets: found, total } = await assets.list({ ...rest, type, ownerId, search: search ?? null }, caller)
        return reply(200, { rdas: found.map(toReduced), total, limit: query.limit, offset: query.offset })
      },
    }),
    route({
      method: 'get',
      path: '/rda/:identifier',
      summary: 'Get an RDA; only its owner and who bought its template can get a draft',
      tag: 'Marketplace',
      auth: 'optional',
      params: identifier,
      answers: { 200: whole },
      errors: { 401: 'It is a draft: authenticate as its owner.', 404: MISSING },
      async handle({ caller, params, address }) {
        return answer(200, await assets.get(params.identifier, caller, address), assets, caller)
      },
    }),
    route({
      method: 'get',
      path: '/models',
      summary: 'List the models that prompts run on, with prices per million tokens',
      tag: 'Marketplace',
      auth: 'optional',
      answers: { 200: z.object({ models: z.array(modelOut) }) },
      async handle({ caller }) {
        const models = assets.models(caller).map(({ id, name, tier, inputPrice, outputPrice }) => {
          const pricing = { input: toWire(inputPrice), output: toWire(outputPrice), currency: 'USDC', per: 1_000_000 }
          return { id, name, tier, pricing }
        })
        return reply(200, { models })
      },
    }),
  ]
}

const modelOut = z.object({
  id: z.string(),
  name: z.string(),
  tier: z.enum(MODEL_TIERS),
  pricing: z.object({ input: amountOut, output: amountOut, currency: z.literal('USDC'), per: z.int() }),
})

function writeRoutes(assets: Assets): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/rda',
      summary: 'Create an RDA, as a draft',
      tag: 'Marketplace',
      auth: 'person',
      idempotent: true,
      body: createBody,
      example: createExample,
      answers: {
        201: z.object({
          created: z.boolean(),
          rda: z.object({ id: z.string(), slug: z.string(), type: z.string(), status: z.string() }),
        }),
      },
      async handle({ caller, body, operation }) {
        const { id, slug, type, status } = await assets.create(caller, toDraft(body), operation)
        return reply(201, { created: true, rda: { id, slug, type, status } })
      },
    }),
    route({
      method: 'patch',
      path: '/rda/:identifier',
      summary: 'Edit an RDA, which creates a new version; runs in progress keep theirs',
      tag: 'Marketplace',
      auth: 'person',
      params: identifier,
      body: editBody,
      answers: { 200: whole },
      errors: { 404: NOT_YOURS, 409: 'It has been edited since.' },
      async handle({ caller, params, body }) {
        const edited = await assets.edit(caller, params.identifier, toEdit(body), body.version ?? null)
        return changed(edited, assets, caller)
      },
    }),
    ...ACTIONS.map(({ action, summary }) =>
      route({
        method: 'post',
        path: `/rda/:identifier/${action}`,
        summary,
        tag: 'Marketplace',
        auth: 'person',
        idempotent: true,
        params: identifier,
        answers: { 200: whole },
        errors: { 404: NOT_YOURS, 409: 'Its status does not allow that.' },
        async handle({ caller, params }) {
          return changed(await assets[action](caller, params.identifier), assets, caller)
        },
      }),
    ),
  ]
}

const ACTIONS = [
  { action: 'publish', summary: 'Publish an RDA, so that everyone can find and run it' },
  { action: 'unpublish', summary: 'Take an RDA back to a draft' },
  { action: 'archive', summary: 'Archive an RDA: it is no longer listed, and only accounts that ran it can run it' },
] as const

function tradeRoutes(assets: Assets): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/rda/:identifier/rate',
      summary: 'Rate an RDA that you ran, once, and review it if you paid',
      tag: 'Marketplace',
      auth: 'person',
      idempotent: true,
      params: identifier,
      body: rateBody,
      answers: {
        200: z.object({
          rated: z.boolean(),
          score: z.int(),
          stats: z.object({ averageRating: z.number(), totalRatings: z.int() }),
        }),
      },
      errors: {
        403: 'You did not run it successfully, or it is your own. Or you send a text and have not paid for a run.',
        404: MISSING,
        409: 'You have already rated it.',
        429: 'You have written as many reviews as an account may in a day.',
      },
      async handle({ caller, params, body, operation }) {
        const { stats } = await assets.rate(caller, params.identifier, toRating(body), operation)
        const { averageRating, totalRatings } = stats
        return reply(200, { rated: true, score: body.score, stats: { averageRating, totalRatings } })
      },
    }),
    route({
      method: 'post',
      path: '/rda/:identifier/source',
      summary: "Buy a prompt's template; you pay its price once",
      tag: 'Marketplace',
      auth: 'person',
      idempotent: true,
      params: identifier,
      body: sourceBody,
      answers: {
        200: z.object({
          source: z.object({
            rdaId: z.string(),
            version: z.string(),
            promptTemplate: z.string(),
            systemPrompt: z.string().nullable(),
          }),
          cost: amountOut,
        }),
      },
      errors: {
        402: 'The balance is too low.',
        403: 'The template is not for sale, or it is more than may leave the account in 24 hours.',
        404: MISSING,
        503: 'Payouts are paused on this server.',
      },
      async handle({ caller, params, body }) {
        const { cost, ...source } = await assets.buySource(caller, params.identifier, body?.maxCost ?? null)
        return reply(200, { source, cost: toWire(cost) })
      },
    }),
  ]
}

async function changed(asset: Asset, assets: Assets, caller: Caller): Promise<Reply> {
  return answer(200, await assets.viewOf(asset, caller), assets, caller)
}

function answer(status: number, view: View, assets: Assets, caller: Caller | null): Reply {
  return reply(status, { rda: toWhole(view, assets.models(caller)) })
}
