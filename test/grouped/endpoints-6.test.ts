import { endpointTests } from './endpoints.ts'

await endpointTests(6, 6)
