import { useClient } from './program.mjs'

// In a worker of a browser: the page sends the setup, and where it serves the client.
globalThis.onmessage = async ({ data: { client, ...setup } }) => {
  const result = useClient(await import(client), setup)
  globalThis.postMessage(await result.catch((error) => ({ failed: String(error.stack) })))
}
