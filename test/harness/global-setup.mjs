// Jest compiles the tests, but not its own setup files.
import '../../service/launch/typescript.mjs'
import { prepareTests } from '../../service/launch/prepare.mjs'
import { chosenTests } from './sequencer.mjs'

export default async function setUp() {
  const [started, built] = await Promise.allSettled([startServer(), prepareTests(chosenTests())])
  if (started.status === 'fulfilled') globalThis.stopTestServer = started.value
  for (const { status, reason } of [started, built]) {
    if (status === 'fulfilled') continue
    // Jest calls no teardown after a setup that failed.
    await globalThis.stopTestServer?.()
    throw reason
  }
}

async function startServer() {
  const { startTestServer, TEST_SERVER } = await import('./server.ts')
  const { server, stop } = await startTestServer(process.env.TEST_DATABASE_URL)
  process.env[TEST_SERVER] = JSON.stringify(server)
  return stop
}
