// Lets a plain `node --import` run the sources: strips the types, as the tests' own transform does.
import { register } from 'node:module'

register('./strip.mjs', import.meta.url)
