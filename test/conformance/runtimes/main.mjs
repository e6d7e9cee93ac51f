import * as client from 'coinslot'
import { useClient } from './program.mjs'

// In Node, Deno and Bun: the setup is the first word of the command line.
console.log(JSON.stringify(await useClient(client, JSON.parse(process.argv[2]))))
