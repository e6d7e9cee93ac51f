import { endpointTests } from './endpoints.ts'

await endpointTests(3, 6)
