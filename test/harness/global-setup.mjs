// Jest compiles the tests, but not its own setup files.
import '../../service/launch/typescript.mjs'

export default async function setUp() {
  const { startTestServer, TEST_SERVER } = await import('./server.ts')
  const { server, stop } = await startTestServer(process.env.TEST_DATABASE_URL)
  process.env[TEST_SERVER] = JSON.stringify(server)
  globalThis.stopTestServer = stop
}
