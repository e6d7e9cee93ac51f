import { accountOf, type Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import type { Owner } from '../kit/owner.ts'
import { NO_BRAND, type Brand, type BrandView } from './model.ts'
import { subjectOf, type BrandChange, type BrandStore, type FilePort } from './ports.ts'
import { colorsOf, noteOf } from './rules.ts'

/** How accounts show themselves to their buyers. */
export function createBrands({ store, files, clock }: { store: BrandStore; files: FilePort; clock: Clock }) {
  async function toView({ logo, ...brand }: Brand): Promise<BrandView> {
    const file = logo === null ? null : await files.find(logo)
    const shown =
      file?.width == null || file.height === null
        ? null
        : { url: files.addressOf(file.id), width: file.width, height: file.height }
    return { ...brand, logo: shown, colors: brand.accent === null ? null : colorsOf(brand.accent) }
  }

  async function toOwn(brand: Brand): Promise<OwnBrand> {
    const { logo, ...shown } = await toView(brand)
    return {
      ...shown,
      logo: brand.logo,
      logoUrl: logo?.url ?? null,
      accentNote: brand.accent === null ? null : noteOf(brand.accent),
    }
  }

  return {
    get: async (caller: Caller): Promise<OwnBrand> => await toOwn(await store.find(accountOf(caller))),

    /** What is left out stays. */
    async change(caller: Caller, change: BrandChange): Promise<OwnBrand> {
      const owner = accountOf(caller)
      if (change.logo != null) await files.named(owner, change.logo, { purpose: 'picture', field: 'logo' })
      const now = clock.now()
      const brand = await store.inTransaction(async (inside) => {
        const before = await store.lock(inside, owner, now)
        const kept = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
        const after: Brand = { ...before, ...kept }
        await files.use(inside, owner, subjectOf(owner), after.logo === null ? [] : [after.logo])
        await store.save(inside, owner, after, now)
        return after
      })
      return await toOwn(brand)
    },

    /** For buyers. Null where the account has set nothing. */
    async shown(owner: Owner): Promise<BrandView | null> {
      const brand = await store.find(owner)
      const isEmpty = (Object.keys(NO_BRAND) as (keyof Brand)[]).every((name) => brand[name] === NO_BRAND[name])
      return isEmpty ? null : await toView(brand)
    },
  }
}

export type Brands = ReturnType<typeof createBrands>

/** For the owner: with the id of the logo, and what was adjusted. */
export interface OwnBrand extends Omit<BrandView, 'logo'> {
  logo: string | null
  logoUrl: string | null
  accentNote: string | null
}
