import { register } from 'node:module'

// `node --import ./service/launch/typescript.mjs file.ts`: Node 20 cannot run TypeScript by itself.
register('./typescript-loader.mjs', import.meta.url)
