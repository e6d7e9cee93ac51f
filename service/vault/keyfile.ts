import { randomBytes } from 'node:crypto'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'
import { parseKeyring } from './keyring.ts'

/** The sandbox's own key, `<dataDir>/vault.key`, in the form that `parseKeyring` reads. */
export function loadOrMakeKey(dataDir: string): Promise<string> {
  return loadOrMakeSecretFile(dataDir, {
    name: 'vault.key',
    code: 'vault_key_file',
    // A new id each time: a token of a lost key then says that its key is missing, not that it is damaged.
    generate: () => `sandbox-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`,
    fault(text) {
      try {
        parseKeyring(text)
        return null
      } catch {
        return 'does not hold a vault key: an id, a colon and the base64 of 32 random bytes.'
      }
    },
  })
}
