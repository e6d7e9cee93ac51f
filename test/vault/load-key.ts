import { loadOrMakeKey } from '../../service/vault/keyring.ts'

/** A process that is ready to make a key and waits for its input to end, so that several can start as one. */
process.stdout.write('ready\n')
process.stdin.resume().once('end', () => {
  void loadOrMakeKey(process.argv[2] ?? '').then((key) => process.stdout.write(key))
})
