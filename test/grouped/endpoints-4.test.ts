import { endpointTests } from './endpoints.ts'

await endpointTests(4, 6)
