import { endpointTests } from './endpoints.ts'

await endpointTests(5, 6)
