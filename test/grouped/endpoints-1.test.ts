import { endpointTests } from './endpoints.ts'

await endpointTests(1, 6)
