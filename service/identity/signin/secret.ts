import { randomBytes } from 'node:crypto'
import { loadOrMakeSecretFile } from '../../kit/secret-file.ts'

/** The sandbox's AUTH_SECRET, `<dataDir>/auth.secret`. */
export function loadOrMakeSecret(dataDir: string): Promise<string> {
  return loadOrMakeSecretFile(dataDir, {
    name: 'auth.secret',
    code: 'auth_secret_file',
    generate: () => randomBytes(32).toString('base64url'),
    fault: (text) =>
      text.length < 32 ? 'does not hold a secret. Remove it to get a new one; people sign in anew.' : null,
  })
}
