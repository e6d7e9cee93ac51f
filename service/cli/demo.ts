import { startDemo } from '../demo/server.ts'

/** The demo creators' servers alone: for a sandbox whose processes run elsewhere. */
const demo = await startDemo(Number(process.argv[2] ?? 4021))
console.log(`The demo creators listen on http://127.0.0.1:${String(demo.port)}. Ctrl-C stops them.`)
