import { endpointTests } from './endpoints.ts'

await endpointTests(2, 6)
