import type { Backend, BackendAddress, BackendDeps } from '../backend.ts'
import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'

/** Redis may be away here: its connections come up, and come back, by themselves. */
export async function openBackend(address: BackendAddress, deps: BackendDeps): Promise<Backend> {
  return address.kind === 'redis' ? openRedis(address.url, deps) : openPostgres(address.connectionString, deps)
}
