import { runGroup } from './group.ts'

await runGroup(7)
