import { register } from 'node:module'

// `node --import` with this file: the one patch that CHAOS_PATCH holds is made as the built file is loaded.
register('./loader.mjs', import.meta.url, { data: JSON.parse(process.env.CHAOS_PATCH ?? 'null') })
