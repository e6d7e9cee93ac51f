import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * From where a sign-up came. The built-in sign-in tells of a person in a hook of its library, which hands on neither
 * the request nor its sender; a caller's address only bounds free credits, and an account is made without it too.
 */
const addresses = new AsyncLocalStorage<string>()

export function fromAddress<T>(address: string, work: () => T): T {
  return addresses.run(address, work)
}

export function callerAddress(): string | null {
  return addresses.getStore() ?? null
}
