import { agentStory } from './stories/agent.ts'
import { credentialStory } from './stories/credential.ts'
import { editingStory } from './stories/editing.ts'
import { elsewhereStory } from './stories/elsewhere.ts'
import { examplesStory } from './stories/examples.ts'
import { listeningStory } from './stories/listening.ts'
import { modelsStory } from './stories/models.ts'
import { operationsStory } from './stories/operations.ts'
import { outcomesStory } from './stories/outcomes.ts'
import { publishingStory } from './stories/publishing.ts'
import { refusalsStory } from './stories/refusals.ts'
import { requestsStory } from './stories/requests.ts'
import { retriesStory } from './stories/retries.ts'
import { sellingStory } from './stories/selling.ts'
import { toolsStory } from './stories/tools.ts'
import { openWorld, type World } from './world.ts'

/** The stories of a seller of a workflow and of its buyer, in one generation of n8n. */
export function story(version: string): void {
  describe(`n8n ${version}`, () => {
    let opened: World
    beforeAll(async () => {
      opened = await openWorld(version)
    })
    afterAll(() => opened.close())

    const world = (): World => opened
    // First, while there is the one credential that a newcomer has: n8n chooses it for a new node.
    editingStory(world, version)
    credentialStory(world)
    listeningStory(world)
    sellingStory(world)
    outcomesStory(world)
    publishingStory(world)
    operationsStory(world)
    requestsStory(world)
    refusalsStory(world)
    retriesStory(world)
    agentStory(world)
    modelsStory(world)
    examplesStory(world)
    elsewhereStory(world)
    toolsStory(world)
  })
}
