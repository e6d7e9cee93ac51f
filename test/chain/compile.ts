import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'
import { PLACES } from './contracts/places.ts'

/**
 * Compiles the contracts into the TypeScript files beside their sources. Those files are committed, so that no compiler
 * is needed to run the service or its tests:
 *
 *     node --import ./service/launch/typescript.mjs test/chain/compile.ts
 *
 * test/chain/compiled.test.ts finds a source that was changed without it.
 */
export function compile(): Record<string, string> {
  const contracts = compiled(
    ['Usdc.sol', 'Checker.sol', 'Proxy.sol', 'Wallets.sol', 'Multicall.sol', 'Escrow.sol', 'Permit2.sol'].map(
      (name) => `test/chain/contracts/${name}`,
    ),
  )
  const runtime = (name: string): string => `0x${contracts[name]!.evm.deployedBytecode.object}`
  const lens = compiled(['service/chain/lens/Lens.sol'])
  return {
    'test/chain/contracts/compiled.ts': written(
      Object.fromEntries(
        [
          'Usdc',
          'Checker',
          'Proxy',
          'Multicall',
          'OwnedWallet',
          'DelegateWallet',
          'RefusingWallet',
          'BurningWallet',
          'EchoWallet',
          'VerboseWallet',
          'RevertingWallet',
          'WalletFactory',
          'HostileFactory',
          'AuthCaptureEscrow',
          'PaymentCollector',
          'RefundCollector',
          'Permit2',
          'UptoProxy',
        ].map((name) => [name, runtime(name)]),
      ),
    ),
    'service/chain/lens/compiled.ts': written({
      Lens: `0x${lens['Lens']!.evm.deployedBytecode.object}`,
      Once: `0x${lens['Once']!.evm.bytecode.object}`,
    }),
  }
}

function compiled(files: readonly string[]): Record<string, Compiled> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      files.map((file) => [path.basename(file), { content: readFileSync(path.join(ROOT, file), 'utf8') }]),
    ),
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      libraries: { 'Checker.sol': { Checker: PLACES.checker } },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[]
    contracts?: Record<string, Record<string, Compiled>>
  }
  const faults = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'))
  return Object.assign({}, ...Object.values(output.contracts ?? {})) as Record<string, Compiled>
}

interface Compiled {
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } }
}

function written(codes: Record<string, string>): string {
  const lines = Object.entries(codes).map(([name, code]) => `export const ${constant(name)} =\n  '${code}'\n`)
  return `/** Written by test/chain/compile.ts from the Solidity beside it. */\n\n${lines.join('\n')}`
}

/** OwnedWallet → OWNED_WALLET */
function constant(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(compile())) writeFileSync(path.join(ROOT, file), text)
}
