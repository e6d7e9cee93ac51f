import { oneOfEach } from '../../service/cli/sealed.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import type { TestService } from '../harness/service.ts'

/** Where secrets are sealed in this service's database, each of which its list of sealed columns lets the key open. */
export async function sealedPlaces({ database }: Pick<TestService, 'database'>, key: string): Promise<string[]> {
  const found = await oneOfEach((text, values) => database.statements.run(text, values))
  const vault = vaultOf(parseKeyring(key))
  for (const { token, context, place } of found) {
    if (vault.open(token, context).reveal() === '') throw new Error(`the secret in ${place} is empty`)
  }
  return found.map(({ place }) => place)
}
