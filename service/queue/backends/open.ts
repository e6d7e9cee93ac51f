import type { Backend, BackendAddress, BackendParts } from '../backend.ts'
import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'

/** Redis may be away here: its connections come up, and come back, by themselves. */
export async function openBackend(address: BackendAddress, parts: BackendParts): Promise<Backend> {
  return address.kind === 'redis' ? openRedis(address.url, parts) : openPostgres(address.connectionString, parts)
}
