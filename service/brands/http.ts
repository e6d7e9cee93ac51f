import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { plainLine } from '../kit/fields.ts'
import { THEMES } from './model.ts'
import type { Brands } from './service.ts'

/** How an account shows itself to its buyers. */
export function brandRoutes(brands: Brands): AnyRoute[] {
  const common = { tag: 'Brand', auth: 'person', path: '/brand' } as const
  return [
    route({
      ...common,
      method: 'get',
      summary: 'How your pages show who sells',
      answers: { 200: z.object({ brand: brandOut }) },
      handle: async ({ caller }) => reply(200, { brand: await brands.get(caller) }),
    }),
    route({
      ...common,
      method: 'patch',
      summary: 'Change how your pages show who sells; what is left out stays, null removes',
      body: brandBody,
      answers: { 200: z.object({ brand: brandOut }) },
      handle: async ({ caller, body }) => reply(200, { brand: await brands.change(caller, body) }),
    }),
  ]
}

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(500)
  .nullable()
  .optional()

export const brandBody = z.strictObject({
  name: plainLine(80).nullable().optional().meta({ description: 'The name of who sells' }),
  logo: z.string().max(40).nullable().optional().meta({ description: 'The id of a file with the purpose `picture`' }),
  accent: z
    .string()
    .regex(/^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'must be a colour such as #2b50e2')
    .transform((color) => (color.length === 4 ? color.replace(/[^#]/g, '$&$&') : color).toLowerCase())
    .nullable()
    .optional()
    .meta({ description: 'Any colour. Buttons have it; links have the nearest shade that can be read' }),
  theme: z.enum(THEMES).optional().meta({ description: "`auto`: as the buyer's device has it" }),
  supportEmail: z.email('must be an e-mail address').max(254).nullable().optional(),
  supportUrl: address,
  imprintUrl: address,
  termsUrl: address,
  privacyUrl: address,
})

const palette = z.object({ accent: z.string(), fill: z.string(), onFill: z.string(), fillDeep: z.string() })

const brandOut = z.object({
  name: z.string().nullable(),
  logo: z.string().nullable(),
  logoUrl: z.string().nullable(),
  accent: z.string().nullable(),
  accentNote: z.string().nullable().meta({ description: 'How the accent is adjusted so that texts can be read' }),
  colors: z.object({ light: palette, dark: palette }).nullable(),
  theme: z.enum(THEMES),
  supportEmail: z.string().nullable(),
  supportUrl: z.string().nullable(),
  imprintUrl: z.string().nullable(),
  termsUrl: z.string().nullable(),
  privacyUrl: z.string().nullable(),
})
